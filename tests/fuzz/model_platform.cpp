// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: platform files of `convene measure` and `predict`.
#include "fuzz/reader.hpp"
#include "model/prediction/platform_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return convene::fuzz::try_reader(
      data, size, [](std::string_view text) { convene::model::parse_model_platform(text, "platform.json"); });
}
