// SPDX-License-Identifier: BSD-3-Clause
// Learning: trials of algorithms in the running program (CONVENE_LEARN=yes), on one communicator.
//
// Design notes
// - A lesson belongs to one call signature on one communicator: what MPI makes equal on all ranks. All that
//   ranks must agree on follows from the number of its calls and from integers that they reduce at agreed
//   calls (decide/trial.hpp). The first lesson_calls calls are only counted. Then candidates are determined.
// - The ranks agree directly after a blocking call. They all take part in that call: a collective may wait
//   for all ranks, so no correct program depends on leaving it earlier.
// - Until candidates are determined, which the budget must allow, they agree on the program's communicator:
//   nothing is created for programs that end before. After that, on the internal communicator.
// - Pending operations progress during the exchange. It starts when none of them has yet to start an
//   agreement of its own, as the exchange of arrivals does.
// - Blocking calls only, and only where the order of operands does not change the result, unless the user
//   allows it (CONVENE_LEARN=reductions).
// - In collectives with a root, which a rank may leave early, the ranks also wait for each other within a
//   block of a trial. The budget pays for that.
// - Like signatures differ in total bytes only, which have the same highest bit; like choices of wisdom also
//   have the same algorithm. The first most_alone of them have lessons of their own. With the next one, those
//   that still count merge into one shared lesson, which later ones join (lesson_sharing.cpp). All that
//   depends on the order in which signatures first occur, and on agreed verdicts.
// - A rank may look up the lesson of a signature more often than others: its fast path may know fewer calls.
//   To look up one again changes nothing. Where it could, all ranks have just forgotten their fast paths.
// - One lesson of a communicator tries at a time: two would disturb each other. One without calls gives way.
// - Calls take the fast path during trials. It counts them, and asks needs_attention() before each.
// - A profiling tool behind Convene may call collectives within a native call: note() may be called within
//   another call of the same lesson.
// - The budget is the process's: an atomic sum over all communicators.
// - Verdicts become wisdom when MPI finalizes (learned_wisdom.hpp): rank 0 of the communicator keeps them.
// - CONVENE_LEARN=observe: trials take place, but no verdict changes what runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/decision.hpp"
#include "runtime/comm/tag_space.hpp"

namespace convene::decide {

class Trial;
struct TrialReport;

}  // namespace convene::decide

namespace convene::runtime {

class Decisions;
class Learning;

/// Like signatures with lessons of their own.
inline constexpr std::size_t most_alone = 3;

/// Calls of a signature before trials begin.
inline constexpr std::uint64_t lesson_calls = 256;
inline constexpr std::size_t most_forgotten = 8;

class Lesson {
 public:
  Lesson(Learning& learning, const CallSignature& signature, const Decision& regular);
  ~Lesson();

  /// The decision that the next call uses: `regular`, which the communicator decides without learning, or
  /// another alternative. Equal on all ranks. May build a schedule.
  std::shared_ptr<Decision> choose(const std::shared_ptr<Decision>& regular, const CallSignature& call);
  /// The alternative that choose() returned cannot run, on all ranks: no trial considers it again. False if
  /// it was the regular one.
  bool drop_chosen();

  /// Counts a call. True if note() must be called after it, with its times.
  bool needs_attention() {
    if (idle_ == 0) return true;
    --idle_;
    return false;
  }
  /// A call has ended that needs attention; times in ticks. May communicate: to be called by all ranks after
  /// the same call.
  void note(std::uint64_t begin, std::uint64_t end);

  const CallSignature& signature() const { return signature_; }
  /// True if calls of this signature could share it; `regular`: their decision without learning.
  bool is_like(const Decision& regular, const CallSignature& signature) const;
  /// Several signatures share it.
  bool is_shared() const { return is_shared_; }
  /// A call of this many bytes joins.
  void join(std::uint64_t total_bytes);
  /// Shares this lesson, which is new, with the signature of another one that counts: adds its calls.
  void merge(const Lesson& other);
  /// It is forgotten: a call that is running may still refer to it, but it counts and tries no more.
  void retire() { end(); }
  /// Has not begun: nothing is lost if it is forgotten.
  bool is_counting() const { return !trial_ && !has_ended_; }
  std::uint64_t calls() const { return calls_ + granted_ - idle_; }
  /// Earlier ones count for less each time that it ages.
  std::uint64_t recent_calls() const { return calls() - aged_; }
  void age() { aged_ += recent_calls() / 2; }

