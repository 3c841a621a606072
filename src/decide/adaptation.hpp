// SPDX-License-Identifier: BSD-3-Clause
// Adaptation to repeating arrival patterns: decides whether the calls at one call site should use an
// algorithm with forecasts. It uses reports that the ranks exchange at intervals of calls.
//
// Whatever all ranks must agree on follows from the number of calls and from exchanged integers only. The
// guard is a design of this project: an algorithm with forecasts is tried if the expected spread of arrivals
// exceeds its risk, alternating with the regular one. It is kept if it was faster, and otherwise dropped,
// each time for longer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arrival/predictor.hpp"

namespace convene::decide {

/// Report of a rank to the others. Times are in nanoseconds. (All members have the same type: the struct is
/// sent as it is.)
struct SiteReport {
  static constexpr std::size_t longest_season = 16;

  /// Forecast computation time before each of the next calls.
  std::array<std::int64_t, longest_season> computes = {};
  std::int64_t season =
      0;  ///< the number of calls after which they repeat, from 1 to the longest season; 0: no forecast
  std::int64_t error = 0;    ///< mean error of the previous forecast in the calls since the last report
  std::int64_t elapsed = 0;  ///< mean time in the call in these calls
};

/// The calls at one call site: one object on each rank, all of which decide the same.
class SiteAdaptation {
 public:
  /// `candidates`: the number of algorithms with forecasts to choose from, at least 1; `pieces`: the largest
  /// number of pieces into which a block or vector is cut; a round moves one piece.
  SiteAdaptation(std::uint32_t procs, std::uint32_t candidates, std::uint32_t pieces = 1);

  /// Records a completed call: the rank's computation time before it (nothing: unknown) and its time in the
  /// call, in seconds. All ranks record the same calls.
  void note(std::optional<double> computed, double elapsed);

  /// True if the ranks must exchange their reports now.
  bool is_due() const { return !is_exchanging_ && since_ >= stretch_; }
  SiteReport report();
  /// True if agree() must be called now: some calls after report(), since the answers may take that long; in
  /// a trial immediately, since its next turn starts.
  bool needs_answers() const {
    return is_exchanging_ && (stage_ == Stage::trying || since_ >= calls_meanwhile);
  }
  /// Processes the reports of all ranks, by rank. `round_ns`: duration of a round, 0 if not measured yet.
  void agree(std::span<const SiteReport> reports, std::int64_t round_ns);

  /// True if a round's duration should be measured before the next call, because forecasts may pay.
  bool wants_round() const { return wants_round_; }

  /// For the next calls: the index of a candidate, or nothing for the regular algorithm.
  std::optional<std::uint32_t> candidate() const { return candidate_; }
  /// The period of the forecasts in calls, and the position of the next call in it.
  std::uint32_t seasons() const { return static_cast<std::uint32_t>(arrivals_.size()); }
  std::uint32_t season() const { return since_report_ % seasons(); }
  /// The forecast for the next call: in rounds after the earliest, by rank.
  const std::vector<std::int32_t>& arrivals() const { return arrivals_[season()]; }
  /// True if agree() has changed candidate() or the forecasts since take().
  bool has_changed() const { return has_changed_; }
  /// Acknowledges the change.
  void take() { has_changed_ = false; }

  // Results, for reports. The forecast and its error are this rank's.
  bool is_kept() const { return stage_ == Stage::kept; }
  std::uint64_t forecasts() const { return forecasts_; }
  double error_seconds() const { return error_sum_; }
  double computed_seconds() const { return computed_sum_; }

  static constexpr std::uint32_t first_stretch = 3, trial_stretch = 4, longest_stretch = 256;
  static constexpr std::uint32_t trial_turns = 3;
  static constexpr std::uint32_t calls_meanwhile = 3;  // at most a stretch
  /// A candidate is kept if its calls took at most this part of the regular one's.
  static constexpr double worth_it = 0.97;

 private:
  enum class Stage : std::uint8_t { watching, trying, kept, resting };

  /// The forecast of all ranks; nothing if it is not good enough to be used.
  bool is_promising(std::span<const SiteReport> reports, std::int64_t round_ns);
  /// Number of the newest values that the predictor is shown.
  std::size_t shown() const;
  /// Calls per turn of a trial: whole seasons.
  std::uint32_t turn_stretch() const;
  void watch_longer();
  void begin_trial();
  void next_turn();
  bool is_hopeless() const;
  void decide_trial();
  std::uint32_t turns() const { return (candidates_ + 1) * trial_turns; }

  const std::uint32_t procs_, candidates_, pieces_;
  Stage stage_ = Stage::watching;
  std::uint32_t stretch_ = first_stretch, since_ = 0;  // calls between two reports; calls since the last
  std::uint32_t since_report_ = 0;                     // calls since the one for which the report was made
  bool is_exchanging_ = false;                         // between report() and agree()
  std::uint32_t turn_ = 0;                             // of a trial
  std::vector<double> costs_;                          // of a trial: regular first, then the candidates
  double kept_cost_ = 0, regular_cost_ = 0;
  std::uint32_t rest_ = 64, rested_ = 0;  // calls without another trial; those done
  std::optional<std::uint32_t> candidate_;
  std::vector<std::vector<std::int32_t>> arrivals_{1};  // by call of a season
  bool has_changed_ = false, wants_round_ = false, was_promising_ = false;

  // Predictor of this rank's computation times.
  BestPredictor predictor_;
  std::vector<double> computed_;  // since the last report
  double elapsed_ = 0;            // sum since the last report
  std::vector<double> forecast_;  // the last forecast, for each call of this rank's season
  double stretch_error_ = 0;
  std::uint64_t forecasts_ = 0;
  double error_sum_ = 0, computed_sum_ = 0;
};

}  // namespace convene::decide
