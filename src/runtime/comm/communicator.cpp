// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/communicator.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>

#include "arrival/declared_phase.hpp"
#include "base/error.hpp"
#include "runtime/arrivals/arrival_autotuner.hpp"
#include "runtime/arrivals/rounds.hpp"
#include "runtime/comm/node_memory.hpp"
#include "runtime/progress/background.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/recorder.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {

/// All handles of this process, and the keys under which they hang.
struct Registry {
  std::mutex mutex;
  std::vector<Communicator*> live;
  std::atomic<int> internal_communicators{0};
  std::atomic<bool> finalizing{false};

  static Registry& instance() {
    static Registry* registry = new Registry;  // never freed: MPI_Finalize may come after static destructors
    return *registry;
  }

  /// The keyval is made with the first handle, together with the attribute on MPI_COMM_SELF that tells of the end.
  int key() {
    static const int once = make_key();
    return once;
  }

 private:
  int make_key() {
    int keyval = MPI_KEYVAL_INVALID, end = MPI_KEYVAL_INVALID;
    pmpi.Comm_create_keyval(Communicator::on_copy, Communicator::on_delete, &keyval, nullptr);
    pmpi.Comm_create_keyval(Communicator::on_copy, Communicator::on_finalize, &end, nullptr);
    pmpi.Comm_set_attr(MPI_COMM_SELF, end, nullptr);
    ProfileRegistry::instance();
    return keyval;
  }
};

namespace {

constexpr std::size_t most_decisions = 16;

/// While it lives, errors on the communicator are returned instead of going to the program's handler.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
    pmpi.Comm_get_errhandler(comm, &before_);
    pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    pmpi.Comm_set_errhandler(comm_, before_);
    pmpi.Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Whether something holds on all ranks. Collective.
bool on_all_ranks(bool mine, MPI_Comm comm) {
  int here = mine, all = 0;
  return pmpi.Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all == 1;
}

}  // namespace

thread_local constinit Communicator::LastAsked Communicator::last_asked_{};
std::atomic<std::uint64_t> Communicator::generation_{0};

Communicator* Communicator::find_or_make(MPI_Comm comm) {
  const std::uint64_t now = generation_.load(std::memory_order_acquire);
  Communicator* handle = look_up(comm, true);
  last_asked_ = {comm, handle, now};
  return handle;
}

Communicator* Communicator::known(MPI_Comm comm) { return look_up(comm, false); }

Communicator* Communicator::look_up(MPI_Comm comm, bool may_make) {
  Registry& registry = Registry::instance();
  // At the end attributes still name handles that are gone: callbacks of the program's may call until then.
  if (comm == MPI_COMM_NULL || registry.finalizing) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (pmpi.Comm_get_attr(comm, registry.key(), static_cast<void*>(&value), &found) != MPI_SUCCESS)
    return nullptr;
  if (found) return static_cast<Communicator*>(value);
  return may_make ? make(comm) : nullptr;
}

Communicator* Communicator::make(MPI_Comm comm) {
  Registry& registry = Registry::instance();
  std::unique_ptr<Communicator> handle(new Communicator(comm));
  if (pmpi.Comm_set_attr(comm, registry.key(), handle.get()) != MPI_SUCCESS) return nullptr;
  const std::lock_guard lock(registry.mutex);
  registry.live.push_back(handle.get());
  return handle.release();
}

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  int inter = 0, rank = 0, procs = 1;
  pmpi.Comm_test_inter(comm, &inter);
  pmpi.Comm_rank(comm, &rank);
  pmpi.Comm_size(comm, &procs);
  is_inter_ = inter != 0;
  rank_ = static_cast<Rank>(rank);
  procs_ = static_cast<Rank>(procs);
  profile_->procs = procs_;
  if (settings().watches_arrivals && !is_inter_) autotuner_ = std::make_unique<ArrivalAutotuner>();
}

Communicator::~Communicator() { recorder::keep(std::move(recording_)); }

