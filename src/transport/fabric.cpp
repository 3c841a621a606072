// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric.hpp"

#include <sched.h>

#include <array>
#include <utility>

namespace convene::transport {
namespace {

std::byte* bytes_at(const void* at) { return static_cast<std::byte*>(const_cast<void*>(at)); }

/// Lets other processes run, if there are more than cores. `polls`: of a wait, without a result.
void yield_now_and_then(unsigned polls) {
  constexpr unsigned between_yields = 64;
  if (polls % between_yields == 0) sched_yield();
}

}  // namespace

Fabric::Fabric(FabricEndpoint& endpoint, std::vector<FabricEndpoint::Peer> peers, int rank,
               std::uint32_t channel, MPI_Comm comm)
    : endpoint_(endpoint), peers_(std::move(peers)), rank_(rank), channel_(channel), comm_(comm) {}

std::uint64_t Fabric::tag_from(int source, int tag) const {
  return (std::uint64_t{channel_} << (rank_bits + tag_bits)) |
         (static_cast<std::uint64_t>(source) << tag_bits) | static_cast<std::uint64_t>(tag);
}

int Fabric::code_of(int result) const {
  if (result == 0) return MPI_SUCCESS;
  return result == FabricEndpoint::truncated ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

int Fabric::post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return code_of(
      endpoint_.post_send(pieces, peers_[static_cast<std::size_t>(peer)], tag_from(rank_, tag), handle));
}

int Fabric::post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return code_of(endpoint_.post_receive(pieces, tag_from(peer, tag), 0, handle));
}

int Fabric::post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) {
  return code_of(
      endpoint_.post_send(pieces, peers_[static_cast<std::size_t>(peer)], tag_from(rank_, tag), handle));
}

int Fabric::post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) {
  return code_of(endpoint_.post_receive(pieces, tag_from(peer, tag), 0, handle));
}

int Fabric::post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  return post_send(at, bytes, peer, tag, handle);
}

int Fabric::post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) {
  constexpr std::uint64_t any_source = ((std::uint64_t{1} << rank_bits) - 1) << tag_bits;
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return code_of(endpoint_.post_receive(pieces, tag_from(0, tag), any_source, handle));
}

int Fabric::send(const Outgoing& message) {
  Handle handle = none();
  const int code = post_send(message.at, message.bytes, message.peer, message.tag, &handle);
  return code == MPI_SUCCESS ? wait(&handle) : code;
}

int Fabric::receive(const Incoming& message) {
  Handle handle = none();
  const int code = post_receive(message.at, message.bytes, message.peer, message.tag, &handle);
  return code == MPI_SUCCESS ? wait(&handle) : code;
}

int Fabric::exchange(const Outgoing& out, const Incoming& in) {
  std::array<Handle, 2> handles{none(), none()};
  int code = post_receive(in.at, in.bytes, in.peer, in.tag, &handles[0]);
  if (code == MPI_SUCCESS) code = post_send(out.at, out.bytes, out.peer, out.tag, &handles[1]);
  if (code == MPI_SUCCESS) code = wait_all(handles.data(), handles.size());
  if (code != MPI_SUCCESS) abandon(handles.data(), handles.size());
  return code;
}

int Fabric::poll_mpi() const {
  int found = 0;
  return comm_ == MPI_COMM_NULL ? MPI_SUCCESS
                                : pmpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
}

int Fabric::poll() {
  constexpr unsigned between_looks = 16;
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  return ++polls_ % between_looks == 0 ? poll_mpi() : static_cast<int>(MPI_SUCCESS);
}

int Fabric::test(Handle* handle, bool* is_complete) {
  *is_complete = true;
  if (*handle == none()) return MPI_SUCCESS;
  int code = poll();
  if (code != MPI_SUCCESS) return code;
  *is_complete = endpoint_.finish(handle, &code);
  return code_of(code);
}

int Fabric::wait(Handle* handle) {
  for (unsigned polls = 1;; ++polls) {
    bool is_complete = false;
    const int code = test(handle, &is_complete);
    if (is_complete || code != MPI_SUCCESS) return code;
    yield_now_and_then(polls);
  }
}

int Fabric::test_some(Handle* handles, int count, int* found, int* completed, Status*) {
  *found = 0;
  if (const int code = poll(); code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == none()) continue;
    int code = 0;
    if (!endpoint_.finish(&handles[i], &code)) continue;
    if (code != 0) return code_of(code);
    completed[(*found)++] = i;
  }
  return MPI_SUCCESS;
}

int Fabric::wait_some(Handle* handles, int count, int* found, int* completed, Status* statuses) {
  for (unsigned polls = 1;; ++polls) {
    const int code = test_some(handles, count, found, completed, statuses);
    if (code != MPI_SUCCESS || *found > 0) return code;
    yield_now_and_then(polls);
  }
}

int Fabric::wait_all(Handle* handles, std::size_t count) {
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < count && code == MPI_SUCCESS; ++i)
    if (handles[i] != none()) code = wait(&handles[i]);
  return code;
}

int Fabric::progress() {
  const int code = endpoint_.progress();
  return code == 0 ? poll_mpi() : code_of(code);
}

int Fabric::cancel(Handle* handle) {
  if (*handle == none()) return MPI_SUCCESS;
  if (const int code = endpoint_.cancel(*handle); code != 0) return code_of(code);
  int result = 0;
  for (unsigned polls = 1; !endpoint_.finish(handle, &result); ++polls) {
    if (const int code = poll(); code != MPI_SUCCESS) return code;
    yield_now_and_then(polls);
  }
  return result == FabricEndpoint::cancelled ? MPI_SUCCESS : code_of(result);
}

void Fabric::abandon(Handle* handles, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (handles[i] != none()) endpoint_.leave(&handles[i]);
}

}  // namespace convene::transport
