// SPDX-License-Identifier: BSD-3-Clause
// For tests only: random forecasts of arrivals, plans with a forecast, and comparison of schedules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "collective/core/algorithm.hpp"
#include "collective/parts/named_for_test.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::collective {

using Arrivals = std::vector<std::int32_t>;
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();

inline std::string in_words(const Arrivals& arrivals) {
  std::string text = "a =";
  for (std::int32_t each : arrivals) text += " " + std::to_string(each);
  return text;
}

/// Many kinds of forecasts: dense, spread out, with ties, one late rank, ranks that never arrive, all equal,
/// not starting at 0.
class Forecasts {
 public:
  explicit Forecasts(unsigned seed) : random_(seed) {}

  Arrivals any(Rank procs) {
    Arrivals result(procs);
    const std::int32_t spread = below(4 * static_cast<std::int32_t>(procs) + 2);
    const int kind = below(6);
    for (std::int32_t& each : result) each = kind == 0 ? 7 : below(spread + 1);
    if (kind == 1) {
      std::fill(result.begin(), result.end(), 0);
      result[any_rank(procs)] = spread;
    }
    if (kind == 2) result[any_rank(procs)] = never;
    if (kind == 3)
      for (std::int32_t& each : result) each = below(3) == 0 ? never - below(2) : each;
    return result;
  }

  std::int32_t below(std::int32_t end) {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(end));
  }

 private:
  Rank any_rank(Rank procs) { return static_cast<Rank>(below(static_cast<std::int32_t>(procs))); }
  std::mt19937 random_;
};

inline bool same(const Schedule& a, const Schedule& b) {
  if (a.size() != b.size() || a.predecessors() != b.predecessors()) return false;
  for (StepId id = 0; id < a.size(); ++id)
    if (a[id].kind != b[id].kind || a[id].peer != b[id].peer || a[id].match != b[id].match ||
        a[id].round != b[id].round || !std::ranges::equal(a.ranges(id), b.ranges(id)))
      return false;
  return true;
}

/// With a forecast in rounds, by rank; `segments` of 0: the default.
inline Call call_of(Collective collective, std::string_view name, const Arrivals& forecast,
                    std::int64_t segments) {
  Call call{.collective = collective,
            .procs = static_cast<Rank>(forecast.size()),
            .parameters = algorithm(collective, name).default_parameters(),
            .arrivals = forecast};
  if (segments > 0) call.parameters[0] = segments;
  return call;
}

inline Plan plan_of(Collective collective, std::string_view name, const Arrivals& forecast,
                    std::int64_t segments = 0) {
  return build_plan(algorithm(collective, name), call_of(collective, name, forecast, segments));
}

}  // namespace convene::collective
