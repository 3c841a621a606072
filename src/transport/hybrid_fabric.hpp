// SPDX-License-Identifier: BSD-3-Clause
// Hybrid fabric: tagged messages up to a size (transport/fabric.hpp), and longer messages by rendezvous:
// the receive's address and key, then a put into its memory with a notification (transport/fabric_link.hpp).
//
// Choice: each side chooses by the bytes of its own half. A message of a schedule has the same number of
// bytes at its sender and its receiver, so both choose alike without negotiation. A receive on the other
// side of the limit than its message is an error of the program, and waits.
//
// Order: messages of two ranks with the same tag are the same sequence on both sides. Those of a protocol
// are the same part of it on both sides, and each protocol keeps the order of its messages.
//
// Limits: tagged messages ahead need credit as in Fabric. Of a link, only its introduction is a tagged
// message. Rings hold envelopes only, 4 KiB a link.
//
// Ranks that leave: as in both protocols. A tagged message may be complete while envelopes of a link wait:
// they return credit, which the other rank needs only for messages that this one has yet to receive.
//
// Threads: each protocol has its lock, and no lock is held across both.
#pragma once

#include <memory>
#include <vector>

#include "transport/fabric.hpp"
#include "transport/fabric_protocol.hpp"
#include "transport/notified_fabric.hpp"

namespace convene::transport {

class HybridFabric final : public PolledTransport {
 public:
  using Place = Fabric::Place;

  /// `places`: by rank. `comm`: its messages progress while a wait polls; may be MPI_COMM_NULL.
  /// `most_tagged`: bytes of the longest tagged message. `patience_ns`: as in NotifiedFabric.
  HybridFabric(FabricEndpoint& endpoint, const std::vector<Place>& places, int rank, MPI_Comm comm,
               std::size_t most_tagged, std::uint64_t patience_ns = NotifiedFabric::default_patience_ns);
  /// Registers memory for notices. Returns 0 or an error; nothing may be posted before.
  int open() { return puts_.open(); }

  Capabilities capabilities() const override { return tagged_.capabilities(); }
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

 private:
  /// The protocol of messages of so many bytes.
  Transport& of(std::size_t bytes);
  Transport& of(std::span<const Piece> pieces);
  int advance();
  bool finish(Handle* handle, int* code) override;
  int poll() override;

  FabricEndpoint& endpoint_;
  const std::size_t most_tagged_;
  Fabric tagged_;
  NotifiedFabric puts_;
};

/// The transport of a protocol; null if the provider registers no memory for notices. `places`, `comm`,
/// `patience_ns`: as in HybridFabric.
std::unique_ptr<Transport> make_fabric(const FabricProtocol& protocol, FabricEndpoint& endpoint,
                                       const std::vector<Fabric::Place>& places, int rank, MPI_Comm comm,
                                       std::uint64_t patience_ns = NotifiedFabric::default_patience_ns);

}  // namespace convene::transport
