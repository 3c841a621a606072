// SPDX-License-Identifier: BSD-3-Clause
// Fabric transport: messages of one communicator as tagged messages of libfabric, matched by
//
//   tag = (credit, 1 bit) (channel, 19 bits) (source rank, 20 bits) (tag, 24 bits)
//
// Receives match all 64 bits: `shm` of libfabric 1.17 ignores no bits of a message that came before its
// receive. So notices, which are received from any rank, have the source `any_rank`; what they carry names
// the sender. Every message of Convene's own (credits, introductions, notices) has the length of its receive:
// `tcp` before libfabric 1.18.1 ends the connection after a longer one.
//
// The channel separates communicators: each process has a number of its own for each communicator, which the
// others send to. (A common number would have to be unique in all processes, whose threads may set up several
// communicators at a time.)
//
// Credits: a rank that runs ahead must not fill the memory of another, nor stop its connection: `tcp` of
// libfabric 1.18 and later buffers 64 messages of a peer that came before their receive, and then reads no
// more from it. A rank sends at most `credits` times `messages_per_credit` messages ahead, which leaves room
// for notices. After `messages_per_credit` receives from a rank, an empty message returns one credit to it.
// (They count when they are complete, not when the caller tests them: it may wait for a later one first.) A
// send without credit is held, and its call does not wait. Notices are few, and need none.
//
// Threads: a blocking call may run beside an operation of the same communicator that the background thread
// advances. A lock guards the credits. It is held across no call of the MPI, inside which operations advance,
// too; the endpoint's lock may be taken under it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/fabric_endpoint.hpp"
#include "transport/polled_transport.hpp"

namespace convene::transport {

class Fabric final : public PolledTransport {
 public:
  static constexpr int channel_bits = 19, rank_bits = 20, tag_bits = 24;
  static constexpr std::uint32_t messages_per_credit = 16, credits = 3;
  static constexpr int highest_tag = (1 << tag_bits) - 1;
  static constexpr int any_rank = (1 << rank_bits) - 1;  ///< source of notices; no rank has this number
  static constexpr std::uint64_t is_control = std::uint64_t{1} << 63;  // these overtake messages

  /// A process of the communicator.
  struct Place {
    FabricEndpoint::Peer peer = 0;  ///< of the endpoint
    std::uint32_t channel = 0;      ///< of its transport
  };

  /// `places`: by rank. `comm`: its messages progress while a wait polls; may be MPI_COMM_NULL.
  Fabric(FabricEndpoint& endpoint, const std::vector<Place>& places, int rank, MPI_Comm comm);
  ~Fabric() override;

  Capabilities capabilities() const override { return {.shared_memory = true, .pack_below = pack_below}; }
  int connect(const Schedule&) override { return MPI_SUCCESS; }
  int register_memory(const Piece&, Lifetime, Registration*) override { return MPI_SUCCESS; }
  int deregister_memory(Registration) override { return MPI_SUCCESS; }

  /// The tag of a message to a place.
  static std::uint64_t tag_of(const Place& to, int source, int tag);

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
  bool finish(Handle* handle, int* code) override;
  /// Exchanges credits. Returns the error of one that could not be returned, which the other rank waits
  /// for.
  int advance();

 private:
  static constexpr std::size_t pack_below = 32 * 1024;

  /// Messages with another rank.
  struct Peer {
    Place place;
    std::uint32_t sent = 0, received = 0;
    std::deque<Handle> returns;  // receives of credits, in order
    std::deque<Handle> held;     // sends without credit, in order
    bool has_credit() const { return returns.size() < credits; }
  };

  static std::uint64_t tag_of_credit(const Place& to, int source);
  const Place& own_place() const { return peers_[static_cast<std::size_t>(rank_)].place; }
  Peer& peer_of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  int post_send_of(std::span<const Piece> pieces, int rank, int tag, Handle* handle);
  int note_sent(Peer& peer);
  int note_received(Peer& peer);
  int take_credits(Peer& peer);
  int post_receive_of(std::span<const Piece> pieces, int rank, int tag, Handle* handle);
  int exchange_credits();
  /// Removes a send that is held, if it is.
  void forget(Handle handle);
  int poll() override;

  FabricEndpoint& endpoint_;
  const int rank_;
  std::mutex mutex_;
  std::vector<Peer> peers_;
  std::vector<Peer*> starved_;   // those with sends that are held
  FabricEndpoint::Inbox inbox_;  // ranks whose messages have been received
  std::vector<std::uint32_t> sources_;
};

}  // namespace convene::transport