InternalCommunicator::InternalCommunicator() { ++Registry::instance().internal_communicators; }

InternalCommunicator::~InternalCommunicator() {
  Registry& registry = Registry::instance();
  --registry.internal_communicators;
  if (is_ready && !has_failed && !registry.finalizing) pmpi.Comm_free(&comm);
}

int InternalCommunicator::test(bool& ready) {
  if (!is_ready) {
    int done = 0;
    if (const int code = pmpi.Test(&making, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) return code;
    if (done) pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    is_ready = done != 0;
  }
  ready = is_ready;
  return MPI_SUCCESS;
}

int Communicator::begin_internal() {
  if (!has_seen_operations_) fast_path_.decision = nullptr;  // the MPI's own calls may change form now
  has_seen_operations_ = true;
  if (internal_) return MPI_SUCCESS;
  const ErrorsReturned scope(comm_);
  auto own = std::make_shared<InternalCommunicator>();
  const int code = pmpi.Comm_idup(comm_, &own->comm, &own->making);
  if (code == MPI_SUCCESS) internal_ = std::move(own);
  return code;
}

/// A handle belongs to one communicator: a duplicate of that one starts without.
int Communicator::on_copy(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int Communicator::on_delete(MPI_Comm, int, void* value, void*) {
  auto* handle = static_cast<Communicator*>(value);
  Registry& registry = Registry::instance();
  ++generation_;
#ifdef OPEN_MPI
  // It does not bear that a communicator goes while a duplicate of it is in the making; MPICH keeps it until then, and
  // comes here from there. (Freeing it is collective, and all ranks have begun the duplicate before.)
  if (!registry.finalizing && handle->internal_)  // it is gone after the start of MPI_Finalize
    progress::wait_until([&] { return handle->internal_->is_ready.load(); });
#endif
  {
    const std::lock_guard lock(registry.mutex);
    const auto at = std::find(registry.live.begin(), registry.live.end(), handle);
    if (at == registry.live.end()) return MPI_SUCCESS;  // went at the start of MPI_Finalize
    *at = registry.live.back();
    registry.live.pop_back();
  }
  delete handle;
  return MPI_SUCCESS;
}

int Communicator::on_finalize(MPI_Comm, int, void*, void*) {
  Registry& registry = Registry::instance();
  background::stop();
  NativeCallWatch::stop();
  progress::drain();
  registry.finalizing = true;
  progress::delete_deferred();
  ++generation_;
  std::vector<Communicator*> live;
  {
    const std::lock_guard lock(registry.mutex);
    live.swap(registry.live);
  }
  std::deque<const CommProfile*> accounts;
  for (const Communicator* handle : live) accounts.push_back(handle->profile_.get());
  ProfileRegistry::instance().write(accounts);
  for (Communicator* handle : live) delete handle;
  recorder::write();
  return MPI_SUCCESS;
}

const Selection& Communicator::selection() const {
  return own_selection_ ? *own_selection_ : settings().selection;
}

void Communicator::use(Selection selection) {
  own_selection_ = std::make_unique<Selection>(std::move(selection));
  decisions_.clear();
  fast_path_.decision = nullptr;
}

void Communicator::expect(std::span<const double> seconds) {
  constexpr double longest = 1e8;  // some three years
  std::vector<std::int64_t> expected;
  for (const double each : seconds) {
    if (!(each >= 0 && each <= longest))
      throw Error("a rank is expected after " + std::to_string(each) +
                  " seconds; that has to be a time from 0 on (convene_expect)");
    expected.push_back(static_cast<std::int64_t>(each * 1e9));
  }
  if (expected == expected_) return;
  expected_ = std::move(expected);
  decisions_.clear();
  fast_path_.decision = nullptr;
}

/// The expected arrivals in rounds of an algorithm. Collective where nobody has measured such rounds yet.
std::vector<std::int32_t> Communicator::expected_in(const Algorithm& algorithm, const Call& call,
                                                    std::uint64_t total_bytes) {
  const std::uint64_t block = has_one_vector(call.collective) ? total_bytes : total_bytes / procs_;
  const std::uint64_t bytes = round_bytes(algorithm, call, block);
  const std::uint32_t pieces = segments(algorithm, call);
  const auto known =
      std::ranges::find(round_of_bytes_, bytes, &std::pair<std::uint64_t, std::int64_t>::first);
  if (known != round_of_bytes_.end()) return arrivals_in_rounds_of(pieces, expected_, known->second);
  const std::int64_t round = measure_round(*this, bytes);
  round_of_bytes_.emplace_back(bytes, round);
  return arrivals_in_rounds_of(pieces, expected_, round);
}

Decision& Communicator::decide(const CallKind& kind) {
  for (Decision& decision : decisions_) {
    if (!decision.is_for(kind) || (decision.wants_nodes && kind.may_block)) continue;
    if (!is_inter_ && kind.may_block) check_agreement(kind, decision.chosen);
    return decision;
  }
  fast_path_.decision = nullptr;  // decisions are about to move
  if (decisions_.size() >= most_decisions) decisions_.erase(decisions_.begin());
  return decisions_.emplace_back(make_decision(kind));
}

Decision Communicator::make_decision(const CallKind& kind) {
  Decision decision;
  decision.collective = kind.collective;
  decision.root = kind.root;
  decision.in_place = kind.in_place;
  decision.commutative = kind.commutative;
  decision.has_native = kind.has_native;
  decision.total_bytes = kind.total_bytes;
  decision.any_size = selection().always_native(kind.collective);
  decision.algorithm = "native";
  if (is_inter_) {
    decision.any_size = true;
    decision.reason = "intercommunicator";
    return decision;
  }
  const Choice choice = choose(kind);
  decision.reason = choice.reason;
  decision.wants_nodes = choice.wants_nodes && !kind.may_block;  // a blocking call has looked
  std::string algorithm = spec_text(*choice.algorithm, choice.parameters);
  decision.chosen = algorithm;
  if (kind.may_block) check_agreement(kind, algorithm);
  decision.depends_on_form = selection().may_share_memory(kind.collective);
  decision.is_blocking = kind.is_blocking;
  decision.any_size = decision.any_size || (choice.reason == "forced" && !decision.depends_on_form);
  if (choice.algorithm->is_native()) return decision;
  if (std::string obstacle = unmet_requirement_of(*choice.algorithm, kind.may_block); !obstacle.empty()) {
    decision.reason = std::move(obstacle);
    decision.wants_nodes = !neighbors_.is_refused && !kind.may_block;
    return decision;
  }
  if (!(kind.may_block ? ensure_internal() : !internal_refused_)) {
    decision.any_size = true;
    decision.reason = "no communicator to be had";
    return decision;
  }
  decision.algorithm = std::move(algorithm);
  Call call{.collective = kind.collective,
            .procs = procs_,
            .rank = rank_,
            .root = kind.root,
            .in_place = kind.in_place,
            .parameters = choice.parameters,
            .nodes = depends_on_nodes(*choice.algorithm) ? node_of_rank_ : std::vector<Rank>{},
            .graph = is_neighborhood(kind.collective) ? neighbors().graph : nullptr,
            .commutative = kind.commutative};
  if (!expected_.empty() && arrival_source(*choice.algorithm, choice.parameters) == ArrivalSource::forecast) {
    decision.any_size = false;
    decision.depends_on_form = true;
    if (kind.is_blocking) call.arrivals = expected_in(*choice.algorithm, call, kind.total_bytes);
  }
  decision.shared_places = shared_places(*choice.algorithm, call);
  decision.prepared = process_schedules().get(*choice.algorithm, call);
  return decision;
}

const Neighbors& Communicator::neighbors() {
  if (!neighbors_.has_been_looked_for) {
    neighbors_.has_been_looked_for = true;
    if (!is_inter_) neighbors_.graph = own_neighbors(comm_, rank_, procs_);
  }
  return neighbors_;
}

/// Why an algorithm cannot run for want of neighbours' neighbours; empty where it can. The same on all ranks.
std::string Communicator::unmet_requirement_of(const Algorithm& algorithm, bool may_block) {
  if (!algorithm.needs_whole_graph) return "";
  if (!neighbors().is_whole && !neighbors_.is_refused && may_block) find_all_neighbors();
  if (neighbors_.is_refused) return "the ranks' lists of neighbours contradict each other";
  return neighbors_.is_whole ? "" : "neighbours of other ranks not known";
}

void Communicator::find_all_neighbors() {
  const NativeCallWatch inside(static_cast<int>(procs_));
  const ErrorsReturned scope(comm_);
  progressing_barrier();
  const auto all = all_neighbors(comm_, *neighbors_.graph, rank_);
  neighbors_.is_whole = on_all_ranks(all != nullptr, comm_) && all->is_consistent();
  neighbors_.is_refused = !neighbors_.is_whole;
  if (!neighbors_.is_whole) return;
  neighbors_.graph = all;
  std::erase_if(decisions_, [](const Decision& decision) { return decision.wants_nodes; });
}

Choice Communicator::choose(const CallKind& kind) {
  // Where agreement is in doubt, ranks may differ in whether they need it: then all look. A non-blocking call cannot
  // look; whether an earlier one has is the same on all ranks.
  if (nodes_ == 0 && settings().has_declared_nodes())
    declared_topology();
  else if (kind.may_block && (selection().needs_topology() || settings().check_agreement) && nodes_ == 0 &&
           !topology_refused_)
    find_topology();
  try {
    Choice choice = selection().choose({.collective = kind.collective,
                                        .procs = procs_,
                                        .total_bytes = kind.total_bytes,
                                        .nodes = nodes_,
                                        .ranks_per_node = ranks_per_node_,
                                        .node_of_rank = node_of_rank_,
                                        .commutative = kind.commutative,
                                        .reproducible = settings().reproducible,
                                        .has_native = kind.has_native,
                                        .may_share = kind.is_blocking ? settings().shared_bytes : 0});
    if (!choice.declared.empty()) ProfileRegistry::instance().declare(choice.declared);
    return choice;
  } catch (const Error& error) {
    refuse(error.what(), rank_ == 0);
  }
}

/// In the debug mode: all ranks must have decided the same for the same call. On the program's communicator and before
/// anything is done, since a rank that has the MPI's own would come to nothing else.
void Communicator::check_agreement(const CallKind& kind, const std::string& algorithm) const {
  if (!settings().check_agreement) return;
  const NativeCallWatch inside(static_cast<int>(procs_));
  std::string told = algorithm;
  if (!expected_.empty()) told += " and expects ranks after";
  for (const std::int64_t each : expected_) told += " " + std::to_string(each) + " ns";
  const std::size_t hash = std::hash<std::string>{}(told) ^ kind.total_bytes * 0x9e3779b97f4a7c15ull;
  unsigned long long mine[2] = {hash, ~static_cast<unsigned long long>(hash)}, least[2];
  progressing_barrier();
  pmpi.Allreduce(mine, least, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm_);
  if (least[0] == ~least[1]) return;
  refuse("the ranks of a communicator disagree about a call of " + std::string(name(kind.collective)) +
             ": rank " + std::to_string(rank_) + " has " + told + " for " + std::to_string(kind.total_bytes) +
             " bytes; do all ranks see the same CONVENE_* variables, rules and sizes?",
         true);
}

bool Communicator::ensure_internal() {
  if (!internal_ && !internal_refused_) internal_refused_ = !make_internal();
  return !internal_refused_;
}

MPI_Comm Communicator::internal() {
  progress::wait_until([&] { return internal_->is_ready.load(); });
  return internal_->comm;
}

std::uint32_t Communicator::await_next_collective() {
  const std::uint32_t number = next_collective();
  progress::wait_until([&] { return internal_->tag_window.tag_is_free(number); });
  return number;
}

void Communicator::await_agreements() {
  progress::wait_until([&] { return internal_->tag_window.may_agree(); });
}

std::uint32_t Communicator::next_persistent() {
  void* highest = nullptr;
  int found = 0;
  pmpi.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  const std::uint32_t numbers = found ? Tags::persistent_numbers(*static_cast<int*>(highest)) : 0;
  return persistent_number_ < numbers ? ++persistent_number_ : 0;
}

/// What is outstanding goes on until all ranks are here: whoever comes late may have to complete it first. Blocking calls
/// behind this hold nobody up. (With the MPI's own progress hook they do not in any case.)
void Communicator::progressing_barrier() const {
  if (progress::has_hook()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi.Ibarrier(comm_, &request) == MPI_SUCCESS) progress::await(&request);
}

MPI_Comm Communicator::merged(bool behind) const {
  const ErrorsReturned scope(comm_);
  const NativeCallWatch inside(0);
  // Between groups a barrier tells that the others have come; a second one, that all of the own group have.
  progressing_barrier();
  progressing_barrier();
  MPI_Comm made = MPI_COMM_NULL;
  if (pmpi.Intercomm_merge(comm_, behind, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  if (made != MPI_COMM_NULL) pmpi.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/// Makes the communicator that Convene's messages travel on. All ranks agree on whether there is one.
bool Communicator::make_internal() {
  Registry& registry = Registry::instance();
  const ErrorsReturned scope(comm_);
  const NativeCallWatch inside(static_cast<int>(procs_));
  progressing_barrier();
  const auto refused = [&](const char* why) {
    ProfileRegistry::instance().declare(std::string("a communicator of ") + std::to_string(procs_) +
                                        " processes stays with the MPI's own algorithms: " + why);
    return false;
  };
  if (!on_all_ranks(registry.internal_communicators < settings().communicators, comm_))
    return refused("too many communicators are in use at once (CONVENE_COMMUNICATORS is the limit)");
  auto own = std::make_shared<InternalCommunicator>();
  MPI_Group group = MPI_GROUP_NULL;
  pmpi.Comm_group(comm_, &group);
  own->is_ready = pmpi.Comm_create(comm_, group, &own->comm) == MPI_SUCCESS && own->comm != MPI_COMM_NULL;
  pmpi.Group_free(&group);
  if (!on_all_ranks(own->is_ready, comm_)) return refused("the MPI could not make one more communicator");
  pmpi.Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
  internal_ = std::move(own);
  return true;
}

SharedMemory* Communicator::share(std::uint64_t bytes) {
  if (shared_memory_ && shared_memory_->capacity() >= bytes) return shared_memory_.get();
  if (sharing_refused_) return nullptr;
  const NativeCallWatch inside(static_cast<int>(procs_));
  constexpr std::uint64_t least = 32 * 1024;
  const std::uint64_t before = shared_memory_ ? shared_memory_->capacity() : 0;
  const ErrorsReturned scope(comm_);
  progressing_barrier();
  const std::uint64_t ample = std::min<std::uint64_t>(std::max(2 * before, least), settings().shared_bytes);
  for (const std::uint64_t wanted : {std::max(bytes, ample), bytes}) {
    auto made = share_memory(comm_, rank_, node_of_rank_, wanted);
    if (!on_all_ranks(made != nullptr, comm_)) continue;
    fast_path_.decision = nullptr;  // its binding has the memory before
    shared_memory_ = std::move(made);
    return shared_memory_.get();
  }
  sharing_refused_ = true;  // what there is goes on
  ProfileRegistry::instance().declare(
      "a communicator of " + std::to_string(procs_) +
      " processes stays with algorithms that send messages: the ranks of a node could not "
      "share " +
      std::to_string(bytes) + " bytes of memory");
  return nullptr;
}

/// Which ranks share a node, as the MPI says it; where it has no communicator left to find out, nobody knows. Collective;
/// equal on all ranks.
void Communicator::find_topology() {
  const NativeCallWatch inside(static_cast<int>(procs_));
  const ErrorsReturned scope(comm_);
  progressing_barrier();
  MPI_Comm node = MPI_COMM_NULL;
  const bool made = pmpi.Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, static_cast<int>(rank_), MPI_INFO_NULL,
                                         &node) == MPI_SUCCESS &&
                    node != MPI_COMM_NULL;
  if (!on_all_ranks(made, comm_)) {
    topology_refused_ = true;  // or who decides anew would ask the others again, who do not
    if (made) pmpi.Comm_free(&node);
    return ProfileRegistry::instance().declare("rules that ask for nodes do not fit a communicator of " +
                                               std::to_string(procs_) +
                                               " processes: the MPI could not make one more to count them");
  }
  int first = static_cast<int>(rank_);  // of the node: stands for it
  pmpi.Bcast(&first, 1, MPI_INT, 0, node);
  pmpi.Comm_free(&node);
  std::vector<int> firsts(procs_);
  pmpi.Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm_);
  note_topology({firsts.begin(), firsts.end()});
}

/// Which ranks share a node, as it was declared for MPI_COMM_WORLD. Local: every rank reads the same.
void Communicator::declared_topology() {
  int world_procs = 0;
  pmpi.Comm_size(MPI_COMM_WORLD, &world_procs);
  std::vector<Rank> nodes;
  try {
    nodes = settings().declared_nodes(static_cast<Rank>(world_procs));
  } catch (const Error& error) {
    refuse(error.what(), rank_ == 0);
  }
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  pmpi.Comm_group(comm_, &here);
  pmpi.Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(procs_), in_world(procs_);
  std::iota(ranks.begin(), ranks.end(), 0);
  pmpi.Group_translate_ranks(here, static_cast<int>(procs_), ranks.data(), world, in_world.data());
  pmpi.Group_free(&here);
  pmpi.Group_free(&world);
  std::vector<Rank> node_of_rank;
  for (const int rank : in_world) {
    if (rank == MPI_UNDEFINED)
      return ProfileRegistry::instance().declare(
          "CONVENE_MAPPING and CONVENE_MACHINE say where the ranks of MPI_COMM_WORLD are; the nodes of a "
          "communicator with others are not known");
    node_of_rank.push_back(nodes[static_cast<std::size_t>(rank)]);
  }
  note_topology(std::move(node_of_rank));
}

void Communicator::note_topology(std::vector<Rank> node_of_rank) {
  node_of_rank_ = std::move(node_of_rank);
  std::map<Rank, Rank> ranks_of;
  for (const Rank node : node_of_rank_) ++ranks_of[node];
  nodes_ = static_cast<Rank>(ranks_of.size());
  for (const auto& [node, ranks] : ranks_of) ranks_per_node_ = std::max(ranks_per_node_, ranks);
  profile_->nodes = nodes_;
  std::erase_if(decisions_, [](const Decision& decision) { return decision.wants_nodes; });
}

CallStats& Communicator::stats_of(Decision& decision, std::uint64_t block_bytes, bool ends_later) {
  const auto size_class = static_cast<unsigned>(std::bit_width(block_bytes));
  if (!decision.record || decision.record->size_class != size_class ||
      decision.record->ends_later != ends_later)
    decision.record = &profile_->find_or_add(decision.collective, decision.algorithm, decision.reason,
                                             size_class, ends_later);
  note_last(*decision.record, block_bytes);
  return *decision.record;
}

std::size_t Communicator::memory() const {
  return sizeof *this + arena_.memory() + decisions_.capacity() * sizeof(Decision) +
         profile_->records.size() * sizeof(CallStats);
}

std::size_t Communicator::program_memory() const {
  std::size_t bytes = 0;
  for (const Decision& decision : decisions_) bytes += decision.program.memory() - sizeof(Program);
  return bytes;
}

}  // namespace convene::runtime
