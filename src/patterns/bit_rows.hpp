// SPDX-License-Identifier: BSD-3-Clause
// Bit matrix: rows of bits that are searched by words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// Rows of bits, in words of 64.
class BitRows {
 public:
  using Word = std::uint64_t;

  BitRows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}

  Word* row(std::size_t row) { return bits_.data() + row * words_; }
  const Word* row(std::size_t row) const { return bits_.data() + row * words_; }
  std::size_t words() const { return words_; }
  void set(std::size_t row, std::size_t column) { this->row(row)[column / 64] |= Word{1} << column % 64; }
  void set_run(std::size_t row, std::size_t begin, std::size_t end) {
    Word* const bits = this->row(row);
    for (std::size_t word = begin / 64; word * 64 < end; ++word) {
      Word run = ~Word{0};
      if (word == begin / 64) run &= ~Word{0} << begin % 64;
      if (end < (word + 1) * 64) run &= (Word{1} << end % 64) - 1;
      bits[word] |= run;
    }
  }
  void clear(std::size_t row, std::size_t column) {
    this->row(row)[column / 64] &= ~(Word{1} << column % 64);
  }
  bool contains(std::size_t row, std::size_t column) const {
    return (this->row(row)[column / 64] >> column % 64 & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<Word> bits_;
};

}  // namespace convene::patterns
