// SPDX-License-Identifier: BSD-3-Clause
// Adaptation to arrivals that repeat: whether the calls at one place of a program are worth an algorithm that
// uses forecasts, decided from what the ranks tell each other every so many calls.
//
// Whatever all ranks must agree on follows from the number of calls and from exchanged integers alone. The
// guard is this project's own: an algorithm with forecasts is tried where the ranks are expected further
// apart than its risk, in turns with the regular one, kept where it was faster, and dropped where it was not,
// for ever longer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arrival/predictor.hpp"

namespace convene::decide {

/// What a rank tells the others. Times are in nanoseconds. (Numbers of one kind: they are sent as they
/// stand.)
struct SiteReport {
  static constexpr std::size_t longest_season = 16;

  /// How long it will compute before each of the next calls, as far as it can tell.
  std::array<std::int64_t, longest_season> computes = {};
  std::int64_t season =
      0;  ///< after so many calls that begins again, from 1 to the longest; 0: nothing was told
  std::int64_t error =
      0;  ///< by how much it was wrong about that in the calls since the last report, in the mean
  std::int64_t elapsed = 0;  ///< how long it was in these calls, in the mean
};

/// The calls at one place of a program: one object on each rank, all of which decide the same.
class SiteAdaptation {
 public:
  /// `candidates`: how many algorithms with forecasts there are to choose from, at least 1; `pieces`: into
  /// how many a block or vector is cut at most, one of which a round moves.
  SiteAdaptation(std::uint32_t procs, std::uint32_t candidates, std::uint32_t pieces = 1);

  /// A call is over: how long the rank computed before it (nothing: not known) and was in it, in seconds. All
  /// ranks call this for the same calls.
  void note(std::optional<double> computed, double elapsed);

  /// Whether the ranks now tell each other their reports.
  bool is_due() const { return !is_asking_ && since_ >= stretch_; }
  SiteReport report();
  /// Whether agree() has to come now: some calls after report(), since answers may be on their way for as
  /// long; in a trial at once, since its next turn begins.
  bool needs_answers() const { return is_asking_ && (stage_ == Stage::trying || since_ >= calls_meanwhile); }
  /// What all ranks told, by rank. `round_ns`: how long a round takes, 0 while nobody has measured that.
  void agree(std::span<const SiteReport> reports, std::int64_t round_ns);

  /// Whether a round's duration should be measured before the next call: forecasts may be worth something.
  bool wants_round() const { return wants_round_; }

  /// For the next calls: which of the candidates, or nothing, for the regular algorithm.
  std::optional<std::uint32_t> candidate() const { return candidate_; }
  /// After how many calls forecasts begin again, and which of them the next call is.
  std::uint32_t seasons() const { return static_cast<std::uint32_t>(arrivals_.size()); }
  std::uint32_t season() const { return since_told_ % seasons(); }
  /// The forecast for the next call: in rounds after the earliest, by rank.
  const std::vector<std::int32_t>& arrivals() const { return arrivals_[season()]; }
  /// Whether agree() has changed candidate() or the forecasts since take().
  bool has_changed() const { return has_changed_; }
  /// That was taken notice of.
  void take() { has_changed_ = false; }

  // What was found, for reports. The forecast and what became of it are this rank's.
  bool is_kept() const { return stage_ == Stage::kept; }
  std::uint64_t forecasts() const { return forecasts_; }
  double error_seconds() const { return error_sum_; }
  double computed_seconds() const { return computed_sum_; }

  static constexpr std::uint32_t first_stretch = 3, trial_stretch = 4, longest_stretch = 256;
  static constexpr std::uint32_t trial_turns = 3;
  static constexpr std::uint32_t calls_meanwhile = 3;  // not more than a stretch
  /// A candidate is kept if its calls took at most this part of the regular one's.
  static constexpr double worth_it = 0.97;

 private:
  enum class Stage : std::uint8_t { watching, trying, kept, resting };

  /// The forecast of all ranks; nothing where it is not good enough to be used.
  bool is_promising(std::span<const SiteReport> reports, std::int64_t round_ns);
  /// How many of the newest values the predictor is to be shown.
  std::size_t shown() const;
  /// Calls of a turn of a trial: whole seasons.
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
  std::uint32_t since_told_ = 0;                       // calls since the one whose answers hold
  bool is_asking_ = false;                             // between report() and agree()
  std::uint32_t turn_ = 0;                             // of a trial
  std::vector<double> costs_;                          // of a trial: regular first, then the candidates
  double kept_cost_ = 0, regular_cost_ = 0;
  std::uint32_t rest_ = 64, rested_ = 0;  // calls to go without another trial; that have gone
  std::optional<std::uint32_t> candidate_;
  std::vector<std::vector<std::int32_t>> arrivals_{1};  // by call of a season
  bool has_changed_ = false, wants_round_ = false, was_promising_ = false;

  // This rank's own.
  BestPredictor predictor_;
  std::vector<double> computed_;  // since the last report
  double elapsed_ = 0;            // likewise, added up
  std::vector<double> told_;      // what was said last, for each call of its own season
  double stretch_error_ = 0;
  std::uint64_t forecasts_ = 0;
  double error_sum_ = 0, computed_sum_ = 0;
};

}  // namespace convene::decide
