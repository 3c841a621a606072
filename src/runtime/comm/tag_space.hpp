// SPDX-License-Identifier: BSD-3-Clause
// Tag space of a communicator: the internal communicator that Convene's messages travel on, and the numbers
// that tell collectives and persistent operations apart there.
//
// Design notes
// - The internal communicator is made when the first of Convene's algorithms is to run, by MPI_Comm_create: a
//   duplicate would call the copy callbacks of the program's attributes. Its error handler returns. Only
//   where the first call is non-blocking it is a duplicate (MPI_Comm_idup), since nothing else can be made
//   without waiting for other ranks.
// - Some MPIs run out of communicators. All ranks agree first on whether to make one (each may hold a limited
//   number), and afterwards on whether it worked; if either fails, the communicator stays with native
//   algorithms, and that is declared.
// - One thread at a time uses a tag space, but the background thread ends operations: TagWindow has a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "mpi/functions.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/tag_window.hpp"

namespace convene::runtime {

/// The internal communicator: made at once, or (for a non-blocking call) some time later. It lives as long as
/// its handle, or a run on it.
struct InternalCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request making = MPI_REQUEST_NULL;  ///< of a duplicate
  std::atomic<bool> is_ready = false;
  bool has_failed = false;  ///< an error has left messages over: some MPIs abort if such a one is freed
  /// Error code of an operation that was interrupted by an exception.
  std::atomic<int> failure = MPI_SUCCESS;
  TagWindow tag_window;

  InternalCommunicator();
  ~InternalCommunicator();
  InternalCommunicator(const InternalCommunicator&) = delete;
  InternalCommunicator& operator=(const InternalCommunicator&) = delete;
  /// Tests whether it is ready. Returns MPI_SUCCESS or the MPI's error.
  int test(bool& ready);
  /// Progresses everything until it is ready. Returns MPI_SUCCESS or the MPI's error. (Operations test it;
  /// one that failed may have left it untested.)
  int await();
  /// An operation was interrupted: no call of Convene's runs on the program's communicator after it.
  void note_failure(int code);
};

class TagSpace {
 public:
  explicit TagSpace(const CommInfo& info) : info_(info) {}

  /// Creates the internal communicator if needed. Collective, may wait; false on all ranks if it cannot be
  /// created.
  bool ensure();
  /// Begins to make it, without waiting. Returns MPI_SUCCESS or the MPI's error.
  int begin();
  /// True inside begin(): the duplicate calls the copy callbacks of the program's attributes, which may call
  /// collectives here.
  bool is_beginning() const { return is_beginning_; }
  /// Whether it was asked for in vain; equal on all ranks.
  bool is_refused() const { return is_refused_; }
  bool exists() const { return internal_ && internal_->is_ready; }
  /// The internal communicator, after ensure() or begin(); waits where a non-blocking call still has it in
  /// the making.
  MPI_Comm comm();
  /// The same, made if need be: MPI_COMM_NULL where there is none to be had. Collective, may wait.
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
  bool make();

  const CommInfo& info_;
  std::shared_ptr<InternalCommunicator> internal_;
  std::uint32_t collectives_ = 0, persistent_ = 0;
  bool is_refused_ = false;  // equal on all ranks
  bool is_beginning_ = false;
};

}  // namespace convene::runtime
