// SPDX-License-Identifier: BSD-3-Clause
// MPI point-to-point messages as a transport: the default one. Every call is one PMPI call, inlined.
#pragma once

#include "mpi/functions.hpp"
#include "mpi/stack.hpp"
#include "transport/transport.hpp"

namespace convene::transport {

class PointToPoint {
 public:
  using Handle = MPI_Request;
  using Status = MPI_Status;

  /// Without a communicator: only a target of assignment.
  PointToPoint() = default;
  /// The communicator must return errors. The caller keeps its ownership.
  explicit PointToPoint(MPI_Comm comm) : comm_(comm), byte_(MPI_BYTE), none_(MPI_REQUEST_NULL) {}

  MPI_Comm comm() const { return comm_; }
  Handle none() const { return none_; }
  std::uintptr_t identity() const { return (std::uintptr_t)(comm_); }  // a pointer or an int, by stack

  static constexpr Capabilities capabilities() {
    return {.shared_memory = true, .pack_below = mpi::stack::pack_below};
  }

  // MPI connects and registers by itself.
  static constexpr int connect(const Schedule&) { return MPI_SUCCESS; }
  static constexpr int register_memory(const Piece&, Lifetime, Registration*) { return MPI_SUCCESS; }
  static constexpr int deregister_memory(Registration) { return MPI_SUCCESS; }
  static constexpr int close() { return MPI_SUCCESS; }

  int post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) const {
    return pmpi.Isend(at, static_cast<int>(bytes), byte_, peer, tag, comm_, handle);
  }
  int post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) const {
    return pmpi.Irecv(at, static_cast<int>(bytes), byte_, peer, tag, comm_, handle);
  }
  /// By a datatype with absolute addresses.
  int post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena, Handle* handle) const;
  int post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                          Handle* handle) const;
  int post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) const {
    return post_send(at, bytes, peer, tag, handle);
  }
  int post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) const {
    return post_receive(at, bytes, MPI_ANY_SOURCE, tag, handle);
  }

  int send(const Outgoing& message) const {
    return pmpi.Send(message.at, static_cast<int>(message.bytes), byte_, message.peer, message.tag, comm_);
  }
  int receive(const Incoming& message) const {
    return pmpi.Recv(message.at, static_cast<int>(message.bytes), byte_, message.peer, message.tag, comm_,
                     MPI_STATUS_IGNORE);
  }
  int exchange(const Outgoing& out, const Incoming& in) const {
    return pmpi.Sendrecv(out.at, static_cast<int>(out.bytes), byte_, out.peer, out.tag, in.at,
                         static_cast<int>(in.bytes), byte_, in.peer, in.tag, comm_, MPI_STATUS_IGNORE);
  }

  int test(Handle* handle, bool* is_complete) const {
    int done = 0;
    const int code = pmpi.Test(handle, &done, MPI_STATUS_IGNORE);
    *is_complete = done != 0;
    return code;
  }
  int wait(Handle* handle) const { return pmpi.Wait(handle, MPI_STATUS_IGNORE); }
  int wait_some(Handle* handles, int count, int* found, int* completed, Status* statuses) const {
    const int code = pmpi.Waitsome(count, handles, found, completed, statuses);
    return code == MPI_SUCCESS ? code : error_in(statuses, count, code);
  }
  int test_some(Handle* handles, int count, int* found, int* completed, Status* statuses) const {
    const int code = pmpi.Testsome(count, handles, found, completed, statuses);
    return code == MPI_SUCCESS ? code : error_in(statuses, count, code);
  }
  /// One by one: a complete request costs almost nothing, and SMPI has no usable Waitall.
  int wait_all(Handle* handles, std::size_t count) const {
    int code = MPI_SUCCESS;
    for (std::size_t i = 0; i < count && code == MPI_SUCCESS; ++i)
      if (handles[i] != none_) code = wait(&handles[i]);
    return code;
  }

  int progress() const {
    int found = 0;
    return pmpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
  }

  int cancel(Handle* handle) const {
    const int code = pmpi.Cancel(handle);
    return code == MPI_SUCCESS ? wait(handle) : code;
  }
  /// Cancels receives and frees sends.
  void abandon(Handle* handles, std::size_t count) const;

  /// Prepares statuses, once before wait_some() and test_some(): an MPI writes errors only if there are any.
  static void prepare(Status* statuses, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
  }

 private:
  /// The code returned by Waitsome or Testsome or, if that is MPI_ERR_IN_STATUS, the error of the failed
  /// message.
  static int error_in(const Status* statuses, int count, int code);

  MPI_Comm comm_{};
  MPI_Datatype
      byte_{};  // the MPI's handles, cached here: in a short call every touched page of memory is noticeable
  Handle none_{};
};

static_assert(MessageTransport<const PointToPoint>);

}  // namespace convene::transport
