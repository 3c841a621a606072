// SPDX-License-Identifier: BSD-3-Clause
#include "decide/adaptation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrival/declared_phase.hpp"

namespace convene::decide {
namespace {

/// The predictor is shown at most this many values of a stretch, and of a longer stretch fewer: showing all
/// would cost more than a short call.
constexpr std::size_t most_shown = 48, shown_of_more = 16;

constexpr std::uint32_t longest_rest = 4096;

constexpr double least_part_of_a_call = 0.5;

/// A trial ends early if all candidates took longer than the regular algorithm by this factor.
constexpr double hopeless = 1.15;

/// Nanoseconds, limited so that the sum over all ranks does not overflow.
std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0., 1e6) * 1e9 + 0.5);
}

}  // namespace

SiteAdaptation::SiteAdaptation(std::uint32_t procs, std::uint32_t candidates, std::uint32_t pieces)
    : procs_(procs), candidates_(candidates), pieces_(pieces) {}

void SiteAdaptation::note(std::optional<double> computed, double elapsed) {
  ++since_;
  ++since_report_;
  elapsed_ += elapsed;
  if (!computed) return;
  computed_.push_back(*computed);
  if (forecast_.empty()) return;
  const double error = std::abs(*computed - forecast_[(since_ - 1) % forecast_.size()]);
  stretch_error_ += error;
  ++forecasts_;
  error_sum_ += error;
  computed_sum_ += *computed;
}

/// With a season, a whole number of seasons is omitted.
std::size_t SiteAdaptation::shown() const {
  const std::size_t known = computed_.size();
  if (known <= most_shown) return known;
  return known - (known - shown_of_more) / seasons() * seasons();
}

SiteReport SiteAdaptation::report() {
  for (auto value = computed_.end() - static_cast<std::ptrdiff_t>(shown()); value != computed_.end(); ++value)
    predictor_.observe(*value);
  const auto calls = static_cast<double>(std::max<std::uint32_t>(since_, 1));
  const auto known = static_cast<double>(std::max<std::size_t>(computed_.size(), 1));
  SiteReport result{.elapsed = to_ns(elapsed_ / calls)};
  // Without a previous report, the error is unbounded.
  result.error = forecast_.empty() ? INT64_MAX : to_ns(stretch_error_ / known);
  forecast_ = predictor_.season();
  if (forecast_.empty() || forecast_.size() > SiteReport::longest_season)
    forecast_ = {predictor_.predict().value_or(0)};
  for (double& value : forecast_) value = std::max(0., value);
  result.season = static_cast<std::int64_t>(forecast_.size());
  for (std::size_t i = 0; i < result.computes.size(); ++i)
    result.computes[i] = to_ns(forecast_[i % forecast_.size()]);
  computed_.clear();
  elapsed_ = stretch_error_ = 0;
  since_ = 0;
  is_exchanging_ = true;
  return result;
}

bool SiteAdaptation::is_promising(std::span<const SiteReport> reports, std::int64_t round_ns) {
  std::int64_t quickest = INT64_MAX, season = 1;
  double error = 0;
  for (const SiteReport& report : reports) {
    if (report.error == INT64_MAX) return false;
    error += static_cast<double>(report.error) / static_cast<double>(reports.size());
    quickest = std::min(quickest, report.elapsed);
    if (season > 0) season = std::lcm(season, report.season);
    if (season > static_cast<std::int64_t>(SiteReport::longest_season)) season = 0;
  }
  if (season == 0) return false;  // the seasons of the ranks have no common period within the limit
  // The last rank to arrive is in the call for at least a few rounds; so a round is no longer than that.
  const std::int64_t round = round_ns > 0 ? round_ns : std::max<std::int64_t>(1, quickest / procs_);
  std::vector<std::vector<std::int32_t>> forecasts;
  double apart = 0;
  for (std::size_t call = 0; call < static_cast<std::size_t>(season); ++call) {
    std::vector<std::int64_t> arrivals;
    for (const SiteReport& report : reports) arrivals.push_back(report.computes[call]);
    const auto [earliest, latest] = std::minmax_element(arrivals.begin(), arrivals.end());
    apart += static_cast<double>(*latest - *earliest) / static_cast<double>(season);
    forecasts.push_back(arrivals_in_rounds_of(pieces_, arrivals, std::max<std::int64_t>(round, 1)));
  }
  // A wrong forecast may cost as many rounds as it makes ranks work ahead: it must be right for more than
  // half. And no more than the spread of arrivals can be saved, which must be a large part of a call.
  if (apart < 2 * error || apart < 2 * static_cast<double>(round)) return false;
  if (apart < least_part_of_a_call * static_cast<double>(quickest)) return false;
  arrivals_ = std::move(forecasts);
  return true;
}

