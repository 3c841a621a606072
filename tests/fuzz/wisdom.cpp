// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: wisdom, as JSON, and as the lines that ranks send each other.
#include "decide/wisdom.hpp"

#include "fuzz/reader.hpp"

namespace {

/// Wisdom that was read has the same lines when they are read back.
void read_both(std::string_view text) {
  using convene::decide::Wisdom;
  const std::string lines = Wisdom(convene::decide::parse_wisdom(text, "wisdom.json")).lines();
  if (Wisdom::from_lines(lines).lines() != lines) convene::fuzz::refuse("lines are read as others", lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size, read_both);
}
