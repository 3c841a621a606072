// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_comparison.hpp"

#include <utility>

#include "model/taulop/cost_simplification.hpp"

namespace convene::model {

std::string_view symbol(Comparison comparison) {
  static constexpr std::string_view symbols[] = {"=", "≤", "≥", "?"};
  return symbols[static_cast<unsigned>(comparison)];
}

bool is_at_most(const Expression& a, const Expression& b, const CostBounds& bounds) {
  return is_at_most_simplified(simplify(a), simplify(b), bounds);
}

Comparison compare(const Expression& a, const Expression& b, const CostBounds& bounds) {
  const bool at_most = is_at_most(a, b, bounds), at_least = is_at_most(b, a, bounds);
  if (at_most && at_least) return Comparison::equal;
  if (at_most) return Comparison::at_most;
  return at_least ? Comparison::at_least : Comparison::undecided;
}

Expression max_of_unbounded(std::vector<Expression> terms) {
  std::vector<Expression> simplified;
  for (const Expression& term : terms) simplified.push_back(simplify(term));
  return Expression::max(without_bounded(std::move(terms), std::move(simplified)));
}

}  // namespace convene::model
