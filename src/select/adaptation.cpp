// SPDX-License-Identifier: BSD-3-Clause
#include "select/adaptation.hpp"

#include <algorithm>
#include <cmath>

#include "arrival/declared_phase.hpp"

namespace convene {
namespace {

/// The newest values that a predictor is shown for one stretch: it costs more than a short call.
constexpr std::size_t most_shown = 16;

constexpr std::uint32_t longest_rest = 4096;

/// Nanoseconds, within what can be added up for all ranks.
std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0., 1e6) * 1e9 + 0.5);
}

}  // namespace

SiteAdaptation::SiteAdaptation(std::uint32_t procs, std::uint32_t candidates)
    : procs_(procs), candidates_(candidates) {}

void SiteAdaptation::note(std::optional<double> computed, double elapsed) {
  ++since_;
  elapsed_ += elapsed;
  if (!computed) return;
  computed_.push_back(*computed);
  if (!told_) return;
  const double error = std::abs(*computed - *told_);
  stretch_error_ += error;
  ++forecasts_;
  error_sum_ += error;
  computed_sum_ += *computed;
}

SiteReport SiteAdaptation::report() {
  const std::size_t shown = std::min(computed_.size(), most_shown);
  for (auto value = computed_.end() - static_cast<std::ptrdiff_t>(shown); value != computed_.end(); ++value)
    predictor_.observe(*value);
  const auto calls = static_cast<double>(std::max<std::uint32_t>(since_, 1));
  const auto known = static_cast<double>(std::max<std::size_t>(computed_.size(), 1));
  SiteReport result{.elapsed = to_ns(elapsed_ / calls)};
  // Before anything was told, any value is as far off as can be.
  result.error = told_ ? to_ns(stretch_error_ / known) : INT64_MAX;
  told_ = std::max(0., predictor_.predict().value_or(0));
  result.computes = to_ns(*told_);
  computed_.clear();
  elapsed_ = stretch_error_ = 0;
  since_ = 0;
  return result;
}

bool SiteAdaptation::is_promising(std::span<const SiteReport> reports, std::int64_t round_ns) {
  std::vector<std::int64_t> arrivals;
  double error = 0;
  std::int64_t quickest = INT64_MAX;
  for (const SiteReport& report : reports) {
    if (report.error == INT64_MAX) return false;
    arrivals.push_back(report.computes);
    error += static_cast<double>(report.error) / static_cast<double>(reports.size());
    quickest = std::min(quickest, report.elapsed);
  }
  const auto [earliest, latest] = std::minmax_element(arrivals.begin(), arrivals.end());
  const std::int64_t apart = *latest - *earliest;
  // A wrong forecast may cost as many rounds as it makes ranks work ahead: it has to be right for the better part.
  if (static_cast<double>(apart) < 2 * error) return false;
  // Who comes last is in the call for at least a few rounds; so a round is no longer than that.
  const std::int64_t round = round_ns > 0 ? round_ns : std::max<std::int64_t>(1, quickest / procs_);
  if (apart < 2 * round) return false;
  arrivals_ = arrivals_in_rounds(arrivals, std::max<std::int64_t>(round, 1));
  return true;
}

void SiteAdaptation::watch_longer() { stretch_ = std::min(2 * stretch_, longest_stretch); }

void SiteAdaptation::begin_trial() {
  stage_ = Stage::trying;
  turn_ = 0;
  costs_.assign(candidates_ + 1, 0);
  stretch_ = trial_stretch;
  candidate_.reset();
}

/// Regular and candidates take turns, so that what changes in the program meets all of them.
void SiteAdaptation::next_turn() {
  ++turn_;
  const std::uint32_t which = turn_ % (candidates_ + 1);
  candidate_ = which == 0 ? std::nullopt : std::optional(which - 1);
}

void SiteAdaptation::decide_trial() {
  const auto best = std::min_element(costs_.begin() + 1, costs_.end());
  regular_cost_ = costs_.front() / trial_turns;
  kept_cost_ = *best / trial_turns;
  if (*best <= worth_it * costs_.front()) {
    stage_ = Stage::kept;
    candidate_ = static_cast<std::uint32_t>(best - costs_.begin() - 1);
    stretch_ = 3 * trial_stretch;
    return;
  }
  stage_ = Stage::resting;
  candidate_.reset();
  rested_ = 0;
  stretch_ = longest_stretch / 4;
}

void SiteAdaptation::agree(std::span<const SiteReport> reports, std::int64_t round_ns) {
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
      if (!promising)
        watch_longer();
      else if (round_ns <= 0)
        wants_round_ = true;
      else if (was_promising_)  // once may be chance
        begin_trial();
      was_promising_ = promising;
      break;
    case Stage::trying:
      costs_[candidate_ ? *candidate_ + 1 : 0] += cost;
      if (turn_ + 1 < turns())
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
  has_changed_ =
      has_changed_ || candidate_ != candidate_before || (candidate_ && arrivals_ != arrivals_before);
}

}  // namespace convene
