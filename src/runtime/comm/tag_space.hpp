// SPDX-License-Identifier: BSD-3-Clause
// Tag space of a communicator: the internal communicator that Convene's messages travel on, and the numbers
// that distinguish collectives and persistent operations there.
//
// Design notes
// - The internal communicator is made by MPI_Comm_create inside a blocking call, in which all ranks take
//   part: a duplicate would call the copy callbacks of the program's attributes, and a non-blocking duplicate
//   agrees with other ranks by messages that meet the program's own collectives (Open MPI aborts or hangs
//   then).
// - A blocking collective makes it when the first of Convene's algorithms is to run. A non-blocking call must
//   not wait: it runs natively where there is none yet, and the next blocking collective makes one. So that
//   programs need no blocking collective, the drop-in library makes it ahead, when a communicator is created
//   (make_ahead()).
// - Some MPIs run out of communicators. All ranks agree first on whether to make one (each may hold a limited
//   number), and afterwards on whether it worked; if either fails, the communicator stays with native
//   algorithms, and that is declared. The first agreement includes whether a rank has loaded a GPU runtime:
//   buffers may be device memory then, which Convene cannot copy or reduce. Where the internal communicator
//   was made ahead and a node has a GPU, it is used once the first blocking call has agreed on that again:
//   programs load the runtime after MPI_Init.
// - One thread at a time uses a tag space, but the background thread ends operations: TagWindow has a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "execute/binding.hpp"
#include "mpi/functions.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/tag_window.hpp"

namespace convene::runtime {

/// The internal communicator. It lives as long as its handle, or a run on it.
struct InternalCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<Transport> transport;  ///< null: messages are MPI messages; destroyed first
  bool has_failed = false;  ///< an error has left messages behind: some MPIs abort if such a communicator is
                            ///< freed
  /// Error code of an operation that was interrupted by an exception.
  std::atomic<int> failure = MPI_SUCCESS;
  TagWindow tag_window;

  InternalCommunicator();
  ~InternalCommunicator();
  InternalCommunicator(const InternalCommunicator&) = delete;
  InternalCommunicator& operator=(const InternalCommunicator&) = delete;
  Channel channel() const { return {comm, transport.get()}; }
  /// Records that an operation was interrupted: no later call of Convene's runs on the program's
  /// communicator.
  void note_failure(int code);
};

class TagSpace {
 public:
  explicit TagSpace(const CommInfo& info) : info_(info) {}

  /// Creates the internal communicator if needed. Collective, may wait; false on all ranks if it cannot be
  /// created.
  bool ensure();
  /// Makes it if few are in use and `may_make` holds on all ranks. Collective; waits. Nothing is declared
  /// where there is none, except for device memory.
  void make_ahead(bool may_make);
  /// Whether a call can have it: a blocking one makes it if need be. Equal on all ranks.
  bool is_available(bool may_block) { return may_block || info_.procs == 1 ? ensure() : exists(); }
  /// Records that a non-blocking call lacked it: the next blocking collective creates it.
  void note_wanted();
  /// The next blocking collective is to create it, or to agree on device memory.
  bool is_wanted() const { return (is_wanted_ || internal_) && !is_settled(); }
  /// True if buffers may be device memory: calls stay native. Equal on all ranks.
  bool may_have_device_memory() const { return may_have_device_memory_; }
  /// True if it can be used, or never will.
  bool is_settled() const { return (internal_ && has_checked_devices_) || is_refused_; }
  /// True if its creation failed; equal on all ranks.
  bool is_refused() const { return is_refused_; }
  bool exists() const { return internal_ && has_checked_devices_ && !may_have_device_memory_; }
  /// The internal communicator, which exists.
  MPI_Comm comm() const { return internal_->comm; }
  /// The same, created if needed: MPI_COMM_NULL if it cannot be created. Collective, may wait.
  MPI_Comm comm_if_possible() { return ensure() ? comm() : MPI_COMM_NULL; }
  const std::shared_ptr<InternalCommunicator>& shared() const { return internal_; }
  /// Call it after an error of the MPI in a run.
  void note_error() {
    if (internal_) internal_->has_failed = true;
  }
  /// The error code of an operation that was interrupted, or MPI_SUCCESS.
  int failure() const {
    return internal_ ? internal_->failure.load(std::memory_order_relaxed) : static_cast<int>(MPI_SUCCESS);
  }

  /// Bytes beside this object, without those of the MPI and of a transport.
  std::size_t memory() const { return internal_ ? sizeof(InternalCommunicator) : 0; }

  /// The number of the next collective, equal on all ranks.
  std::uint32_t next_collective() { return collectives_++; }
  /// The same, once no older operation uses the tags of that number. There must be an internal communicator.
  std::uint32_t await_next_collective();
  /// Waits until no operation has yet to start its agreement: only then may another native collective start
  /// on the internal communicator, since pending operations progress differently on each rank.
  void await_agreements();
  /// The number of a new persistent operation, from 1; 0 if no tags are left.
  std::uint32_t next_persistent();

 private:
  bool make(bool may_make, const char*& why_not);
  bool check_devices();
  void refuse(const char* why);

  const CommInfo& info_;
  std::shared_ptr<InternalCommunicator> internal_;
  std::uint32_t collectives_ = 0, persistent_ = 0;
  bool is_refused_ = false;                                            // equal on all ranks
  bool is_wanted_ = false;                                             // equal on all ranks
  bool has_checked_devices_ = false, may_have_device_memory_ = false;  // equal on all ranks
};

}  // namespace convene::runtime
