// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/learning.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "base/clock.hpp"
#include "collective/core/spec.hpp"
#include "decide/trial.hpp"
#include "decide/trial_candidates.hpp"
#include "runtime/comm/choice_log.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/decisions.hpp"
#include "runtime/comm/learned_wisdom.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"

namespace convene::runtime {
namespace {

constexpr std::size_t most_lessons = 32, most_candidates = 3;
constexpr std::uint64_t for_ever = UINT64_MAX;

constinit std::atomic<std::int64_t> spent_ns{0};
constinit std::atomic<bool> is_paused{false};

/// Since the first lesson of the process began.
std::int64_t elapsed_ns() {
  static const std::uint64_t start = monotonic_ns();
  return static_cast<std::int64_t>(monotonic_ns() - start);
}

/// Equal on all ranks.
std::uint64_t seed_of(const CallSignature& signature) {
  return signature.total_bytes * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(signature.collective);
}

bool is_learnable(const Decision& regular, const CallSignature& signature) {
  const bool is_open = (regular.reason == Reason::by_default && !regular.prepared) ||
                       (regular.reason == Reason::wisdom && regular.prepared);
  return is_open && signature.is_blocking && signature.has_native &&
         (!signature.order_matters || settings().learns_reductions) && is_tried(signature.collective) &&
         (signature.total_bytes > 0 || signature.collective == Collective::barrier);
}

/// Of this rank, in the flow of data.
decide::Part part_of(const CallSignature& signature, Rank rank) {
  if (!is_rooted(signature.collective)) return decide::Part::peer;
  const bool starts_at_root =
      signature.collective == Collective::bcast || signature.collective == Collective::scatter;
  return (rank == signature.root) == starts_at_root ? decide::Part::source : decide::Part::sink;
}

std::string two_digits(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ratio);
  return text;
}

}  // namespace

void pause_learning(bool pauses) { is_paused = pauses; }

Lesson* Learning::lesson_of(const Decision& regular, const CallSignature& signature) {
  if (info_.is_inter || info_.procs < 2 || !is_learnable(regular, signature)) return nullptr;
  if (Lesson* const known = known_lesson(regular, signature)) return known;
  auto made = std::make_unique<Lesson>(*this, signature, regular);
  share(*made, regular);
  if (lessons_.size() < most_lessons) return lessons_.emplace_back(std::move(made)).get();
  return take_place(std::move(made));
}

/// One that still counts gives way: that with the fewest recent calls. Null if none counts.
Lesson* Learning::take_place(std::unique_ptr<Lesson> made) {
  auto least = lessons_.end();
  for (auto lesson = lessons_.begin(); lesson != lessons_.end(); ++lesson)
    if ((*lesson)->is_counting() && lesson->get() != trying_ &&
        (least == lessons_.end() || (*lesson)->recent_calls() < (*least)->recent_calls()))
      least = lesson;
  if (least == lessons_.end()) return nullptr;
  if (++given_way_ % most_lessons == 0)
    for (const auto& lesson : lessons_) lesson->age();
  forget(*least);
  *least = std::move(made);
  return least->get();
}

bool Learning::may_try(const Lesson& lesson) {
  if (!trying_ || trying_ == &lesson) return true;
  const bool stands_still = trying_->calls() == calls_of_trying_;
  calls_of_trying_ = trying_->calls();
  return stands_still;
}

void Learning::set_trying(Lesson& lesson, bool tries) {
  if (tries && trying_ != &lesson) {
    trying_ = &lesson;
    calls_of_trying_ = for_ever;  // it has not been asked for yet
  } else if (!tries && trying_ == &lesson) {
    trying_ = nullptr;
  }
}

Lesson::Lesson(Learning& learning, const CallSignature& signature, const Decision& regular)
    : learning_(learning),
      signature_(signature),
      is_guard_(regular.reason == Reason::wisdom),
      least_bytes_(signature.total_bytes),
      most_bytes_(signature.total_bytes),
      elapsed_(elapsed_ns()) {
  if (is_guard_) specs_.push_back(regular.spec);
}

Lesson::~Lesson() = default;

std::shared_ptr<Decision> Lesson::choose(const std::shared_ptr<Decision>& regular,
                                         const CallSignature& call) {
  chosen_ = trial_ ? trial_->next() : regular_index();
  if (settings().check_agreement)
    learning_.decisions_.check_agreement(call, "alternative " + std::to_string(chosen_));
  const bool is_verdict = has_verdict() && trial_->incumbent() == chosen_;
  if (chosen_ == regular_index() && !is_verdict) return regular;
  std::shared_ptr<Decision> decision = alternative(chosen_, call);
  if (chosen_ != Trial::native && !decision->prepared && drop_chosen()) return choose(regular, call);
  return decision;
}

std::shared_ptr<Decision> Lesson::alternative(std::uint32_t index, const CallSignature& call) {
  std::shared_ptr<Decision>& decision = decisions_[index][call.in_place];
  if (!decision) {
    decision = learning_.decisions_.alternative(call, index == Trial::native ? nullptr : &specs_[index - 1]);
    give_reasons();
  }
  return decision;
}

