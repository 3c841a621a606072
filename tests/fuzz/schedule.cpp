// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: schedules from files, read and checked.
#include "experiment/given_plan.hpp"
#include "fuzz/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(data, size, [](std::string_view text) {
    const convene::experiment::GivenPlan given(text, "schedule.json");
  });
}
