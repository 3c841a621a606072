// SPDX-License-Identifier: BSD-3-Clause
#include "transport/hybrid_fabric.hpp"

namespace convene::transport {

HybridFabric::HybridFabric(FabricEndpoint& endpoint, const std::vector<Place>& places, int rank,
                           MPI_Comm comm, std::size_t most_tagged, std::uint64_t patience_ns)
    : PolledTransport(comm),
      endpoint_(endpoint),
      most_tagged_(most_tagged),
      tagged_(endpoint, places, rank, comm),
      puts_(endpoint, places, rank, comm, patience_ns, FabricLink::sizes_of_envelopes) {}

Transport& HybridFabric::of(std::size_t bytes) {
  if (bytes <= most_tagged_) return tagged_;
  return puts_;
}

Transport& HybridFabric::of(std::span<const Piece> pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  return of(bytes);
}

int HybridFabric::post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  return of(bytes).post_send(at, bytes, peer, tag, handle);
}

int HybridFabric::post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  return of(bytes).post_receive(at, bytes, peer, tag, handle);
}

int HybridFabric::post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                                   Handle* handle) {
  return of(pieces).post_send_pieces(pieces, peer, tag, arena, handle);
}

int HybridFabric::post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                                      Handle* handle) {
  return of(pieces).post_receive_pieces(pieces, peer, tag, arena, handle);
}

int HybridFabric::post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) {
  return tagged_.post_notice(at, bytes, peer, tag, handle);
}

int HybridFabric::post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) {
  return tagged_.post_notice_receive(at, bytes, tag, handle);
}

bool HybridFabric::finish(Handle* handle, int* code) {
  return NotifiedFabric::names_message(*handle) ? puts_.finish(handle, code) : tagged_.finish(handle, code);
}

int HybridFabric::advance() {
  if (const int code = endpoint_.progress(); code != 0) return code_of(code);
  if (const int code = tagged_.advance(); code != MPI_SUCCESS) return code;
  return puts_.advance();
}

int HybridFabric::poll() {
  const int code = advance();
  return code == MPI_SUCCESS ? poll_mpi_at_times() : code;
}

int HybridFabric::progress() {
  const int code = advance();
  return code == MPI_SUCCESS ? poll_mpi() : code;
}

int HybridFabric::cancel(Handle* handle) {
  return NotifiedFabric::names_message(*handle) ? puts_.cancel(handle) : tagged_.cancel(handle);
}

void HybridFabric::abandon(Handle* handles, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!NotifiedFabric::names_message(handles[i])) tagged_.abandon(&handles[i], 1);
  puts_.abandon(handles, count);
}

std::unique_ptr<Transport> make_fabric(const FabricProtocol& protocol, FabricEndpoint& endpoint,
                                       const std::vector<Fabric::Place>& places, int rank, MPI_Comm comm,
                                       std::uint64_t patience_ns) {
  const auto opened = [](auto made) -> std::unique_ptr<Transport> {
    if (made->open() != MPI_SUCCESS) return nullptr;
    return made;
  };
  switch (protocol.kind) {
    case FabricProtocol::Kind::notified:
      return opened(std::make_unique<NotifiedFabric>(endpoint, places, rank, comm, patience_ns));
    case FabricProtocol::Kind::hybrid:
      return opened(
          std::make_unique<HybridFabric>(endpoint, places, rank, comm, protocol.most_tagged, patience_ns));
    case FabricProtocol::Kind::tagged:
      break;
  }
  return std::make_unique<Fabric>(endpoint, places, rank, comm);
}

}  // namespace convene::transport
