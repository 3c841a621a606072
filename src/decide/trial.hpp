// SPDX-License-Identifier: BSD-3-Clause
// Trial: finds out, while a program runs, which of several alternatives runs its calls of one signature
// fastest.
//
// Alternative 0 is native, 1 … n are candidates. One of them is the incumbent, which runs all calls but those
// of the trial's blocks. A trial consists of stretches: some calls of the incumbent (a rest), then two
// adjacent blocks of calls in random order, one of the incumbent and one of a challenger. The ranks agree
// after each stretch and plan the next one. The first call of a block does not count.
//
// Stages: *sighting*, two blocks of native calls, which tell how long a call takes; *listing*, until the
// caller may determine the candidates; *warming*, a pair of short blocks per candidate, which does not count
// (lazy set-up); *screening*, a few pairs each, which select the best; *racing*, that one against the
// incumbent with fresh pairs, until the interval decides; then *settled*, a long rest, since a program has
// phases. If a candidate is the incumbent, the challenger is native: the guard. Its pairs are further apart.
//
// A candidate that is much slower in two pairs of warming sits out the round. With every such strike, and
// when the guard demotes it, it sits out more rounds, and rounds become rarer.
//
// The budget is a share of elapsed time: every stretch waits until it is affordable (agreed_budget.hpp).
//
// Two estimates must agree for a change: of the period of a call less the longest gap before it, mean over
// ranks (exit − previous exit) − maximum over ranks (entry − previous exit), and of the least time in the
// call over all ranks. Each alone is biased under some imbalance.
//
// With a root, a rank may leave a call early: the ranks begin the calls of a block that count together, and
// both estimates are of the time until a rank has left the last one, beyond its ideal (rooted_block.hpp): the
// mean over ranks, and the difference of both maxima.
//
// Calls of several sizes may share a trial. Adjacent blocks may then have other sizes, so that a change also
// needs a sign test of both estimates (paired_ratio.hpp).
//
// Pure: no clock, no communication. All decisions follow from the number of calls and from reduced integers,
// so they are equal on all ranks. Times are nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "decide/agreed_budget.hpp"
#include "decide/paired_ratio.hpp"
#include "decide/rooted_block.hpp"

namespace convene::decide {

/// What a rank may spend on trials: a share of its elapsed time.
struct TrialBudget {
  std::int64_t elapsed = 0;  ///< since the process started
  std::int64_t spent = 0;    ///< on all trials of the process
  double share = 0.005;      ///< of elapsed time
};

/// What a rank wants at an agreement. The greatest wish of all ranks counts.
enum class TrialWish : std::uint8_t { learn, pause, leave };

/// A rank's part of an agreement; reduced over all ranks, its result.
struct TrialReport {
  std::vector<std::int64_t> greatest;  ///< to be reduced by MAX
  std::vector<std::int64_t> sums;      ///< to be reduced by SUM; may be empty: equal on all ranks
};

class Trial {
 public:
  static constexpr std::uint32_t native = 0;
  /// Values of TrialReport::greatest that precede those of the calls.
  static constexpr std::size_t header = 7;

  struct Setup {
    std::uint32_t procs = 1;
    Part part = Part::peer;  ///< of this rank; `peer` on all ranks or on none
    std::uint32_t incumbent = native;
    std::uint64_t seed = 0;      ///< of the order of blocks; equal on all ranks
    std::uint64_t calls = 0;     ///< of this signature so far
    std::int64_t elapsed = 0;    ///< as in TrialBudget, when they began
    std::int64_t list_cost = 0;  ///< expected, of determining the candidates
    bool only_observes = false;  ///< no verdict changes the incumbent
    bool is_mixed = false;       ///< calls of several sizes
  };
  /// The first agreement is due at once.
  explicit Trial(const Setup& setup);

  /// Determine the candidates now, and pass them on: their determination is affordable.
  bool wants_candidates() const { return wants_candidates_; }
  /// Their expected set-up times, and a number for the list: if ranks differ in it, the trial ends. The next
  /// agreement is due at once. May be called once, at the beginning if the incumbent is a candidate.
  void set_candidates(const std::vector<std::int64_t>& set_ups, std::int64_t identity);

  /// The alternative that the next call runs.
  std::uint32_t next() const;
  /// True if the next call is to be timed, for record(); else pass() suffices.
  bool is_measuring() const { return block_ > 0 && position_ >= rest_; }
  /// A call has run: its time, and the time between the previous call's end and its beginning.
  void record(std::int64_t gap, std::int64_t in_call);
  /// Calls have run that are not timed: at most those before the blocks.
  void pass(std::uint64_t calls = 1);
  /// Calls that need pass() only, before one that starts a block or precedes an agreement.
  std::uint64_t calls_to_pass() const { return position_ + 1 < rest_ ? rest_ - position_ - 1 : 0; }
  /// Calls until the next agreement.
  std::uint64_t calls_left() const { return rest_ + 2 * block_ - position_; }

  /// True if the ranks must wait for each other now, before the next call: with a root.
  bool must_meet() const {
    return setup_.part != Part::peer && position_ > rest_ && calls_left() > 0 &&
           (position_ - rest_) % block_ == 1;
  }

