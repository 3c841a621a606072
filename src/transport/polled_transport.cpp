// SPDX-License-Identifier: BSD-3-Clause
#include "transport/polled_transport.hpp"

#include <sched.h>

#include <array>

#include "transport/fabric_endpoint.hpp"

namespace convene::transport {

int PolledTransport::code_of(int result) {
  if (result == 0) return MPI_SUCCESS;
  return result == FabricEndpoint::truncated ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

int PolledTransport::send(const Outgoing& message) {
  Handle handle = none();
  const int code = post_send(message.at, message.bytes, message.peer, message.tag, &handle);
  return code == MPI_SUCCESS ? wait(&handle) : code;
}

int PolledTransport::receive(const Incoming& message) {
  Handle handle = none();
  const int code = post_receive(message.at, message.bytes, message.peer, message.tag, &handle);
  return code == MPI_SUCCESS ? wait(&handle) : code;
}

int PolledTransport::exchange(const Outgoing& out, const Incoming& in) {
  std::array<Handle, 2> handles{none(), none()};
  int code = post_receive(in.at, in.bytes, in.peer, in.tag, &handles[0]);
  if (code == MPI_SUCCESS) code = post_send(out.at, out.bytes, out.peer, out.tag, &handles[1]);
  if (code == MPI_SUCCESS) code = wait_all(handles.data(), handles.size());
  if (code != MPI_SUCCESS) abandon(handles.data(), handles.size());
  return code;
}

int PolledTransport::poll_mpi() const {
  int found = 0;
  return comm_ == MPI_COMM_NULL ? MPI_SUCCESS
                                : pmpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
}

int PolledTransport::test(Handle* handle, bool* is_complete) {
  *is_complete = true;
  if (*handle == none()) return MPI_SUCCESS;
  int code = poll();
  if (code != MPI_SUCCESS) return code;
  *is_complete = finish(handle, &code);
  return code;
}

int PolledTransport::wait(Handle* handle) {
  for (;;) {
    bool is_complete = false;
    const int code = test(handle, &is_complete);
    if (is_complete || code != MPI_SUCCESS) return code;
    sched_yield();  // there may be more processes than cores
  }
}

int PolledTransport::test_some(Handle* handles, int count, int* found, int* completed, Status*) {
  *found = 0;
  if (const int code = poll(); code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == none()) continue;
    int code = MPI_SUCCESS;
    if (!finish(&handles[i], &code)) continue;
    if (code != MPI_SUCCESS) return code;
    completed[(*found)++] = i;
  }
  return MPI_SUCCESS;
}

int PolledTransport::wait_some(Handle* handles, int count, int* found, int* completed, Status* statuses) {
  for (;;) {
    const int code = test_some(handles, count, found, completed, statuses);
    if (code != MPI_SUCCESS || *found > 0) return code;
    sched_yield();  // there may be more processes than cores
  }
}

int PolledTransport::wait_all(Handle* handles, std::size_t count) {
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < count && code == MPI_SUCCESS; ++i)
    if (handles[i] != none()) code = wait(&handles[i]);
  return code;
}

int PolledTransport::poll_mpi_at_times() {
  constexpr unsigned between_looks = 16;
  return ++polls_ % between_looks == 0 ? poll_mpi() : static_cast<int>(MPI_SUCCESS);
}

}  // namespace convene::transport
