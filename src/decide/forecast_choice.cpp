// SPDX-License-Identifier: BSD-3-Clause
#include "decide/forecast_choice.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "decide/selection.hpp"
#include "decide/trial_candidates.hpp"

namespace convene::decide {
namespace {

constexpr double unknown = ForecastModel::unknown;

/// By how much an estimate may exceed the time, as a share.
constexpr double error_of_estimates = 0.07;

/// An algorithm that is slower than the best by more than this factor is not tried by arrival.
constexpr double most_gain = 1.25;

/// Whether all schedules are built in a time that their steps bound. (StragglAR's exchanges are searched
/// for.)
bool is_quickly_built(const Algorithm& algorithm, Rank procs) {
  constexpr Rank most_searched = 16;
  return procs <= most_searched || algorithm.name != "stragglar";
}

/// Without a prediction under the forecast: the best algorithm of the prior, by arrival.
std::vector<ForecastCandidate> without_prediction(CallContext context) {
  context.may_share = 0;
  std::vector<ForecastCandidate> result;
  for (const Spec& spec : trial_candidates(context, 1)) result.push_back({by_arrival(spec, context), 0});
  return result;
}

class Ranking {
 public:
  Ranking(const ForecastCall& call, std::uint64_t budget) : call_(call), model_(call), budget_(budget) {}

  std::vector<ForecastCandidate> run() {
    for (const ArrivalSource source : {ArrivalSource::none, ArrivalSource::forecast})
      for (Spec& spec : forecast_specs(call_, source)) estimate(spec);
    std::ranges::stable_sort(open_, {}, &Open::seconds);
    const std::uint64_t most_steps = budget_ / 3;  // of one plan, until the shorter ones are evaluated
    for (const bool are_long : {false, true})
      for (const Open& each : open_)
        if (each.seconds * worthwhile < best_ && (each.estimate.steps > most_steps) == are_long)
          evaluate(each);
    std::ranges::stable_sort(found_, {}, &ForecastCandidate::seconds);
    return std::move(found_);
  }

 private:
  /// A candidate with an estimate.
  struct Open {
    Spec spec;
    double seconds;  // at least
    ForecastEstimate estimate;
    bool by_arrival = false;
  };

  void estimate(const Spec& spec) {
    if (budget_ == 0) return;
    const ForecastEstimate estimate = model_.estimate(spec, budget_);
    if (estimate.is_exact) {
      add(spec, estimate.seconds);
      add(by_arrival(spec, call_.context), estimate.by_arrival);
      return;
    }
    const double least = estimate.is_bound ? 1 : 1 - error_of_estimates;
    if (estimate.seconds != unknown) open_.push_back({spec, least * estimate.seconds, estimate});
    if (estimate.by_arrival != unknown) open_.push_back({spec, least * estimate.by_arrival, estimate, true});
  }

  void add(const Spec& spec, double seconds) {
    if (seconds == unknown) return;
    found_.push_back({spec, seconds});
    best_ = std::min(best_, seconds);
  }

  /// Evaluates a candidate if there is enough budget. Else the estimate of a ring or a butterfly stands.
  void evaluate(const Open& each) {
    const Spec ordered = by_arrival(each.spec, call_.context);
    const Plan plan = each.estimate.steps <= budget_ ? model_.plan(each.spec, budget_) : Plan{};
    if (plan.empty()) {
      if (each.estimate.is_alike) add(each.spec, each.estimate.seconds);
      return;
    }
    bool is_near = each.by_arrival;
    if (!each.by_arrival) {
      const double seconds = model_.seconds(each.spec, plan, most_gain * best_);
      is_near = each.estimate.is_bound && seconds != unknown;
      add(each.spec, seconds);
    }
    if (is_near) add(ordered, model_.seconds_by_arrival(each.spec, plan, best_, budget_));
  }

  const ForecastCall& call_;
  const ForecastModel model_;
  std::uint64_t budget_;
  double best_ = unknown;
  std::vector<Open> open_;
  std::vector<ForecastCandidate> found_;
};

}  // namespace

std::vector<Spec> forecast_specs(const ForecastCall& call, ArrivalSource source) {
  std::vector<Spec> specs;
  for (const Algorithm* algorithm : catalogue(call.context.collective))
    if (!algorithm->is_native() && !algorithm->is_online() && !algorithm->is_composed() &&
        !algorithm->shared_places && !algorithm->needs_whole_graph && algorithm->arrival_source == source &&
        is_quickly_built(*algorithm, call.context.procs) &&
        std::ranges::find(call.besides, algorithm->name) == call.besides.end())
      if (Spec spec = default_spec(*algorithm); can_run(spec, call.context)) specs.push_back(std::move(spec));
  return specs;
}

std::vector<ForecastCandidate> rank_by_forecast(const ForecastCall& call, std::uint64_t budget) {
  if (call.context.procs > most_forecast_procs) return without_prediction(call.context);
  std::vector<ForecastCandidate> result = Ranking(call, budget).run();
  return result.empty() ? without_prediction(call.context) : result;
}

std::vector<std::int32_t> quantised(std::vector<std::int32_t> arrivals) {
  constexpr int digits = 4;  // binary ones that are kept
  for (std::int32_t& arrival : arrivals) {
    const int dropped = std::bit_width(static_cast<std::uint32_t>(std::max(arrival, 0))) - digits;
    if (dropped > 0) arrival = arrival >> dropped << dropped;
  }
  return arrivals;
}

}  // namespace convene::decide