std::uint32_t SiteAdaptation::turn_stretch() const {
  return (trial_stretch + seasons() - 1) / seasons() * seasons();
}

void SiteAdaptation::watch_longer() { stretch_ = std::min(2 * stretch_, longest_stretch); }

void SiteAdaptation::begin_trial() {
  stage_ = Stage::trying;
  turn_ = 0;
  costs_.assign(candidates_ + 1, 0);
  stretch_ = turn_stretch();
  candidate_.reset();
}

/// The regular algorithm and the candidates alternate, so that changes in the program affect all of them.
void SiteAdaptation::next_turn() {
  ++turn_;
  const std::uint32_t which = turn_ % (candidates_ + 1);
  candidate_ = which == 0 ? std::nullopt : std::optional(which - 1);
}

/// Evaluated when all have had equally many turns.
bool SiteAdaptation::is_hopeless() const {
  return (turn_ + 1) % (candidates_ + 1) == 0 &&
         *std::min_element(costs_.begin() + 1, costs_.end()) > hopeless * costs_.front();
}

void SiteAdaptation::decide_trial() {
  const auto best = std::min_element(costs_.begin() + 1, costs_.end());
  regular_cost_ = costs_.front() / trial_turns;
  kept_cost_ = *best / trial_turns;
  if (*best <= worth_it * costs_.front()) {
    stage_ = Stage::kept;
    candidate_ = static_cast<std::uint32_t>(best - costs_.begin() - 1);
    stretch_ = 3 * turn_stretch();
    return;
  }
  stage_ = Stage::resting;
  candidate_.reset();
  rested_ = 0;
  stretch_ = longest_stretch / 4;
}

void SiteAdaptation::agree(std::span<const SiteReport> reports, std::int64_t round_ns) {
  is_exchanging_ = false;
  since_report_ = since_;
  const auto candidate_before = candidate_;
  const auto arrivals_before = arrivals_;
  const std::uint32_t calls = stretch_;
  double cost = 0;
  for (const SiteReport& report : reports)
    cost += static_cast<double>(report.elapsed) / static_cast<double>(reports.size());
  const bool promising = is_promising(reports, round_ns);
  wants_round_ = false;
  switch (stage_) {
    case Stage::watching:
      if (!promising) {
        watch_longer();
        break;
      }
      stretch_ = std::min(stretch_, turn_stretch());
      wants_round_ = round_ns <= 0;
      if (!wants_round_ && was_promising_) begin_trial();  // a single report may be chance
      break;
    case Stage::trying:
      costs_[candidate_ ? *candidate_ + 1 : 0] += cost;
      if (turn_ + 1 < turns() && !is_hopeless())
        next_turn();
      else
        decide_trial();
      break;
    case Stage::kept:
      if (!promising || cost > 1.5 * std::max(kept_cost_, 1.)) {  // the program has changed
        stage_ = Stage::watching;
        candidate_.reset();
        stretch_ = first_stretch;
        break;
      }
      kept_cost_ = 0.75 * kept_cost_ + 0.25 * cost;
      stretch_ = std::min(2 * stretch_, longest_stretch / 4);
      break;
    case Stage::resting:
      rested_ += calls;
      if (rested_ < rest_) break;
      rest_ = std::min(4 * rest_, longest_rest);
      stage_ = Stage::watching;
      break;
  }
  was_promising_ = promising;
  has_changed_ =
      has_changed_ || candidate_ != candidate_before || (candidate_ && arrivals_ != arrivals_before);
}

}  // namespace convene::decide
