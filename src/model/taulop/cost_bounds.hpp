// SPDX-License-Identifier: BSD-3-Clause
// Bounds between simplified cost expressions, without numbers, from τ-Lop's assumptions on its parameters.
#pragma once

#include <vector>

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

/// Assumptions about every machine (section 3.3 of the thesis, and its appendix):
///   L(m, τ) ≤ L(m, τ′) ≤ ⌈τ′/τ⌉ · L(m, τ) for τ ≤ τ′; c(m, τ) and γ(m, τ) as well
///   L(A·m, τ) = A · L(m, τ)
///   o(m) ≤ o(m′) for m ≤ m′
///   no parameter is negative, and k ≥ 1
struct CostBounds {
  bool farther_is_slower = false;  ///< also L^c(m, τ) ≤ L^c′(m, τ′) for c ≤ c′, τ ≤ τ′ ((A.26))
};

/// is_at_most() (cost_comparison.hpp) of simplified expressions.
bool is_at_most_simplified(const Expression& a, const Expression& b, const CostBounds& bounds = {});

/// The arguments of a maximum without those that another one bounds from above. simplified[i] is
/// simplify(terms[i]).
std::vector<Expression> without_bounded(std::vector<Expression> terms, std::vector<Expression> simplified);

}  // namespace convene::model
