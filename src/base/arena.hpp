// SPDX-License-Identifier: BSD-3-Clause
// Arena allocator for one run at a time: memory is handed out front to back, released all at once, and reused
// by the next run. After the first runs it allocates nothing more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::base {

class Arena {
 public:
  /// Allocator of memory for the contents of a message, of any size. The memory stays valid; every call may
  /// return the same memory.
  using Staging = std::byte* (*)(std::size_t bytes);

  /// With `staging`, the contents of messages are written there and never read: for simulations that ignore
  /// contents.
  explicit Arena(Staging staging = nullptr) : staging_(staging) {}
  /// Hands out `first` first, which is aligned to 64 and outlives the arena.
  explicit Arena(std::span<std::byte> first)
      : last_(first.data()), room_(first.size()), total_(first.size()) {}

  bool stages_elsewhere() const { return staging_ != nullptr; }
  /// Memory for the contents of a message, valid until the next reset.
  std::byte* take_staging(std::size_t bytes) { return staging_ ? staging_(bytes) : take(bytes); }

  /// Memory for `bytes` bytes, aligned to 64, valid until the next reset. Never null.
  std::byte* take(std::size_t bytes) {
    bytes = ((bytes == 0 ? 1 : bytes) + alignment - 1) & ~(alignment - 1);
    if (used_ + bytes > room_) grow(bytes);
    std::byte* memory = last_ + used_;
    used_ += bytes;
    return memory;
  }

  template <class T>
  T* take_array(std::size_t count) {
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }

  /// Releases all memory. If the last run needed several chunks, the next one gets a single chunk of their
  /// total size.
  void reset() {
    if (total_ != room_) [[unlikely]]
      join();
    used_ = 0;
  }

  /// Bytes taken since the last reset.
  std::size_t taken() const { return total_ - room_ + used_; }

  /// Bytes held.
  std::size_t memory() const { return total_; }

 private:
  static constexpr std::size_t alignment = 64, least_chunk = 256;

  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{alignment}); }
  };

  [[gnu::noinline]] void join() {
    const std::size_t total = total_;
    chunks_.clear();
    room_ = total_ = 0;
    grow(total);
  }

  [[gnu::noinline]] void grow(std::size_t bytes) {
    room_ = std::max({bytes, total_, least_chunk});
    chunks_.emplace_back(static_cast<std::byte*>(::operator new[](room_, std::align_val_t{alignment})));
    last_ = chunks_.back().get();
    total_ += room_;
    used_ = 0;
  }

  Staging staging_ = nullptr;
  std::vector<std::unique_ptr<std::byte[], Free>> chunks_;
  std::byte* last_ = nullptr;                    // the last chunk
  std::size_t used_ = 0, room_ = 0, total_ = 0;  // used and available bytes of the last chunk; bytes of all
                                                 // chunks
};

}  // namespace convene::base