 private:
  void begin();
  void list_candidates();
  void agree();
  void meet();
  MPI_Comm comm_of_exchanges();
  bool exchange_sources();
  bool exchange(decide::TrialReport& report);
  void end();
  void plan();
  std::shared_ptr<Decision> alternative(std::uint32_t index, const CallSignature& call);
  void give_reasons();
  bool has_verdict() const;
  void slow_choice(std::uint64_t& end);
  void announce();
  void keep_verdict() const;
  std::uint32_t regular_index() const { return is_guard_ ? 1 : 0; }

  Learning& learning_;
  const CallSignature signature_;
  const bool is_guard_;  // of a choice by wisdom
  bool is_shared_ = false;
  std::uint64_t least_bytes_, most_bytes_;  // total, of its calls
  bool has_ended_ = false;
  bool has_listed_ = false;  // candidates
  std::uint64_t idle_ = lesson_calls - 1, granted_ = lesson_calls - 1;
  std::uint64_t calls_ = 0;         // that note() has accounted for
  std::uint64_t aged_ = 0;          // calls that count no more when one must give way
  std::uint32_t chosen_ = 0;        // the alternative of the last call
  std::uint64_t last_end_ = 0;      // ticks
  std::int64_t last_exchange_ = 0;  // nanoseconds
  std::int64_t meetings_ = 0;       // nanoseconds, since the last exchange
  std::int64_t elapsed_ = 0;        // of the process, at the first call
  double ns_per_tick_ = 1;
  std::vector<Spec> specs_;  // of alternatives 1 and up; the guard's from the beginning
  /// By alternative, then by in_place, which MPI may not make equal on all ranks. Null: not made, or the
  /// regular one.
  std::vector<std::array<std::shared_ptr<Decision>, 2>> decisions_;
  std::string verdict_;                   // the reason of the last change
  std::unique_ptr<decide::Trial> trial_;  // null: counting, or ended before
};

class Learning {
 public:
  Learning(const CommInfo& info, TagSpace& tags, Decisions& decisions)
      : info_(info), tags_(tags), decisions_(decisions) {}

  /// The lesson of a blocking call, or null: where nothing is learned. Equal on all ranks, which must call it
  /// for the same calls.
  Lesson* lesson_of(const Decision& regular, const CallSignature& signature);

  /// Nothing is learned on this communicator, from the next agreement on. Local: the greatest wish of all
  /// ranks counts.
  void exclude() { is_excluded_ = true; }

  std::size_t memory() const { return (lessons_.size() + forgotten_.size()) * sizeof(Lesson); }

 private:
  friend class Lesson;
  Lesson* known_lesson(const Decision& regular, const CallSignature& signature);
  void share(Lesson& made, const Decision& regular);
  Lesson* take_place(std::unique_ptr<Lesson> made);
  void forget(std::unique_ptr<Lesson>& lesson);
  /// Whether a lesson may try now: no other one of this communicator does.
  bool may_try(const Lesson& lesson);
  void set_trying(Lesson& lesson, bool tries);

  const CommInfo& info_;
  TagSpace& tags_;
  Decisions& decisions_;
  std::vector<std::unique_ptr<Lesson>> lessons_;
  std::vector<std::unique_ptr<Lesson>> forgotten_;  // the last ones: a call that is running may refer to one
  std::size_t given_way_ = 0;
  bool is_excluded_ = false;
  Lesson* trying_ = nullptr;
  std::uint64_t calls_of_trying_ = 0;  // when another lesson last wanted to try
};

/// MPI_Pcontrol: pauses learning in this process, or resumes it. All ranks pause while one does, from their
/// next agreement on.
void pause_learning(bool pauses);

}  // namespace convene::runtime
