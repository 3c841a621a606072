// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: algorithms with parameters and parts, as in CONVENE_USE.
#include "collective/core/spec.hpp"
#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size,
                                   [](std::string_view text) { convene::collective::parse_uses(text); });
}
