// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric.hpp"

#include <sched.h>

#include <array>
#include <utility>

namespace convene::transport {
namespace {

constexpr std::array<Piece, 1> nothing{};

}  // namespace

Fabric::Fabric(FabricEndpoint& endpoint, const std::vector<Place>& places, int rank, MPI_Comm comm)
    : PolledTransport(comm), endpoint_(endpoint), rank_(rank), peers_(places.size()) {
  for (std::size_t i = 0; i < places.size(); ++i) peers_[i].place = places[i];
}

/// Credits that are on their way arrive later.
Fabric::~Fabric() {
  for (Peer& peer : peers_)
    for (Handle& handle : peer.returns) endpoint_.detach(&handle);
  endpoint_.drop_inbox(inbox_);
}

std::uint64_t Fabric::tag_of(const Place& to, int source, int tag) {
  return (std::uint64_t{to.channel} << (rank_bits + tag_bits)) |
         (static_cast<std::uint64_t>(source) << tag_bits) | static_cast<std::uint64_t>(tag);
}

std::uint64_t Fabric::tag_of_credit(const Place& to, int source) {
  return is_control | tag_of(to, source, 0);
}

int Fabric::post_send_of(std::span<const Piece> pieces, int rank, int tag, Handle* handle) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peer_of(rank);
  if (!peer.has_credit())
    if (const int code = take_credits(peer); code != MPI_SUCCESS) return code;
  const bool is_held = !peer.has_credit() || !peer.held.empty();
  const int code =
      endpoint_.post_send(pieces, peer.place.peer, tag_of(peer.place, rank_, tag), handle, is_held);
  if (code != 0) return code_of(code);
  if (!is_held) return note_sent(peer);
  if (peer.held.empty()) starved_.push_back(&peer);
  peer.held.push_back(*handle);
  return MPI_SUCCESS;
}

int Fabric::post_receive_of(std::span<const Piece> pieces, int rank, int tag, Handle* handle) {
  const std::uint64_t from = tag_of(own_place(), rank, tag);
  return code_of(endpoint_.post_receive(pieces, from, handle, &inbox_, static_cast<std::uint32_t>(rank)));
}

/// The last message of a credit has been posted: its return is received.
int Fabric::note_sent(Peer& peer) {
  if (++peer.sent % messages_per_credit != 0) return MPI_SUCCESS;
  const int rank = static_cast<int>(&peer - peers_.data());
  Handle handle = none();
  const int code = endpoint_.post_receive(nothing, tag_of_credit(own_place(), rank), &handle);
  if (code == 0) peer.returns.push_back(handle);
  return code_of(code);
}

int Fabric::note_received(Peer& peer) {
  if (++peer.received % messages_per_credit != 0) return MPI_SUCCESS;
  Handle handle = none();
  const int code = endpoint_.post_send(nothing, peer.place.peer, tag_of_credit(peer.place, rank_), &handle);
  if (code == 0) endpoint_.detach(&handle, &inbox_);
  return code_of(code);
}

int Fabric::take_credits(Peer& peer) {
  FabricEndpoint::Completion completion{};
  while (!peer.returns.empty() && endpoint_.finish(&peer.returns.front(), &completion)) {
    peer.returns.pop_front();
    if (completion.code != 0) return code_of(completion.code);
  }
  while (!peer.held.empty() && peer.has_credit()) {
    endpoint_.release(peer.held.front());
    peer.held.pop_front();
    if (const int code = note_sent(peer); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Fabric::exchange_credits() {
  const std::lock_guard lock(mutex_);
  endpoint_.take_words(inbox_, sources_);
  for (const std::uint32_t source : sources_)
    if (const int code = note_received(peers_[source]); code != MPI_SUCCESS) return code;
  for (Peer* const peer : starved_)
    if (const int code = take_credits(*peer); code != MPI_SUCCESS) return code;
  std::erase_if(starved_, [](const Peer* peer) { return peer->held.empty(); });
  return MPI_SUCCESS;
}

void Fabric::forget(Handle handle) {
  const std::lock_guard lock(mutex_);
  for (Peer* const peer : starved_) std::erase(peer->held, handle);
  std::erase_if(starved_, [](const Peer* peer) { return peer->held.empty(); });
}

bool Fabric::finish(Handle* handle, int* code) {
  FabricEndpoint::Completion completion{};
  if (!endpoint_.finish(handle, &completion)) return false;
  *code = code_of(completion.code);
  if (*code == MPI_SUCCESS && inbox_.has_words.load(std::memory_order_acquire)) *code = exchange_credits();
  return true;
}

int Fabric::post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return post_send_of(pieces, peer, tag, handle);
}

int Fabric::post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return post_receive_of(pieces, peer, tag, handle);
}

int Fabric::post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) {
  return post_send_of(pieces, peer, tag, handle);
}

int Fabric::post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) {
  return post_receive_of(pieces, peer, tag, handle);
}

int Fabric::post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  const Place& to = peer_of(peer).place;
  return code_of(endpoint_.post_send(pieces, to.peer, tag_of(to, any_rank, tag), handle));
}

int Fabric::post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return code_of(endpoint_.post_receive(pieces, tag_of(own_place(), any_rank, tag), handle));
}

int Fabric::advance() {
  const int failure = inbox_.failure.load(std::memory_order_relaxed);
  return failure == 0 ? exchange_credits() : code_of(failure);
}

int Fabric::poll() {
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  if (const int code = advance(); code != MPI_SUCCESS) return code;
  return poll_mpi_at_times();
}

int Fabric::progress() {
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  if (const int code = advance(); code != MPI_SUCCESS) return code;
  return poll_mpi();
}

int Fabric::cancel(Handle* handle) {
  if (*handle == none()) return MPI_SUCCESS;
  forget(*handle);
  if (const int code = endpoint_.cancel(*handle); code != 0) return code_of(code);
  FabricEndpoint::Completion completion{};
  while (!endpoint_.finish(handle, &completion)) {
    if (const int code = poll(); code != MPI_SUCCESS) return code;
    sched_yield();  // there may be more processes than cores
  }
  return completion.code == FabricEndpoint::cancelled ? MPI_SUCCESS : code_of(completion.code);
}

void Fabric::abandon(Handle* handles, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (handles[i] == none()) continue;
    forget(handles[i]);
    endpoint_.leave(&handles[i]);
  }
}

}  // namespace convene::transport