  /// True if the ranks must agree now, between two calls.
  bool boundary() const { return calls_left() == 0 && !has_ended_ && !wants_candidates_; }
  /// What this rank has spent in this stretch: the challenger's time beyond the incumbent's. Negative where
  /// the challenger was faster: up to what this trial has spent before.
  std::int64_t cost() const;
  /// With a root, to be reduced by MAX before report(): when the sources entered the calls. Else empty.
  std::vector<std::int64_t> entries_of_sources() const;
  void note_sources(std::vector<std::int64_t> reduced) { sources_ = std::move(reduced); }
  /// This rank's part. `exchange`: duration of the last agreement. `budget.spent` includes cost() and that.
  TrialReport report(const TrialBudget& budget, TrialWish wish, std::int64_t exchange);
  /// The reduced reports: decides, and plans the next stretch.
  void agree(const TrialReport& reduced);

  /// A candidate cannot run; on all ranks. To be called instead of running it.
  void drop(std::uint32_t candidate);

  std::uint32_t incumbent() const { return incumbent_; }
  /// The incumbent; if the trial only observes, what it would be.
  std::uint32_t preferred() const { return preferred_; }
  /// Of the last race with a verdict: the time of the candidate over native's, the worse of both estimates,
  /// and the upper end of its 95 % interval.
  double ratio() const { return ratio_; }
  double upper() const { return upper_; }
  /// Pairs of that race.
  std::size_t evidence() const { return evidence_; }
  /// All calls of this signature.
  std::uint64_t calls() const { return calls_; }
  /// True if a race has made preferred() what it is; ratio() and calls() are its evidence then.
  bool has_decided() const { return has_decided_; }
  /// It rests until its next round.
  bool is_settled() const { return stage_ == Stage::settled; }
  /// No further agreement follows.
  bool has_ended() const { return has_ended_; }

 private:
  enum class Stage : std::uint8_t { settled, sighting, listing, warming, screening, racing };
  enum Role : std::uint8_t { of_incumbent, of_challenger };

  static constexpr std::uint64_t longest_block = 8;
  struct Block {
    std::int64_t total = 0;
    std::array<std::int64_t, longest_block> gaps{}, in_calls{};
  };
  /// Medians over the calls of a block, reduced.
  struct Figures {
    std::int64_t period = 0, least = 0;
  };
  /// Native, or a candidate.
  struct Alternative {
    std::int64_t set_up = 0;     // expected; 0 after the first block
    std::int64_t excess = 0;     // of a call's time beyond the incumbent's, when last measured
    std::uint32_t strikes = 0;   // rounds in which it was much slower, or was demoted
    std::uint32_t sits_out = 0;  // rounds
    bool cannot_run = false;
  };

  Role role_of(std::uint64_t call) const;
  std::vector<std::int64_t> entries(const Block& block) const;
  void report_calls(TrialReport& report) const;
  void report_ends(TrialReport& report) const;
  Figures figures(const TrialReport& reduced, Role role) const;
  Figures rooted_figures(const TrialReport& reduced, Role role) const;
  std::int64_t expected_cost() const;
  std::int64_t expected_set_up() const;
  void begin_round();
  void evaluate(const TrialReport& reduced);
  void warm(const Figures& incumbent, const Figures& challenger);
  void screen(const Figures& incumbent, const Figures& challenger);
  void race(const Figures& incumbent, const Figures& challenger);
  bool is_won(const PairedRatio& ratio) const;
  void next_candidate();
  void begin_race(std::uint32_t challenger);
  void settle();
  void change();
  void plan_stage();
  void plan(std::uint64_t rest, std::uint64_t block);
  std::uint64_t spacing() const;
  void end();

  Setup setup_;
  Stage stage_;
  std::vector<Alternative> alternatives_ = {{}};  // native, then the candidates
  std::int64_t identity_ = 0;
  std::vector<std::uint32_t> present_;  // candidates of this round
  std::uint32_t incumbent_, challenger_ = native, preferred_;
  std::uint32_t turn_ = 0;       // in warming and screening: which of present_
  bool is_second_look_ = false;  // in warming
  std::uint32_t pairs_ = 0;      // of screening, per candidate
  std::uint32_t unusable_ = 0;   // pairs of this race without a positive time
  bool wants_candidates_ = false, is_list_due_ = false;
  std::vector<PairedRatio> screened_;
  PairedRatio period_, least_;  // of the race: challenger / incumbent

  std::uint64_t rest_ = 0, block_ = 0, position_ = 0;  // of the current stretch
  bool challenger_first_ = false;
  std::array<Block, 2> blocks_;        // by role
  std::vector<std::int64_t> sources_;  // with a root: see entries_of_sources()
  std::uint64_t random_;
  std::uint64_t again_;  // calls of rest when settled

  std::uint64_t calls_, calls_reported_ = 0;
  std::int64_t elapsed_reported_;
  std::int64_t spent_ = 0;  // by this rank on stretches
  AgreedBudget budget_;
  double ratio_ = 1, upper_ = 1;
  std::size_t evidence_ = 0;
  bool has_decided_ = false;
  bool has_ended_ = false;
};

}  // namespace convene::decide
