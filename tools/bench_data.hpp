// SPDX-License-Identifier: BSD-3-Clause
// What is gathered, and whether it arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace convene::bench {

/// The buffers of one rank for blocks of equal size. All contenders use the same, so that none has warmer caches.
class Data {
 public:
  Data(int procs, int rank, std::size_t bytes)
      : procs_(procs),
        rank_(rank),
        bytes_(bytes),
        input_(bytes + 1),  // an empty vector may have no address
        output_(bytes * static_cast<std::size_t>(procs) + 1) {
    for (int r = 0; r < procs; ++r) {
      counts_.push_back(static_cast<int>(bytes));
      displacements_.push_back(static_cast<int>(bytes) * r);
    }
    for (std::size_t i = 0; i < bytes; ++i) input_[i] = expected(rank, i);
  }

  void* input() { return input_.data(); }
  void* output() { return output_.data(); }
  int count() const { return static_cast<int>(bytes_); }
  const int* counts() const { return counts_.data(); }
  const int* displacements() const { return displacements_.data(); }

  /// Makes the output wrong everywhere.
  void spoil() {
    for (int r = 0; r < procs_; ++r)
      for (std::size_t i = 0; i < bytes_; ++i)
        output_[static_cast<std::size_t>(r) * bytes_ + i] = static_cast<std::uint8_t>(~expected(r, i));
  }

  bool is_right() const {
    for (int r = 0; r < procs_; ++r)
      for (std::size_t i = 0; i < bytes_; ++i)
        if (output_[static_cast<std::size_t>(r) * bytes_ + i] != expected(r, i)) return false;
    return true;
  }

 private:
  static std::uint8_t expected(int rank, std::size_t i) {
    return static_cast<std::uint8_t>(static_cast<std::size_t>(rank) * 37 + i * 11 + (i >> 8) + 1);
  }

  int procs_, rank_;
  std::size_t bytes_;
  std::vector<std::uint8_t> input_, output_;
  std::vector<int> counts_, displacements_;
};

}  // namespace convene::bench
