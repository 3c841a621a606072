// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: traces of arrivals.
#include "arrival/trace.hpp"
#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size,
                                   [](std::string_view text) { convene::arrival::Trace::parse(text); });
}
