// SPDX-License-Identifier: BSD-3-Clause
// One handle per communicator: what Convene knows and owns of it.
//
// Design notes on threads and lifetimes
// - The handle is an attribute of the program's communicator, made in its first collective call. MPI allows one
//   collective at a time on a communicator, so a handle is used by one thread at a time; the registry of all handles
//   has a lock, taken when one is made or freed, never across an MPI call that may block.
// - Messages travel on a communicator of Convene's own, so that no tag of the program is touched. It is made when the
//   first algorithm of Convene's is to run here, by MPI_Comm_create: a duplicate would call the copy callbacks of the
//   program's attributes. Its error handler returns. Only where the first call is non-blocking it has to be a duplicate
//   (MPI_Comm_idup), since nothing else can be made without waiting for other ranks.
// - Some MPIs run out of communicators. Whether to make one is agreed by all ranks first (each may hold only so many),
//   and whether it worked afterwards; if either fails, the communicator stays with the MPI's own algorithms, and that
//   is declared.
// - The handle goes when the program frees the communicator (the attribute's delete callback), or, as to its memory,
//   when MPI_COMM_SELF's attributes are deleted at the start of MPI_Finalize; the account is written then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "decide/selection.hpp"
#include "execute/executor.hpp"
#include "mpi/functions.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/schedule_cache.hpp"
#include "runtime/comm/neighbors.hpp"
#include "runtime/comm/tag_window.hpp"
#include "runtime/stats/profile.hpp"
#include "runtime/stats/recording.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

/// What a decision may depend on, beside the communicator.
struct CallKind {
  Collective collective = Collective::allgather;
  Rank root = 0;
  bool in_place = false;
  bool commutative = true;        ///< of a reduction: its operator
  std::uint64_t total_bytes = 0;  ///< equal on all ranks
  bool may_block = true;          ///< a non-blocking call may not wait for other ranks
  bool is_blocking = true;        ///< neither non-blocking nor persistent: one at a time
  bool has_native = true;         ///< the MPI has such a call of its own
};

/// What was decided for one kind of call.
struct Decision {
  Collective collective = Collective::allgather;
  Rank root = 0;
  bool in_place = false, commutative = true, has_native = true;
  bool depends_on_form = false, is_blocking = true;  ///< only for calls that block, or only for others
  bool any_size = false;                             ///< decided without looking at the size
  bool wants_nodes = false;       ///< might be another one if the nodes, or all neighbours, were known
  std::uint64_t total_bytes = 0;  ///< else the size that it is for
  std::shared_ptr<const Prepared> prepared;  ///< null: the MPI's own
  std::uint64_t shared_places = 0;           ///< that the ranks of the fullest node share
  Program program;                           ///< bound to the sizes of the last call
  std::string algorithm, reason;
  std::string chosen;           ///< what was to run, with its parameters, and may have met an obstacle
  CallStats* record = nullptr;  ///< of the size class that was counted last

  bool is_for(const CallKind& kind) const {
    return collective == kind.collective && root == kind.root && in_place == kind.in_place &&
           commutative == kind.commutative && has_native == kind.has_native &&
           (!depends_on_form || is_blocking == kind.is_blocking) &&
           (any_size || total_bytes == kind.total_bytes);
  }
};

/// The last call, where the next one may be the same with other buffers: then nothing has to be decided or bound again.
/// Only calls with named types, predefined operators and equal blocks are kept.
struct FastPath {
  Decision* decision = nullptr;  ///< null: there is none
  Shape shape;
  CallStats* record = nullptr;
  std::uint64_t block_bytes = 0;
  bool is_native = false, has_only_empty_messages = false;
  Binding binding;             ///< else, of an algorithm of Convene's
  ItemOperator item_operator;  ///< of a reduction: what the binding's operator refers to

  bool is_for(const Shape& call) const { return decision && shape == call; }
};

