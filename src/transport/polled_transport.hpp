// SPDX-License-Identifier: BSD-3-Clause
// Polled transport: base of the transports over an endpoint, whose tests and waits poll it.
//
// Every 16th poll of all calls together also progresses the MPI, since other ranks may depend on messages of
// the MPI that only this rank's progress completes. (Counted within each wait, short waits would starve it.)
#pragma once

#include <atomic>

#include "mpi/functions.hpp"
#include "transport/transport.hpp"

namespace convene::transport {

class PolledTransport : public Transport {
 public:
  int send(const Outgoing& message) override;
  int receive(const Incoming& message) override;
  int exchange(const Outgoing& out, const Incoming& in) override;

  int test(Handle* handle, bool* is_complete) override;
  int wait(Handle* handle) override;
  int wait_some(Handle* handles, int count, int* found, int* completed, Status* statuses) override;
  int test_some(Handle* handles, int count, int* found, int* completed, Status* statuses) override;
  int wait_all(Handle* handles, std::size_t count) override;

 protected:
  /// `comm`: its messages progress while a wait polls; may be MPI_COMM_NULL.
  explicit PolledTransport(MPI_Comm comm) : comm_(comm) {}

  /// True if an operation is complete; then its handle is none(). `*code`: its result.
  virtual bool finish(Handle* handle, int* code) = 0;
  /// Polls the endpoint and, at times, the MPI.
  virtual int poll() = 0;

  int poll_mpi() const;
  int poll_mpi_at_times();
  /// The MPI's code of a result of the endpoint.
  static int code_of(int result);
  static std::byte* bytes_at(const void* at) { return static_cast<std::byte*>(const_cast<void*>(at)); }

 private:
  const MPI_Comm comm_;
  std::atomic<unsigned> polls_ = 0;
};

}  // namespace convene::transport
