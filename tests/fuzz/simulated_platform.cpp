// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: platform files of `convene simulate`.
#include "simulate/platform/simulated_platform.hpp"

#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size, [](std::string_view text) {
    convene::simulate::parse_simulated_platform(text, "platform.json");
  });
}
