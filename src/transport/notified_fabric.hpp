// SPDX-License-Identifier: BSD-3-Clause
// Notified fabric: messages of one communicator by puts with notification (transport/fabric_link.hpp).
//
// Links: one for each rank that messages are exchanged with, made when the first one is posted. Each side
// then sends an introduction, a tagged message that names its ring, and receives that of the other side.
// Messages wait until it has arrived. (They can: the other rank posts the other half of the message.) Notices
// to be received from any rank are tagged messages.
//
// Words of all links come in one inbox. Whoever polls handles them, advances the links that they named, and
// those that could not put everything before.
//
// Threads: a blocking call may run beside an operation of the same communicator that the background thread
// advances. A lock guards links and messages. It is held across no call of the MPI; the endpoint's lock may
// be taken under it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "transport/fabric.hpp"
#include "transport/fabric_link.hpp"

namespace convene::transport {

class NotifiedFabric final : public PolledTransport {
 public:
  using Place = Fabric::Place;
  static constexpr std::uint64_t default_patience_ns = 1'000'000'000;

  /// `places`: by rank. `comm`: its messages progress while a wait polls; may be MPI_COMM_NULL.
  /// `patience_ns`: of a cancelled receive, for an answer of the sender. `ring_sizes`: of the links.
  NotifiedFabric(FabricEndpoint& endpoint, std::vector<Place> places, int rank, MPI_Comm comm,
                 std::uint64_t patience_ns = default_patience_ns,
                 FabricLink::SizesOf* ring_sizes = FabricLink::sizes_of);
  ~NotifiedFabric() override;
  /// Registers memory for notices. Returns 0 or an error; nothing may be posted before.
  int open();

  Capabilities capabilities() const override { return {.shared_memory = true, .pack_below = pack_below}; }
  int connect(const Schedule&) override { return MPI_SUCCESS; }
  int register_memory(const Piece&, Lifetime, Registration*) override { return MPI_SUCCESS; }
  int deregister_memory(Registration) override { return MPI_SUCCESS; }

  int post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) override;
  int post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) override;
  int post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                       Handle* handle) override;
  int post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                          Handle* handle) override;
  int post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) override;
  int post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) override;

  int progress() override;
  int cancel(Handle* handle) override;
  void abandon(Handle* handles, std::size_t count) override;
  int close() override { return MPI_SUCCESS; }

  // For a transport that polls the endpoint itself.
  static bool names_message(Handle handle) { return (handle & is_message) != 0; }
  bool finish(Handle* handle, int* code) override;
  /// Advances links. Returns the error of an introduction that could not be sent, which the other rank
  /// waits for.
  int advance();

 private:
  using Message = NotifiedMessage;
  static constexpr std::size_t pack_below = 32 * 1024;

  /// An introduction that has not arrived.
  struct Awaited {
    FabricLink* link = nullptr;
    Handle handle = none();
    std::unique_ptr<FabricLink::Introduction> memory;
  };

  /// A handle is a message's address and this bit, or the endpoint's.
  static constexpr Handle is_message = 1;
  static Message& message_of(Handle handle) { return *reinterpret_cast<Message*>(handle & ~is_message); }

  void end_all(std::span<Handle> handles);
  int post(bool is_receive, std::span<const Piece> pieces, int rank, int tag, Handle* handle);
  int poll() override;
  // The functions below require the lock.
  FabricLink& link_of(int rank);
  int open_link(FabricLink& link, int rank);
  void note_active(FabricLink& link);
  Message& take();
  void free(Message& message);
  bool end(Handle* handle);
  void revoke(Handle* handle);
  int receive_introduction(FabricLink& link, int rank);
  int take_introductions();
  int handle_words();
  int poll_links();

  FabricEndpoint& endpoint_;
  const int rank_;
  const std::uint64_t patience_ns_;
  FabricLink::SizesOf* const ring_sizes_;
  const std::vector<Place> places_;
  FabricEndpoint::Target doorbell_;
  FabricEndpoint::Inbox inbox_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FabricLink>> links_;  // by rank; null: not used yet
  std::unordered_map<std::uint32_t, FabricLink*> links_by_number_;
  std::vector<FabricLink*> active_;  // those that words have named, or that have work
  std::vector<std::uint32_t> words_;
  std::vector<Awaited> awaited_;
  std::deque<Message> messages_;
  std::vector<Message*> unused_;
};

}  // namespace convene::transport
