// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/decisions.hpp"

#include <algorithm>
#include <functional>
#include <new>

#include "arrival/declared_phase.hpp"
#include "base/error.hpp"
#include "collective/core/spec.hpp"
#include "decide/trial_candidates.hpp"
#include "runtime/comm/choice_log.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/node_shared_memory.hpp"
#include "runtime/comm/round_time.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"

namespace convene::runtime {
namespace {

constexpr std::size_t most_decisions = 16;

}  // namespace

const Selection& Decisions::selection() const {
  if (own_selection_) return *own_selection_;
  return wisdom_ ? wisdom_->selection : settings().selection;
}

/// Finds out which wisdom holds here: that of MPI_COMM_WORLD without communication, else in the first
/// blocking call. Decisions before that were made without.
void Decisions::find_wisdom(bool may_block) {
  if (wisdom_ || own_selection_ || info_.is_inter || settings().wisdom_files.empty()) return;
  wisdom_ = wisdom_of_world(info_);
  if (!wisdom_ && may_block) wisdom_ = agree_on_wisdom(info_);
  if (!wisdom_ || !wisdom_->machine.is_known()) return;
  machine_ = wisdom_->machine;
  decisions_.clear();
  fast_path_.forget();
}

void Decisions::use(Selection selection) {
  own_selection_ = std::make_unique<Selection>(std::move(selection));
  decisions_.clear();
  fast_path_.forget();
}

void Decisions::expect(std::span<const double> seconds) {
  constexpr double longest = 1e8;  // some three years
  std::vector<std::int64_t> expected;
  for (const double each : seconds) {
    if (!(each >= 0 && each <= longest))
      throw Error("invalid arrival of " + std::to_string(each) +
                  " seconds (convene_expect); times must be 0 or more");
    expected.push_back(static_cast<std::int64_t>(each * 1e9));
  }
  if (expected == expected_) return;
  expected_ = std::move(expected);
  decisions_.clear();
  fast_path_.forget();
}

/// The expected arrivals in rounds of an algorithm. Collective if such rounds have not been measured yet.
std::vector<std::int32_t> Decisions::expected_in(const Algorithm& algorithm, const Call& call,
                                                 std::uint64_t total_bytes) {
  const std::uint64_t block = has_one_vector(call.collective) ? total_bytes : total_bytes / info_.procs;
  const std::uint64_t bytes = round_bytes(algorithm, call, block);
  const std::uint32_t pieces = segments(algorithm, call);
  const auto known =
      std::ranges::find(round_of_bytes_, bytes, &std::pair<std::uint64_t, std::int64_t>::first);
  if (known != round_of_bytes_.end()) return arrivals_in_rounds_of(pieces, expected_, known->second);
  const std::int64_t round = measure_round(info_, tags_, bytes);
  round_of_bytes_.emplace_back(bytes, round);
  return arrivals_in_rounds_of(pieces, expected_, round);
}

/// Whether what was decided before may be another choice now.
bool Decisions::is_outdated(const Decision& decision, const CallSignature& call) const {
  return (decision.wants_nodes && call.may_block) ||
         (decision.reason == Reason::no_communicator_yet && (call.may_block || tags_.is_settled())) ||
         (decision.prepared && tags_.may_have_device_memory());
}

const std::shared_ptr<Decision>& Decisions::decide(const CallSignature& call) {
  find_wisdom(call.may_block);
  if (call.may_block && tags_.is_wanted()) tags_.ensure();
  for (const auto& decision : decisions_) {
    if (!decision->is_for(call) || is_outdated(*decision, call)) continue;
    if (!info_.is_inter && call.may_block) check_agreement(call, decision->chosen);
    return decision;
  }
  fast_path_.forget();  // its decision may be the oldest
  auto made = std::make_shared<Decision>(make(call));
  log_choice(*made, info_);
  if (decisions_.size() >= most_decisions) decisions_.erase(decisions_.begin());
  return decisions_.emplace_back(std::move(made));
}

Decision Decisions::make(const CallSignature& call) {
  Decision decision;
  decision.signature = call;
  decision.any_size = info_.is_inter || selection().always_native(call.collective);
  decision.any_root = true;
  if (info_.is_inter) {
    decision.reason = Reason::intercommunicator;
    return decision;
  }
  const Choice choice = choose(call);
  const Algorithm& algorithm = *choice.spec.algorithm;
  decision.reason = choice.reason;
  decision.reason_detail = choice.detail;
  decision.wants_nodes = choice.wants_nodes && !call.may_block;  // a blocking call has determined the nodes
  decision.chosen = spec_text(choice.spec);
  if (call.may_block) check_agreement(call, decision.chosen);
  decision.depends_on_form = selection().depends_on_form(call.collective);
  decision.any_size = decision.any_size || (choice.reason == Reason::forced && !decision.depends_on_form);
  if (algorithm.is_native()) return decision;
  if (const auto unmet = unmet_requirement_of(algorithm, call.may_block)) {
    decision.reason = *unmet;
    decision.wants_nodes = !neighbors_.is_refused && !call.may_block;
    return decision;
  }
  if (!tags_.is_available(call.may_block)) {
    decision.any_size = true;
    decision.reason = tags_.may_have_device_memory() ? Reason::device_memory
                      : tags_.is_refused()           ? Reason::no_communicator
                                                     : Reason::no_communicator_yet;
    if (!tags_.is_refused()) tags_.note_wanted();
    return decision;
  }
  decision.any_root = false;
  schedule(decision, choice.spec);
  return decision;
}

/// Builds the schedule of a spec. What a generator throws (too many places, a length that no container has)
/// is a function of the signature and equal on all ranks: the call stays native. Lack of memory may be this
/// rank's alone, and is thrown.
void Decisions::schedule(Decision& decision, const Spec& spec) {
  const CallSignature& signature = decision.signature;
  Call call{.collective = signature.collective,
            .procs = info_.procs,
            .rank = info_.rank,
            .root = signature.root,
            .in_place = signature.in_place,
            .parameters = spec.parameters,
            .parts = spec.parts,
            .nodes = depends_on_nodes(*spec.algorithm) ? nodes_.node_of_rank() : std::vector<Rank>{},
            .domains = depends_on_domains(spec) ? nodes_.places().domains : std::vector<Domains>{},
            .graph = is_neighborhood(signature.collective) ? neighbors_.graph : nullptr,
            .commutative = signature.commutative};
  if (!expected_.empty() && arrival_source(spec) == ArrivalSource::forecast) {
    decision.any_size = false;
    decision.depends_on_form = true;
    if (signature.is_blocking) call.arrivals = expected_in(*spec.algorithm, call, signature.total_bytes);
  }
  try {
    if (depends_on_domains(spec)) ProfileRegistry::instance().declare(nodes_.places().levels);
    decision.shared_places = shared_places(*spec.algorithm, call);
    decision.prepared = process_schedules().get(*spec.algorithm, call);
    decision.spec = spec;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    decision.reason = Reason::no_schedule;
    decision.reason_detail = std::string("no schedule: ") + error.what();
    ProfileRegistry::instance().warn(std::string(name(signature.collective)) + "=" + decision.chosen +
                                     " stays native: " + error.what());
  }
}

/// The reason why an algorithm cannot run without the neighbours' neighbours; nothing if it can. Equal on all
/// ranks.
std::optional<Reason> Decisions::unmet_requirement_of(const Algorithm& algorithm, bool may_block) {
  if (!algorithm.needs_whole_graph) return std::nullopt;
  if (!neighbors_.is_whole && !neighbors_.is_refused && may_block) find_all_neighbors();
  if (neighbors_.is_refused) return Reason::neighbors_contradict;
  if (!neighbors_.is_whole) return Reason::neighbors_unknown;
  return std::nullopt;
}

void Decisions::find_all_neighbors() {
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  const auto all = all_neighbors(info_.comm, *neighbors_.graph, info_.rank);
  neighbors_.is_whole = on_all_ranks(all != nullptr, info_.comm) && all->is_consistent();
  neighbors_.is_refused = !neighbors_.is_whole;
  if (!neighbors_.is_whole) return;
  neighbors_.graph = all;
  forget_incomplete();
}

/// Drops decisions that were made without knowing nodes or neighbours, which are known now.
void Decisions::forget_incomplete() {
  std::erase_if(decisions_, [](const auto& decision) { return decision->wants_nodes; });
}

/// Determines which ranks share a node, if a choice may depend on it. With the check of agreement all ranks
/// do so, since they may differ in whether they need it. A non-blocking call cannot; whether an earlier call
/// has is equal on all ranks.
void Decisions::find_nodes(bool may_block, bool is_needed) {
  if (nodes_.is_known()) return;
  if (settings().has_declared_nodes())
    nodes_.read_declared();
  else if (wisdom_ && !wisdom_->places_in_world.nodes.empty())
    nodes_.read_from_world(wisdom_->places_in_world);
  else if (may_block && (is_needed || selection().needs_topology() || settings().check_agreement) &&
           !nodes_.is_refused())
    nodes_.find();
  if (nodes_.is_known()) forget_incomplete();
}

/// Agrees on the machine once, where verdicts may become wisdom. Which wisdom there is, is equal on all
/// ranks. Collective. (That of the nodes is agreed on with the wisdom, if there is any.)
void Decisions::find_machine() {
  if (has_agreed_on_machine_ || machine_.is_known() || settings().wisdom_files.empty()) return;
  has_agreed_on_machine_ = true;
  machine_ = agree_on_machine(info_, nodes_.ranks_per_node());
}

CallContext Decisions::context_of(const CallSignature& call) const {
  const Rank crowd = std::max(machine_.ranks_per_node, nodes_.ranks_per_node());
  return {.collective = call.collective,
          .procs = info_.procs,
          .total_bytes = call.total_bytes,
          .nodes = nodes_.nodes(),
          .ranks_per_node = nodes_.ranks_per_node(),
          .node_of_rank = nodes_.node_of_rank(),
          .domains = nodes_.places().domains,
          .commutative = call.commutative,
          .reproducible = settings().reproducible,
          .has_native = call.has_native,
          .is_blocking = call.is_blocking,
          .order_matters = call.order_matters,
          .shares_cores = machine_.is_known() && crowd > machine_.cores,
          .may_share = !call.may_share  ? 0
                       : call.may_block ? settings().shared_bytes
                                        : NodeSharedMemory::most_in_a_lane()};
}

std::vector<Spec> Decisions::candidates(const CallSignature& call, std::size_t most) {
  find_nodes(true, true);
  if (!nodes_.is_known()) return {};
  find_machine();
  return trial_candidates(context_of(call), most);
}

std::shared_ptr<Decision> Decisions::alternative(const CallSignature& call, const Spec* spec) {
  auto decision = std::make_shared<Decision>(Decision{.signature = call});
  if (!spec) return decision;
  decision->chosen = spec_text(*spec);
  if (tags_.is_available(true)) schedule(*decision, *spec);
  return decision;
}

Choice Decisions::choose(const CallSignature& call) {
  find_nodes(call.may_block);
  try {
    Choice choice = selection().choose(context_of(call));
    if (!choice.declared.empty()) ProfileRegistry::instance().declare(choice.declared);
    return choice;
  } catch (const Error& error) {
    refuse(error.what(), info_.rank == 0);
  }
}

/// On the program's communicator and before any other action, since a rank with a native decision takes part
/// in nothing else.
void Decisions::check_agreement(const CallSignature& call, const std::string& algorithm) const {
  if (!settings().check_agreement) return;
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  std::string choice = algorithm + (settings().learns ? " and learns" : "");
  if (!expected_.empty()) choice += " and forecasts arrivals after";
  for (const std::int64_t each : expected_) choice += " " + std::to_string(each) + " ns";
  const std::size_t hash = std::hash<std::string>{}(choice) ^ call.total_bytes * 0x9e3779b97f4a7c15ull;
  unsigned long long mine[2] = {hash, ~static_cast<unsigned long long>(hash)}, least[2];
  progressing_barrier(info_.comm);
  pmpi.Allreduce(mine, least, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, info_.comm);
  if (least[0] == ~least[1]) return;
  refuse("the ranks of a communicator disagree on a call of " + std::string(name(call.collective)) +
             ": rank " + std::to_string(info_.rank) + " has " + choice + " for " +
             std::to_string(call.total_bytes) +
             " B; give all ranks the same CONVENE_* variables, rules and sizes",
         true);
}

std::size_t Decisions::memory() const {
  std::size_t bytes = decisions_.size() * sizeof(Decision) + fast_path_.memory();
  for (const auto& decision : decisions_) bytes += decision->program ? sizeof(Program) : 0;
  return bytes;
}

std::size_t Decisions::program_memory() const {
  std::size_t bytes = 0;
  for (const auto& decision : decisions_)
    if (decision->program) bytes += decision->program->memory() - sizeof(Program);
  return bytes;
}

}  // namespace convene::runtime
