// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/shared_memory_cost.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace convene::model {

namespace {

const Size segment{1, "S"};

void require_positive(std::uint32_t value, const char* what) {
  if (value == 0) throw Error(std::string(what) + " must be 1 or more, not 0");
}

/// A level of the tree: how many processes it has, and how many of them have children.
struct TreeLevel {
  std::uint32_t processes, parents;
};

/// Process 0 is the root, and g·p + 1 … g·p + g are the children of p.
std::vector<TreeLevel> levels_of(std::uint32_t procs, std::uint32_t degree) {
  std::vector<TreeLevel> levels;
  std::uint64_t first = 0, size = 1;
  while (first < procs) {
    TreeLevel level{static_cast<std::uint32_t>(std::min<std::uint64_t>(size, procs - first)), 0};
    for (std::uint64_t process = first; process < first + level.processes; ++process)
      level.parents += degree * process + 1 < procs;
    levels.push_back(level);
    first += level.processes;
    size *= degree;
  }
  return levels;
}

/// A binomial tree of messages of this size that are transferred once: Σ 2^i ∥ (o + L(size, 1)).
Expression binomial(std::uint32_t procs, const Size& size) {
  std::vector<Expression> stages;
  for (int stage = 0; stage < static_cast<int>(std::bit_width(procs - 1)); ++stage)
    stages.push_back(Expression::concurrent(1u << stage, o(0, size) + L(0, size, 1)));
  return Expression::sum(std::move(stages));
}

}  // namespace

std::uint32_t tree_height(std::uint32_t procs, std::uint32_t degree) {
  return static_cast<std::uint32_t>(levels_of(procs, degree).size());
}

std::vector<std::uint32_t> shared_broadcast_stages(std::uint32_t procs, std::uint32_t degree,
                                                   std::uint32_t segments) {
  require_positive(procs, "the number of processes");
  require_positive(degree, "the degree of the tree");
  require_positive(segments, "the number of segments");
  const std::vector<TreeLevel> levels = levels_of(procs, degree);
  std::vector<std::uint32_t> stages(levels.size() + 2 * std::size_t{segments});
  if (procs == 1) return {};
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (std::size_t i = 0; i < segments; ++i) {
      const auto [processes, parents] = levels[level];
      const std::size_t into_buffer = level + 2 * i, to_user = into_buffer + (parents > 0 ? 1 : 0);
      stages[into_buffer] += parents;
      if (level > 0) stages[to_user] += processes;
    }
  while (stages.back() == 0) stages.pop_back();
  return stages;
}

Expression shared_broadcast(std::uint32_t procs, std::uint32_t degree, std::uint32_t segments) {
  std::vector<Expression> terms;
  for (const std::uint32_t transfers : shared_broadcast_stages(procs, degree, segments))
    terms.push_back(L(0, segment, transfers));
  return Expression::sum(std::move(terms));
}

Expression shared_reduce(std::uint32_t procs) {
  require_positive(procs, "the number of processes");
  if (procs == 1) return {};
  const Expression one = L(0, segment, procs - 1) + L(0, segment, 1) +
                         Expression::times(std::int64_t{procs} - 1, gamma(segment, 1));
  return Expression::times(Factor(0, 1), one);
}

Expression in_situ_reduce(std::uint32_t procs, std::uint32_t address) {
  require_positive(procs, "the number of processes");
  if (procs == 1) return {};
  const Size one{std::int64_t{address}, ""}, all{std::int64_t{address} * procs, ""}, nothing{0, ""};
  const Expression collected = Expression::times(std::int64_t{procs} - 1, o(0, one) + L(0, one, 1));
  const Expression combined = Expression::times(std::int64_t{procs}, gamma({Rational(1, procs), "m"}, procs));
  return Expression::sum(
      {collected, binomial(procs, all), binomial(procs, one), combined, binomial(procs, nothing)});
}

}  // namespace convene::model
