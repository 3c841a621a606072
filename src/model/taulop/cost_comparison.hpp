// SPDX-License-Identifier: BSD-3-Clause
// Comparison of cost expressions on every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/taulop/cost_bounds.hpp"
#include "model/taulop/cost_expression.hpp"

namespace convene::model {

enum class Comparison : std::uint8_t { equal, at_most, at_least, undecided };
std::string_view symbol(Comparison comparison);  ///< =, ≤, ≥, ?

/// Transmissions must have been expanded. `undecided` if machines differ, or if there are more than some
/// hundreds of combinations of maxima.
Comparison compare(const Expression& a, const Expression& b, const CostBounds& bounds = {});

/// a ≤ b on every machine within the bounds. True is always correct; with maxima on the right side false may
/// be wrong.
bool is_at_most(const Expression& a, const Expression& b, const CostBounds& bounds = {});

/// The maximum of the terms, without those that another one bounds from above.
Expression max_of_unbounded(std::vector<Expression> terms);

}  // namespace convene::model
