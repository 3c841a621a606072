// SPDX-License-Identifier: BSD-3-Clause
// Cost expressions as text.
#pragma once

#include <string>

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

struct TextOptions {
  bool latex = false;
  bool channels = true;  ///< superscripts; false if there is only one channel
};
/// In the notation of the thesis: "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)".
std::string to_text(const Expression& expression, const TextOptions& options = {});

}  // namespace convene::model
