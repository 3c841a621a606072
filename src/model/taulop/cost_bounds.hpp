// SPDX-License-Identifier: BSD-3-Clause
// Which of two cost expressions is the larger, without numbers: by the bounds that τ-Lop puts on its parameters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

/// What is taken for granted about every machine (section 3.3 of the thesis, and its appendix):
///   L(m, τ) ≤ L(m, τ′) ≤ ⌈τ′/τ⌉ · L(m, τ) for τ ≤ τ′; c(m, τ) and γ(m, τ) likewise
///   L(A·m, τ) = A · L(m, τ)
///   o(m) ≤ o(m′) for m ≤ m′
///   nothing is negative, and k ≥ 1
struct Bounds {
  bool farther_is_slower = false;  ///< also L^c(m, τ) ≤ L^c′(m, τ′) for c ≤ c′, τ ≤ τ′ ((A.26))
};

enum class Comparison : std::uint8_t { equal, at_most, at_least, undecided };
std::string_view symbol(Comparison comparison);  ///< =, ≤, ≥, ?

/// Transmissions must have been expanded. `undecided` where machines differ about it, or where it has more than some
/// hundreds of combinations of maxima.
Comparison compare(const Expression& a, const Expression& b, const Bounds& bounds = {});

/// Whether a ≤ b on every machine within the bounds. Never true wrongly; with maxima on the right side it may be false
/// although it holds.
bool is_at_most(const Expression& a, const Expression& b, const Bounds& bounds = {});

/// The arguments of a maximum without those that another one bounds from above. `farther_dominates`: also without
/// those that use nearer channels only, where others use a farther one.
std::vector<Expression> without_bounded(std::vector<Expression> terms, bool farther_dominates);

}  // namespace convene::model
