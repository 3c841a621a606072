// SPDX-License-Identifier: BSD-3-Clause
// Simplification of cost expressions.
#pragma once

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

/// Rules of simplify() in addition to those that always apply.
struct Simplification {
  bool linear = true;            ///< (g) L(A·m, τ) = A·L(m, τ)
  bool merge_overheads = false;  ///< o(2m) counts as o(m), as in the source "for clarity"
  bool drop_overheads = false;
  bool drop_copies = false;
  bool farther_dominates = false;  ///< max{L⁰(…), L¹(…)} = L¹(…), as in (5.11)
};

/// A sum of factors times distinct atoms and maxima: copies and packing, overheads, then the rest in the
/// order of first appearance. Rules: (a) ∥ multiplies τ, never o, and is distributed over sums and maxima;
/// equal terms are added; the arguments of a maximum that others bound are removed; and those of `how`.
Expression simplify(const Expression& expression, const Simplification& how = {});

}  // namespace convene::model
