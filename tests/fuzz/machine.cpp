// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: machines in words, as in CONVENE_MACHINE.
#include "fuzz/reader.hpp"
#include "topology/mapping.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size,
                                   [](std::string_view text) { convene::topology::Machine::parse(text); });
}
