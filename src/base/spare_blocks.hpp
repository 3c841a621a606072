// SPDX-License-Identifier: BSD-3-Clause
// Spare blocks: memory blocks of one size that are allocated and freed often, by any thread.
//
// Each slot holds a free block, or null. A thread takes a block by exchanging a slot's pointer with null, and
// returns it by exchanging null with the pointer. A slot is all that threads share, so there is no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

#include "base/layers.hpp"

namespace convene::base {

/// Keeps up to `slots` free blocks of `size` bytes. An object must have static storage: it frees nothing at
/// its end.
template <std::size_t size, std::size_t slots>
class SpareBlocks {
 public:
  static constexpr std::size_t bytes = size;

  /// A block, aligned to 64. Throws bad_alloc.
  void* take() {
    for (std::atomic<void*>& slot : slots_)
      if (slot.load(std::memory_order_relaxed))
        if (void* const block = slot.exchange(nullptr, std::memory_order_acquire)) return block;
    return ::operator new(size, alignment);
  }

  /// Returns a block of take().
  void give(void* block) noexcept {
    for (std::atomic<void*>& slot : slots_) {
      void* empty = nullptr;
      if (!slot.load(std::memory_order_relaxed) &&
          slot.compare_exchange_strong(empty, block, std::memory_order_release, std::memory_order_relaxed))
        return;
    }
    ::operator delete(block, alignment);
  }

 private:
  static constexpr std::align_val_t alignment{64};

  std::array<std::atomic<void*>, slots> slots_{};
};

}  // namespace convene::base
