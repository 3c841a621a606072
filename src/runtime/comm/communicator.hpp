// SPDX-License-Identifier: BSD-3-Clause
// Communicator handle: Convene's state and resources for one of the program's communicators.
//
// Design notes on threads and lifetimes
// - The handle is an attribute of the program's communicator, created in its first collective call. MPI
//   allows one collective at a time on a communicator, so a handle is used by one thread at a time. The
//   registry of all handles (registry.cpp) has a lock, taken when a handle is created or freed, never across
//   an MPI call that may block.
// - Each responsibility is a separate member: tags() separates messages from the program's, decisions()
//   chooses algorithms, nodes() has the node of each rank, shared_memory() the memory of a node, stats()
//   counts. They refer to the facts in info().
// - The handle is deleted when the program frees the communicator (the attribute's delete callback) or, as
//   regards its memory, at the end of the process's runtime (process/process.hpp), when the profile is
//   written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/arena.hpp"
#include "runtime/call/neighbors.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/comm_stats.hpp"
#include "runtime/comm/decisions.hpp"
#include "runtime/comm/learning.hpp"
#include "runtime/comm/node_shared_memory.hpp"
#include "runtime/comm/node_topology.hpp"
#include "runtime/comm/tag_space.hpp"
#include "runtime/stats/recording.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

/// State that another module attaches to a handle, and that ends with it.
struct Attachment {
  virtual ~Attachment() = default;
};

class Communicator {
 public:
  /// The handle of a communicator, created if needed; null if it cannot have one (then all calls are native).
  static Communicator* of(MPI_Comm comm) {
    return is_last_lookup(comm) ? last_lookup_.handle : find_or_make(comm);
  }
  /// The handle, if this thread looked it up last; else null.
  [[gnu::always_inline]] static Communicator* last(MPI_Comm comm) {
    return is_last_lookup(comm) ? last_lookup_.handle : nullptr;
  }
  /// The same as of(), but throws if there is no memory for a handle.
  static Communicator* obtain(MPI_Comm comm) {
    return is_last_lookup(comm) ? last_lookup_.handle : look_up(comm);
  }
  /// The handle of a communicator; null if it has none yet.
  static Communicator* known(MPI_Comm comm);

  /// Makes the internal communicator of a new communicator, where an algorithm of Convene's may be chosen:
  /// non-blocking calls cannot make it. All ranks of it must call this at the same place; it waits for them.
  static void prepare(MPI_Comm comm) noexcept;

  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const CommInfo& info() const { return info_; }
  MPI_Comm comm() const { return info_.comm; }
  Rank rank() const { return info_.rank; }
  Rank procs() const { return info_.procs; }
  bool is_inter() const { return info_.is_inter; }

  /// An exception has interrupted a call on `comm`: messages may be left over, and the ranks may no longer
  /// agree on the number of the call. Every later call of Convene's there returns the code.
  static void note_failure(MPI_Comm comm, int code) noexcept;
  /// The code of the first such call, or MPI_SUCCESS.
  int failure() const { return failure_ != MPI_SUCCESS ? failure_ : tags_.failure(); }

  TagSpace& tags() { return tags_; }
  const TagSpace& tags() const { return tags_; }
  Decisions& decisions() { return decisions_; }
  FastPath& fast_path() { return decisions_.fast_path(); }
  Learning& learning() { return learning_; }
  CommStats& stats() { return stats_; }
  const CommStats& stats() const { return stats_; }
  Arena& arena() { return arena_; }

  /// The decision for a call: see Decisions::decide().
  const std::shared_ptr<Decision>& decide(const CallSignature& call);
  /// Memory that the ranks of this node share: see NodeSharedMemory::at_least().
  SharedMemory* share(std::uint64_t bytes);
  SharedMemory* shared() const { return shared_memory_.current(); }
  /// Memory for a non-blocking call, as far as a blocking one has mapped it; else null, and the next blocking
  /// call maps more. Equal on all ranks.
  std::shared_ptr<SharedLanes> lanes(std::uint64_t bytes);
  NodeSharedMemory& shared_memory() { return shared_memory_; }
  /// Known facts of the process topology; this rank's own lists, if it has one. Local.
  const Neighbors& neighbors();

  /// A non-blocking or persistent operation of Convene's is about to begin here.
  void note_operations();
  /// True if one has started: equal on all ranks. From then on native blocking collectives run in their
  /// non-blocking form if the MPI has no progress hook (blocking and non-blocking ones do not match, so the
  /// decision must not depend on what is pending on a rank).
  bool has_seen_operations() const { return has_seen_operations_; }

  /// The recording of this communicator's calls (runtime/record/recorder.hpp) if calls are recorded; else
  /// null.
  Recording* recording() const { return recording_.get(); }
  void record_in(std::shared_ptr<Recording> recording) { recording_ = std::move(recording); }
  /// Calls cannot be recorded here: prevents another attempt.
  void leave_unrecorded() { is_unrecorded_ = true; }
  bool is_unrecorded() const { return is_unrecorded_; }

  Attachment* attachment() const { return attachment_.get(); }
  void attach(std::unique_ptr<Attachment> attachment) { attachment_ = std::move(attachment); }

  /// Bytes held by this handle, without schedules; and those of its programs.
  std::size_t memory() const;
  std::size_t program_memory() const { return decisions_.program_memory(); }

 private:
  /// The handle that this thread looked up last, valid as long as no handle was freed since: an MPI may reuse
  /// the handle of a freed communicator. (No initializers: a thread's copy must not need code to be created.)
  struct LastLookup {
    MPI_Comm comm;
    Communicator* handle;
    std::uint64_t generation;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit LastLookup last_lookup_;

  [[gnu::always_inline]] static bool is_last_lookup(MPI_Comm comm) {
    const LastLookup& last = last_lookup_;
    return last.handle && last.comm == comm &&
           last.generation == handle_generation.load(std::memory_order_acquire);
  }

  explicit Communicator(MPI_Comm comm);
  void share_ahead();
  static Communicator* find_or_make(MPI_Comm comm) noexcept;
  static Communicator* look_up(MPI_Comm comm);
  friend struct Registry;

  const CommInfo info_;
  TagSpace tags_{info_};
  NodeTopology nodes_{info_};
  Neighbors neighbors_;
  CommStats stats_{info_.procs};
  NodeSharedMemory shared_memory_{info_, nodes_};
  Decisions decisions_{info_, tags_, nodes_, neighbors_};
  Learning learning_{info_, tags_, decisions_};
  int failure_ = MPI_SUCCESS;
  bool is_unrecorded_ = false, has_seen_operations_ = false;
  std::shared_ptr<Recording> recording_;
  std::unique_ptr<Attachment> attachment_;
  Arena arena_;
};

}  // namespace convene::runtime
