// SPDX-License-Identifier: BSD-3-Clause
#include "transport/notified_fabric.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"

namespace convene::transport {
namespace {

constexpr int introduction_tag = 1;

}  // namespace

NotifiedFabric::NotifiedFabric(FabricEndpoint& endpoint, std::vector<Place> places, int rank, MPI_Comm comm,
                               std::uint64_t patience_ns, FabricLink::SizesOf* ring_sizes)
    : PolledTransport(comm),
      endpoint_(endpoint),
      rank_(rank),
      patience_ns_(patience_ns),
      ring_sizes_(ring_sizes),
      places_(std::move(places)),
      links_(places_.size()) {}

NotifiedFabric::~NotifiedFabric() {
  endpoint_.drop_inbox(inbox_);
  links_.clear();  // they refer to messages
  constexpr int patience = 100'000;
  FabricEndpoint::Completion completion{};
  for (Awaited& each : awaited_) {
    endpoint_.cancel(each.handle);
    for (int i = 0; i < patience && each.handle != none(); ++i)
      if (!endpoint_.finish(&each.handle, &completion) && endpoint_.progress() != 0) break;
    if (each.handle != none()) each.memory.release();  // the provider may still write to it
  }
}

int NotifiedFabric::open() { return code_of(endpoint_.open_doorbell(&doorbell_)); }

int NotifiedFabric::receive_introduction(FabricLink& link, int rank) {
  Awaited made{&link, none(), std::make_unique<FabricLink::Introduction>()};
  const std::array memory{Piece{bytes_at(made.memory.get()), sizeof *made.memory}};
  const Place& own = places_[static_cast<std::size_t>(rank_)];
  const std::uint64_t tag = Fabric::is_control | Fabric::tag_of(own, rank, introduction_tag);
  const int code = endpoint_.post_receive(memory, tag, &made.handle);
  if (code == 0) awaited_.push_back(std::move(made));
  return code;
}

FabricLink& NotifiedFabric::link_of(int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (!links_[at]) links_[at] = std::make_unique<FabricLink>(endpoint_, places_[at].peer, ring_sizes_);
  return *links_[at];
}

/// Makes this side of a link and introduces it.
int NotifiedFabric::open_link(FabricLink& link, int rank) {
  if (link.is_open()) return 0;
  if (const int code = link.open(inbox_, doorbell_, rank_); code != 0) return code;
  links_by_number_.emplace(link.introduction().number, &link);
  if (const int code = receive_introduction(link, rank); code != 0) return code;
  FabricLink::Introduction mine = link.introduction();
  const std::array memory{Piece{bytes_at(&mine), sizeof mine}};
  const Place& to = places_[static_cast<std::size_t>(rank)];
  Handle handle = none();
  const int code =
      endpoint_.post_send(memory, to.peer, Fabric::is_control | Fabric::tag_of(to, rank_, introduction_tag),
                          &handle, false, true);
  if (code == 0) endpoint_.detach(&handle, &inbox_);
  return code;
}

void NotifiedFabric::note_active(FabricLink& link) {
  if (std::find(active_.begin(), active_.end(), &link) == active_.end()) active_.push_back(&link);
}

NotifiedFabric::Message& NotifiedFabric::take() {
  if (unused_.empty()) {
    messages_.emplace_back();
    unused_.reserve(messages_.size());  // so that free() cannot fail
    unused_.push_back(&messages_.back());
  }
  Message& message = *unused_.back();
  unused_.pop_back();
  return message;
}

void NotifiedFabric::free(Message& message) {
  std::vector<Piece> pieces = std::move(message.pieces);
  pieces.clear();
  message = {};
  message.pieces = std::move(pieces);  // keeps its memory
  unused_.push_back(&message);
}

int NotifiedFabric::post(bool is_receive, std::span<const Piece> pieces, int rank, int tag, Handle* handle) {
  const std::lock_guard lock(mutex_);
  FabricLink& link = link_of(rank);
  if (const int code = open_link(link, rank); code != 0) return code_of(code);
  Message& message = take();
  message.link = &link;
  message.is_receive = is_receive;
  message.tag = static_cast<std::uint32_t>(tag);
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0) continue;
    message.pieces.push_back(piece);
    message.bytes += piece.bytes;
  }
  *handle = reinterpret_cast<Handle>(&message) | is_message;
  const int code = is_receive ? link.post_receive(message) : link.post_send(message);
  if (link.has_work()) note_active(link);
  if (code != 0) revoke(handle);
  return code_of(code);
}

bool NotifiedFabric::finish(Handle* handle, int* code) {
  FabricEndpoint::Completion completion{};
  if (!names_message(*handle)) {
    if (!endpoint_.finish(handle, &completion)) return false;
    *code = code_of(completion.code);
    return true;
  }
  const std::lock_guard lock(mutex_);
  Message& message = message_of(*handle);
  if (message.link->has_unsent()) return false;
  if (!message.is_complete) {
    if (message.put == none() || message.needs_notice) return false;
    if (!endpoint_.finish(&message.put, &completion)) return false;
    message.code = completion.code;
  }
  *code = code_of(message.code);
  free(message);
  *handle = none();
  return true;
}