bool Lesson::drop_chosen() {
  if (!trial_ || chosen_ == regular_index() || chosen_ == Trial::native) return false;
  trial_->drop(chosen_);
  decisions_[chosen_] = {};
  plan();
  chosen_ = trial_->next();
  return true;
}

void Lesson::note(std::uint64_t begin_ticks, std::uint64_t end_ticks) {
  if (settings().slows_choices) slow_choice(end_ticks);
  const std::uint64_t counted = granted_ - idle_;
  calls_ += counted + 1;
  if (trial_) {
    trial_->pass(counted);
    const auto nanoseconds = [&](std::uint64_t from, std::uint64_t to) {
      return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(to - from)) *
                                       ns_per_tick_);
    };
    if (trial_->is_measuring())
      trial_->record(nanoseconds(last_end_, begin_ticks), nanoseconds(begin_ticks, end_ticks));
    else
      trial_->pass();
    if (trial_->must_meet()) meet();
    while (trial_ && trial_->boundary()) agree();
  } else if (!has_ended_) {
    begin();
  }
  plan();
  last_end_ = ticks();
}

/// For tests (CONVENE_CHECK=slow_choices): what is not native becomes slow in the running program, by 200
/// microseconds in every call that is timed.
void Lesson::slow_choice(std::uint64_t& end) {
  constexpr std::uint64_t first = 16'384, nanoseconds = 200'000;
  if (chosen_ == Trial::native || calls_ < first) return;
  for (const std::uint64_t until = monotonic_ns() + nanoseconds; monotonic_ns() < until;) end = ticks();
}

/// Plans how many calls are only counted, and lets the next call be decided anew if it runs another
/// alternative.
void Lesson::plan() {
  if (!trial_ && !has_ended_) {
    idle_ = granted_ = lesson_calls - 1;  // another lesson tries
    return;
  }
  const bool is_over = has_ended_ || trial_->has_ended();
  idle_ = granted_ = is_over ? for_ever : trial_->calls_to_pass();
  const std::uint32_t next = trial_ ? trial_->next() : regular_index();
  if (next != chosen_) learning_.decisions_.fast_path().forget();
}

/// All ranks are here after the same call.
void Lesson::begin() {
  if (!learning_.may_try(*this)) return;
  ns_per_tick_ = seconds_per_tick() * 1e9;
  trial_ = std::make_unique<Trial>(Trial::Setup{.procs = learning_.info_.procs,
                                                .part = part_of(signature_, learning_.info_.rank),
                                                .incumbent = regular_index(),
                                                .seed = seed_of(signature_),
                                                .calls = calls_,
                                                .elapsed = elapsed_,
                                                .list_cost = list_nanoseconds,
                                                .only_observes = settings().only_observes,
                                                .is_mixed = is_shared_});
  if (is_guard_) list_candidates();
  while (trial_ && trial_->boundary()) agree();
}

/// Collective. (A guard's candidate is there and needs no set-up.)
void Lesson::list_candidates() {
  const std::int64_t start = elapsed_ns();
  has_listed_ = true;
  if (!is_guard_) specs_ = learning_.decisions_.candidates(signature_, most_candidates);
  decisions_.resize(specs_.size() + 1);
  std::vector<std::int64_t> set_ups;
  for (const Spec& spec : specs_) set_ups.push_back(is_guard_ ? 0 : set_up_nanoseconds(spec));
  // Ranks that only observe must not meet others.
  trial_->set_candidates(set_ups, identity_of(specs_) + (settings().only_observes ? 1 : 0));
  spent_ns += elapsed_ns() - start;
}

/// Collective, directly after a call.
void Lesson::agree() {
  const std::int64_t start = elapsed_ns();
  spent_ns += trial_->cost();
  const std::uint32_t preferred = trial_->preferred();
  TrialWish wish = TrialWish::learn;
  const bool may_try =
      learning_.may_try(*this);  // on all ranks, whichever pauses: it keeps a number of calls
  if (is_paused || !may_try) wish = TrialWish::pause;
  if (learning_.is_excluded_) wish = TrialWish::leave;
  if (!exchange_sources()) return end();
  TrialReport report = trial_->report(
      {.elapsed = start, .spent = spent_ns, .share = settings().learning_share}, wish, last_exchange_);
  if (!exchange(report)) return end();
  trial_->agree(report);
  learning_.set_trying(*this, !trial_->has_ended() && !trial_->is_settled());
  if (trial_->preferred() != preferred) announce();
  ns_per_tick_ = seconds_per_tick() * 1e9;
  const std::int64_t exchange = elapsed_ns() - start;
  spent_ns += exchange;
  last_exchange_ = exchange + std::exchange(meetings_, 0);
  if (trial_->wants_candidates()) list_candidates();
}

