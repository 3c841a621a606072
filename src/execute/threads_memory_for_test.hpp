// SPDX-License-Identifier: BSD-3-Clause
// For tests only: memory shared by ranks that are threads of one process.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "execute/executor.hpp"
#include "transport/shared_memory.hpp"

namespace convene::execute {

/// Memory that is all zero, for SharedMemory.
inline std::shared_ptr<std::byte> zeroed_memory(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  std::fill_n(memory, bytes, std::byte{0});
  return {memory, [](std::byte* at) { std::free(at); }};
}

class ThreadsMemory {
 public:
  /// For `places` places of `place_bytes` bytes each.
  ThreadsMemory(Rank procs, std::uint32_t places, std::size_t place_bytes)
      : memory_(zeroed_memory(SharedMemory::bytes(procs, places * place_bytes))),
        ranks_(procs),
        data_(places * place_bytes),
        place_bytes_(place_bytes) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  /// A rank's view of it.
  class Share {
   public:
    Share(const ThreadsMemory& all, Rank rank)
        : memory_(all.memory_, all.ranks_, rank, all.data_),
          place_bytes_(all.place_bytes_),
          bytes_(all.data_) {}
    SharedMemory& memory() { return memory_; }
    /// Call it before each run.
    void begin(Binding& binding, bool signals_carry = false) {
      binding.shared_memory = &memory_;
      binding.shared_bytes = bytes_;
      binding.signals_carry = signals_carry;
      binding.buffers.shared = Memory::uniform(nullptr, place_bytes_);
      binding.begin_shared();
    }

   private:
    SharedMemory memory_;
    std::size_t place_bytes_, bytes_;
  };

 private:
  std::shared_ptr<std::byte> memory_;
  std::vector<Rank> ranks_;
  std::size_t data_, place_bytes_;
};

}  // namespace convene::execute