/// The communicator that Convene's messages travel on: made at once, or (for a non-blocking call) some time later. It
/// lives as long as its handle, or a run on it.
struct InternalCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request making = MPI_REQUEST_NULL;  ///< of a duplicate
  std::atomic<bool> is_ready = false;
  bool has_failed =
      false;  ///< an error has left messages over: some MPIs end a program that frees such a one
  TagWindow tag_window;

  InternalCommunicator();
  ~InternalCommunicator();
  InternalCommunicator(const InternalCommunicator&) = delete;
  InternalCommunicator& operator=(const InternalCommunicator&) = delete;
  /// Looks whether it is ready by now. Returns MPI_SUCCESS or the MPI's error.
  int test(bool& ready);
};

/// An account that is handed to the ledger when nobody adds to it any more.
struct LiveProfile : CommProfile {
  ~LiveProfile() { ProfileRegistry::instance().retire(*this); }
};

class ArrivalAutotuner;

class Communicator {
 public:
  /// The handle of a communicator; null where it cannot have one (the caller then leaves all to the MPI).
  static Communicator* of(MPI_Comm comm) {
    const LastAsked& last = last_asked_;
    if (last.handle && last.comm == comm && last.generation == generation_.load(std::memory_order_acquire))
      return last.handle;
    return find_or_make(comm);
  }
  /// Likewise, but null where none was made yet.
  static Communicator* known(MPI_Comm comm);

  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm comm() const { return comm_; }
  Rank rank() const { return rank_; }
  Rank procs() const { return procs_; }
  bool is_inter() const { return is_inter_; }
  /// Convene's own communicator, after a decision for one of its algorithms. A non-blocking call may still have it in the
  /// making: then this waits for it.
  MPI_Comm internal();
  bool has_internal() const { return internal_ && internal_->is_ready; }
  const std::shared_ptr<InternalCommunicator>& shared_internal() const { return internal_; }
  /// Whether a non-blocking call of Convene's was made here: the same on all ranks. From then on the MPI's own blocking
  /// collectives run here in their non-blocking form where the MPI has no progress hook (blocking and non-blocking ones
  /// do not match, so ranks must not decide that by what is outstanding).
  bool has_seen_operations() const { return has_seen_operations_; }
  /// Has the own communicator made, without waiting for other ranks. Returns MPI_SUCCESS or the MPI's error.
  int begin_internal();
  /// To be called after an error of the MPI in a run.
  void note_failure() { internal_->has_failed = true; }
  Arena& arena() { return arena_; }
  /// What is known of its process topology; this rank's own lists, if it has one. Local.
  const Neighbors& neighbors();
  std::uint32_t next_collective() { return collective_number_++; }
  /// The same, once no older operation has the tags of that number any more. There must be an own communicator.
  std::uint32_t await_next_collective();
  /// Waits until no operation has yet to begin its agreement here: only then may another collective of the MPI's begin on the
  /// own communicator, since ranks are not all as far with what is outstanding.
  void await_agreements();
  /// The number of a new persistent operation, from 1; 0 where there are no tags for one more.
  std::uint32_t next_persistent();

  /// The decision for a call; the same on all ranks. All ranks must call it for the same call (it may communicate).
  Decision& decide(const CallKind& kind);

  /// The record to which a call of so many bytes per block belongs; `ends_later`: after it has returned.
  CallStats& stats_of(Decision& decision, std::uint64_t block_bytes, bool ends_later = false);

  /// Replaces the process's selection on this communicator.
  void use(Selection selection);

  /// When each rank is expected in the blocking calls that follow: seconds after a common moment, equal on all ranks;
  /// empty: nobody knows. Local. Throws Error for what is no time.
  void expect(std::span<const double> seconds);

  /// What a call may leave for the next one; forgotten whenever decisions change.
  FastPath& fast_path() { return fast_path_; }

  const CallStats* last_record() const { return last_; }
  /// Of the last call that was accounted for.
  std::uint64_t last_block_bytes() const { return last_block_bytes_; }
  const std::shared_ptr<LiveProfile>& profile() const { return profile_; }
  /// What follows may have no account.
  void forget_last() { last_ = nullptr; }
  void note_last(const CallStats& record, std::uint64_t block_bytes) {
    last_ = &record;
    last_block_bytes_ = block_bytes;
  }

