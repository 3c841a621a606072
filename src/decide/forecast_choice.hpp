// SPDX-License-Identifier: BSD-3-Clause
// Choice by forecast: the algorithms that a model expects to be the fastest, if ranks arrive as forecast.
//
// Design notes
// - A pure function of what all ranks know: the call, the forecast, the measured round. So all ranks choose
//   the same. The work is bounded by a number of steps.
// - Branch and bound. Each algorithm has a lower bound from a few ranks' schedules; those with low bounds are
//   evaluated first, and none whose bound is within 2 % of the best time. Where all ranks do the same (rings,
//   butterflies), late ranks delay the end by as much as they are late, and one schedule gives the time.
// - Candidates: all regular algorithms of the collective; by_arrival() of the best ones; those with
//   forecasts. Too many ranks to build all schedules: by_arrival() of the prior's best regular algorithm.
#pragma once

#include <cstdint>
#include <vector>

#include "decide/forecast_model.hpp"

namespace convene::decide {

struct ForecastCandidate {
  Spec spec;
  double seconds = 0;  ///< predicted, from the first arrival to the last exit; 0: not predicted
};

/// Steps of schedules that may be built and evaluated: about a quarter of a microsecond each. A schedule of a
/// logarithmic algorithm has some per rank.
constexpr std::uint64_t forecast_budget(Rank procs) {
  constexpr Rank few = 64;
  return std::uint64_t{250} * (procs < few ? few : procs);
}
/// Above this number of ranks, nothing is predicted.
inline constexpr Rank most_forecast_procs = 256;
/// Candidates that cannot be faster than the best by more than this factor are left out.
inline constexpr double worthwhile = 1.02;

/// The candidates for a call, without those by arrival: regular algorithms, or those with forecasts.
std::vector<Spec> forecast_specs(const ForecastCall& call, ArrivalSource source);

/// Candidates by predicted seconds, the best first; not empty if any algorithm can run. Those that are slower
/// than the best may be missing. `budget`: in steps.
std::vector<ForecastCandidate> rank_by_forecast(const ForecastCall& call, std::uint64_t budget);
inline std::vector<ForecastCandidate> rank_by_forecast(const ForecastCall& call) {
  return rank_by_forecast(call, forecast_budget(call.context.procs));
}

/// The forecast in numbers of few digits, for a cache: nearly equal forecasts have the same choice. Delays
/// change by at most an eighth.
std::vector<std::int32_t> quantised(std::vector<std::int32_t> arrivals);

}  // namespace convene::decide