/// The ranks wait for each other. Collective, directly after a call.
void Lesson::meet() {
  const std::int64_t start = elapsed_ns();
  const NativeCallWatch inside(static_cast<int>(learning_.info_.procs));
  const MPI_Comm comm = comm_of_exchanges();
  const ErrorsReturned scope(comm);
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi.Ibarrier(comm, &request) == MPI_SUCCESS) progress::await(&request);
  const std::int64_t took = elapsed_ns() - start;
  meetings_ += took;
  spent_ns += took;
}

/// With a root: reduces when the sources of data entered the calls.
bool Lesson::exchange_sources() {
  TrialReport entries{.greatest = trial_->entries_of_sources(), .sums = {}};
  if (entries.greatest.empty()) return true;
  if (!exchange(entries)) return false;
  trial_->note_sources(std::move(entries.greatest));
  return true;
}

/// A verdict changes the reasons, and may become wisdom.
void Lesson::announce() {
  const std::string ratio = two_digits(trial_->ratio());
  const std::string after =
      " after " + std::to_string(trial_->calls()) + (is_shared_ ? " calls of like sizes" : " calls");
  const std::uint32_t preferred = trial_->preferred();
  if (settings().only_observes)
    verdict_ =
        "observed: " +
        (preferred == Trial::native ? "native is faster, " : spec_text(specs_[preferred - 1]) + " takes ") +
        ratio + (preferred == Trial::native ? "" : " of native") + after;
  else
    verdict_ = preferred == Trial::native ? "guard: back to native, " + ratio : "learned: " + ratio + after;
  give_reasons();
  const std::uint32_t runs = trial_->incumbent();
  log_choice({.signature = signature_}, runs == Trial::native ? "native" : spec_text(specs_[runs - 1]),
             verdict_, learning_.info_);
  learning_.decisions_.fast_path().forget();  // it counts for the reason before
  if (!settings().only_observes && learning_.info_.rank == 0) keep_verdict();
}

void Lesson::keep_verdict() const {
  if (!learning_.decisions_.may_add_wisdom()) return;
  const CallContext context = learning_.decisions_.context_of(signature_);
  CallContext least = context, most = context;
  least.total_bytes = least_bytes_;
  most.total_bytes = most_bytes_;
  const bool is_native = trial_->preferred() == Trial::native;
  add_learned({.entry = {.collective = context.collective,
                         .procs = context.procs,
                         .nodes = context.nodes,
                         .ranks_per_node = context.ranks_per_node,
                         .shares_cores = context.shares_cores,
                         .bytes = {least.block_bytes(), most.block_bytes()},
                         .use = is_native ? Spec{} : specs_[trial_->preferred() - 1],
                         .ratio = is_native ? 1 : trial_->ratio(),
                         .upper = is_native ? 1 : std::max(trial_->ratio(), trial_->upper())},
               .how = is_native ? "guard" : "learned",
               .measured_ratio = trial_->ratio(),
               .calls = trial_->calls(),
               .pairs = trial_->evidence()});
}

/// Equal on all ranks; MPI_COMM_NULL if candidates need an internal communicator, and there can be none.
/// Pending operations have started their agreements there. Collective.
MPI_Comm Lesson::comm_of_exchanges() {
  TagSpace& tags = learning_.tags_;
  if (!has_listed_ && !tags.exists()) return learning_.info_.comm;
  const MPI_Comm comm = tags.comm_if_possible();
  if (comm != MPI_COMM_NULL) tags.await_agreements();
  return comm;
}

/// Reduces the reports of all ranks, in place. False on all ranks if there is no communicator for it.
bool Lesson::exchange(TrialReport& report) {
  const MPI_Comm comm = comm_of_exchanges();
  if (comm == MPI_COMM_NULL) return false;
  const ErrorsReturned scope(comm);
  const NativeCallWatch inside(static_cast<int>(learning_.info_.procs));
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int codes[2] = {MPI_SUCCESS, MPI_SUCCESS};
  const auto start = [&](int which, std::vector<std::int64_t>& values, MPI_Op op) {
    codes[which] = pmpi.Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                                   op, comm, &requests[which]);
  };
  const bool has_sums = !report.sums.empty();
  start(0, report.greatest, MPI_MAX);
  if (has_sums) start(1, report.sums, MPI_SUM);
  for (int which = 0; which < (has_sums ? 2 : 1); ++which)
    if (codes[which] == MPI_SUCCESS) codes[which] = progress::await(&requests[which]);
  return codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS;
}

void Lesson::end() {
  learning_.set_trying(*this, false);
  trial_ = nullptr;
  has_ended_ = true;
}

bool Lesson::has_verdict() const { return trial_ && trial_->has_decided(); }

/// Gives the decisions of all alternatives their reasons.
void Lesson::give_reasons() {
  for (std::uint32_t index = 0; index < decisions_.size(); ++index)
    for (const auto& decision : decisions_[index]) {
      if (!decision) continue;
      decision->record = nullptr;  // of the reason before
      decision->reason = Reason::trial;
      if (!has_verdict() || index != trial_->incumbent()) continue;
      decision->reason = index == Trial::native ? Reason::guard : Reason::learned;
      if (settings().only_observes) decision->reason = Reason::observed;
      decision->reason_detail = verdict_;
    }
}

}  // namespace convene::runtime