  /// What watches arrivals here (runtime/arrivals/arrival_autotuner.hpp); null where that was not asked for.
  ArrivalAutotuner* autotuner() { return autotuner_.get(); }
  /// The recording of this communicator's calls (runtime/stats/recorder.hpp), where calls are recorded; else null.
  Recording* recording() { return recording_.get(); }
  const Recording* recording() const { return recording_.get(); }
  void record_in(std::unique_ptr<Recording> recording) { recording_ = std::move(recording); }
  /// Nobody need ask again whether calls can be recorded here.
  void leave_unrecorded() { is_unrecorded_ = true; }
  bool is_unrecorded() const { return is_unrecorded_; }

  /// At least so many bytes that the ranks of this node share; null where there is none to be had, on all ranks then.
  /// Collective where there is no such memory yet, or less.
  SharedMemory* share(std::uint64_t bytes);

  /// Both groups of an intercommunicator in one communicator, which is the caller's: those who are `behind` after the others.
  /// Errors on it return. Null where there is none to be had, which the others are not told. Collective.
  MPI_Comm merged(bool behind) const;

  /// Convene's own communicator, made if need be: null where there is none to be had. Collective, and may wait for others.
  MPI_Comm internal_if_possible() { return ensure_internal() ? internal() : MPI_COMM_NULL; }

  /// PackedBuffer of Convene's own that this handle holds, without schedules; and those of its programs.
  std::size_t memory() const;
  std::size_t program_memory() const;

 private:
  /// The handle that this thread asked for last, good as long as no handle was freed since: an MPI may give the name of a
  /// freed communicator to a new one. (No initializers: a thread's copy must need no code to come into being.)
  struct LastAsked {
    MPI_Comm comm;
    Communicator* handle;
    std::uint64_t generation;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit LastAsked last_asked_;
  static std::atomic<std::uint64_t> generation_;  // of the set of handles: counts the ones that were freed

  explicit Communicator(MPI_Comm comm);
  static Communicator* find_or_make(MPI_Comm comm);
  static Communicator* look_up(MPI_Comm comm, bool may_make);
  static Communicator* make(MPI_Comm comm);
  static int on_copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* copied);
  static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra);
  static int on_finalize(MPI_Comm comm, int keyval, void* value, void* extra);
  friend struct Registry;

  const Selection& selection() const;
  Decision make_decision(const CallKind& kind);
  Choice choose(const CallKind& kind);
  bool ensure_internal();
  std::vector<std::int32_t> expected_in(const Algorithm& algorithm, const Call& call,
                                        std::uint64_t total_bytes);
  void progressing_barrier() const;
  bool make_internal();
  void find_topology();
  void find_all_neighbors();
  std::string unmet_requirement_of(const Algorithm& algorithm, bool may_block);
  void declared_topology();
  void note_topology(std::vector<Rank> node_of_rank);
  void check_agreement(const CallKind& kind, const std::string& algorithm) const;

  MPI_Comm comm_;
  std::shared_ptr<InternalCommunicator> internal_;
  Rank rank_ = 0, procs_ = 1;
  Rank nodes_ = 0, ranks_per_node_ = 0;
  std::vector<Rank> node_of_rank_;  // equal on all ranks; empty where nobody has looked
  Neighbors neighbors_;
  std::uint32_t collective_number_ = 0, persistent_number_ = 0;
  bool is_inter_ = false, is_unrecorded_ = false;
  bool topology_refused_ = false;  // the MPI could not tell it: nobody asks again
  bool has_seen_operations_ = false;
  bool internal_refused_ = false, sharing_refused_ = false;  // equal on all ranks
  std::unique_ptr<SharedMemory> shared_memory_;
  std::unique_ptr<Selection> own_selection_;
  std::vector<std::int64_t> expected_;  // nanoseconds, by rank; empty: nobody knows
  std::vector<std::pair<std::uint64_t, std::int64_t>>
      round_of_bytes_;  // nanoseconds, where somebody has asked. All stay: ranks may decide anew at
                        // different times, and measuring is collective
  std::vector<Decision> decisions_;  // the latest ones; most recently made last
  FastPath fast_path_;
  std::shared_ptr<LiveProfile> profile_ = std::make_shared<LiveProfile>();
  const CallStats* last_ = nullptr;
  std::uint64_t last_block_bytes_ = 0;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<ArrivalAutotuner> autotuner_;
  Arena arena_;
};

}  // namespace convene::runtime