int NotifiedFabric::take_introductions() {
  int code = 0;
  std::erase_if(awaited_, [&](Awaited& each) {
    FabricEndpoint::Completion completion{};
    if (!endpoint_.finish(&each.handle, &completion)) return false;
    if (completion.code != 0) code = completion.code;
    each.link->connect(*each.memory);
    note_active(*each.link);
    return true;
  });
  return code;
}

int NotifiedFabric::handle_words() {
  constexpr std::uint32_t own_bits = (1u << FabricEndpoint::link_shift) - 1;
  endpoint_.take_words(inbox_, words_);
  for (const std::uint32_t word : words_) {
    const auto found = links_by_number_.find(word >> FabricEndpoint::link_shift);
    if (found == links_by_number_.end()) return FabricEndpoint::broken;
    note_active(*found->second);
    if (const int code = found->second->handle(word & own_bits); code != 0) return code;
  }
  return 0;
}

int NotifiedFabric::poll_links() {
  const std::lock_guard lock(mutex_);
  if (const int code = take_introductions(); code != 0) return code;
  if (const int code = handle_words(); code != 0) return code;
  for (FabricLink* const link : active_)
    if (const int code = link->advance(); code != 0) return code;
  std::erase_if(active_, [](const FabricLink* link) { return !link->has_work(); });
  return 0;
}

int NotifiedFabric::advance() {
  const int failure = inbox_.failure.load(std::memory_order_relaxed);
  return code_of(failure == 0 ? poll_links() : failure);
}

int NotifiedFabric::poll() {
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  if (const int code = advance(); code != MPI_SUCCESS) return code;
  return poll_mpi_at_times();
}

int NotifiedFabric::progress() {
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  if (const int code = advance(); code != MPI_SUCCESS) return code;
  return poll_mpi();
}

int NotifiedFabric::post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return post(false, pieces, peer, tag, handle);
}

int NotifiedFabric::post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  return post(true, pieces, peer, tag, handle);
}

int NotifiedFabric::post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&,
                                     Handle* handle) {
  return post(false, pieces, peer, tag, handle);
}

int NotifiedFabric::post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&,
                                        Handle* handle) {
  return post(true, pieces, peer, tag, handle);
}

int NotifiedFabric::post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  const Place& to = places_[static_cast<std::size_t>(peer)];
  return code_of(endpoint_.post_send(pieces, to.peer, Fabric::tag_of(to, Fabric::any_rank, tag), handle));
}

int NotifiedFabric::post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) {
  const std::array pieces{Piece{bytes_at(at), bytes}};
  const Place& own = places_[static_cast<std::size_t>(rank_)];
  return code_of(endpoint_.post_receive(pieces, Fabric::tag_of(own, Fabric::any_rank, tag), handle));
}

/// True if the message has ended, or can be ended, without another rank. Then its handle is none.
bool NotifiedFabric::end(Handle* handle) {
  Message& message = message_of(*handle);
  const bool is_over = message.is_complete || message.link->withdraw(message);
  if (message.link->has_work()) note_active(*message.link);
  if (is_over) free(message);
  if (is_over) *handle = none();
  return is_over;
}

/// Ends a message now. One that its link still needs is freed with this object.
void NotifiedFabric::revoke(Handle* handle) {
  if (end(handle)) return;
  Message& message = message_of(*handle);
  *handle = none();
  if (message.link->revoke(message)) free(message);
}

/// Ends messages. Awaits the answers of other ranks, which may not progress, for a limited time.
void NotifiedFabric::end_all(std::span<Handle> handles) {
  const std::uint64_t until = base::monotonic_ns() + patience_ns_;
  const auto for_all = [&](auto&& function) {
    const std::lock_guard lock(mutex_);
    for (Handle& handle : handles)
      if (names_message(handle)) function(&handle);
  };
  for (bool has_patience = true;; sched_yield()) {
    bool are_over = true;
    for_all([&](Handle* handle) { are_over = end(handle) && are_over; });
    if (are_over) return;
    if (!has_patience) break;
    has_patience = poll() == MPI_SUCCESS && base::monotonic_ns() < until;
  }
  for_all([&](Handle* handle) { revoke(handle); });
}

int NotifiedFabric::cancel(Handle* handle) {
  if (*handle == none()) return MPI_SUCCESS;
  if (names_message(*handle)) {
    end_all({handle, 1});
    return MPI_SUCCESS;
  }
  if (const int code = endpoint_.cancel(*handle); code != 0) return code_of(code);
  FabricEndpoint::Completion completion{};
  while (!endpoint_.finish(handle, &completion)) {
    if (const int code = poll(); code != MPI_SUCCESS) return code;
    sched_yield();  // there may be more processes than cores
  }
  return completion.code == FabricEndpoint::cancelled ? MPI_SUCCESS : code_of(completion.code);
}

void NotifiedFabric::abandon(Handle* handles, std::size_t count) {
  end_all({handles, count});
  for (std::size_t i = 0; i < count; ++i)
    if (handles[i] != none()) endpoint_.leave(&handles[i]);
}

}  // namespace convene::transport
