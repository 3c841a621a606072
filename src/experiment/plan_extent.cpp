// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/plan_extent.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"

namespace convene::experiment {

namespace {

/// All steps, extrapolated from plans of 128 and 256 ranks; 0 if unknown. One schedule for many ranks may
/// take too long itself, if the algorithm plans for all ranks at once.
std::uint64_t extrapolated_steps(const Algorithm& algorithm, const Call& call) {
  constexpr Rank few = 256;
  if (call.procs <= 8 * few || call.graph) return 0;
  const auto count = [&](Rank procs) -> std::uint64_t {
    Call small = call;
    small.procs = procs;
    small.root %= procs;
    if (!small.nodes.empty()) small.nodes.resize(procs);
    if (!small.arrivals.empty()) small.arrivals.resize(procs);
    if (!unmet_requirement(algorithm, small).empty()) return 0;
    std::uint64_t steps = 0;
    for (const Schedule& schedule : build_plan(algorithm, small)) steps += schedule.size();
    return steps;
  };
  const auto half = static_cast<double>(count(few / 2)), whole = static_cast<double>(count(few));
  if (half == 0 || whole == 0) return 0;
  const double steps = whole * std::pow(whole / half, std::log2(static_cast<double>(call.procs) / few));
  return static_cast<std::uint64_t>(std::min(steps, 1e18));
}

/// The extents of several schedules.
struct Sampled {
  Rank schedules = 0;
  std::uint64_t steps = 0;
  double seconds = 0, slowest = 0;

  void add(const Extent& one) {
    ++schedules;
    steps += one.steps;
    seconds += one.seconds;
    slowest = std::max(slowest, one.seconds);
  }
  /// The mean without the slowest, which the machine may have interrupted.
  double seconds_of_one() const { return schedules > 1 ? (seconds - slowest) / (schedules - 1) : seconds; }
};

}  // namespace

Extent extent_of(const Algorithm& algorithm, Call call, Rank rank, Builder& builder, SharedWork* work) {
  SharedWork own;
  call.rank = rank;
  const std::uint64_t begun = monotonic_ns();
  const std::uint64_t steps = build_schedule(algorithm, call, work ? *work : own, builder).size();
  return {steps, static_cast<double>(monotonic_ns() - begun) * 1e-9};
}

/// Rank 0 and the root may have more steps than all others, which differ as well (in a tree). Some of the
/// others are sampled at distances of the golden section, which coincide with no power.
Extent expected_extent(const Algorithm& algorithm, const Call& call, std::uint64_t most_steps,
                       const std::stop_token& stop, SharedWork* work) {
  constexpr Rank most_sampled = 16;
  constexpr std::uint64_t enough_steps = 1'000'000;  // enough to know that there are too many
  constexpr double enough_seconds = 2;
  constexpr double golden = 0.6180339887498949;
  constexpr std::uint64_t margin = 8;  // the factor by which an extrapolation may be too large
  if (algorithm.symmetry == Symmetry::none)
    if (const std::uint64_t steps = extrapolated_steps(algorithm, call); steps / margin > most_steps)
      return {.steps = steps};
  const Rank root = is_rooted(call.collective) ? call.root : 0, special = root == 0 ? 1 : 2;
  Builder builder;
  Extent extent = extent_of(algorithm, call, root, builder, work);
  if (root != 0 && !stop.stop_requested()) {
    const Extent first = extent_of(algorithm, call, 0, builder, work);
    extent = {extent.steps + first.steps, extent.seconds + first.seconds};
  }
  if (call.procs <= special) return extent;
  const Rank others = call.procs - special;
  const Rank most = std::min(others, algorithm.symmetry == Symmetry::none ? most_sampled : 1);
  Sampled sampled;
  while (sampled.schedules < most && sampled.steps < enough_steps && !stop.stop_requested()) {
    if (sampled.schedules > 1 && sampled.seconds > enough_seconds) break;
    const double at = std::fmod((sampled.schedules + 1) * golden, 1);
    Rank rank = 1 + (most == others ? sampled.schedules : static_cast<Rank>(at * others));
    if (root != 0 && rank >= root) ++rank;
    sampled.add(extent_of(algorithm, call, rank, builder, work));
  }
  if (sampled.schedules == 0) return extent;
  return {extent.steps + sampled.steps * others / sampled.schedules,
          extent.seconds + sampled.seconds_of_one() * others};
}

std::string Extent::refusal(const std::string& task, std::uint64_t most_steps) const {
  constexpr double most_minutes = 30;
  if (steps > most_steps)
    return task + " needs about " + std::to_string(steps) + " steps, more than " +
           std::to_string(most_steps) + "; use fewer processes";
  if (const double minutes = seconds / 60; minutes > most_minutes)
    return task + " needs an estimated time to build schedules of " + std::to_string(std::llround(minutes)) +
           " minutes; use fewer processes";
  return "";
}

}  // namespace convene::experiment
