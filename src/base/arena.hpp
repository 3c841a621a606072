// SPDX-License-Identifier: BSD-3-Clause
// Memory for one run at a time: handed out front to back, taken back all at once, and kept for the next run.
// After the first runs nothing is allocated any more.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "base/layers.hpp"

namespace convene::base {

class Arena {
 public:
  /// Memory for the contents of a message, as much as is asked for. It stays valid, and may be the same every
  /// time.
  using Staging = std::byte* (*)(std::size_t bytes);

  /// With `staging`, contents of messages go there, whatever becomes of them: for simulations that look at no
  /// content.
  explicit Arena(Staging staging = nullptr) : staging_(staging) {}

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

  /// Takes everything back. Where the last run needed several chunks, the next one gets a single one of their
  /// size.
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
  static constexpr std::size_t alignment = 64, least_chunk = 1024;

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
    room_ = bytes > least_chunk ? bytes : least_chunk;
    chunks_.emplace_back(static_cast<std::byte*>(::operator new[](room_, std::align_val_t{alignment})));
    last_ = chunks_.back().get();
    total_ += room_;
    used_ = 0;
  }

  Staging staging_;
  std::vector<std::unique_ptr<std::byte[], Free>> chunks_;
  std::byte* last_ = nullptr;                    // the last of them
  std::size_t used_ = 0, room_ = 0, total_ = 0;  // used and room of that; bytes of all
};

}  // namespace convene::base
