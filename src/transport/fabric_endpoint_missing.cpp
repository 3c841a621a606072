// SPDX-License-Identifier: BSD-3-Clause
// The endpoint where the library is built without the headers of libfabric: none can be opened.
#include "transport/fabric_endpoint.hpp"

#if !__has_include(<rdma/fi_tagged.h>)
namespace convene::transport {

struct FabricEndpoint::Objects {};
struct FabricEndpoint::Operation {};

std::unique_ptr<FabricEndpoint> FabricEndpoint::open(const std::string&, const std::string&,
                                                     std::string& why_not, bool) {
  why_not = "this library was built without the headers of libfabric";
  return nullptr;
}
FabricEndpoint::~FabricEndpoint() = default;
int FabricEndpoint::add_peer(std::span<const std::byte>, Peer*) { return -1; }
int FabricEndpoint::post_send(std::span<const Piece>, Peer, std::uint64_t, Handle*, bool, bool) { return -1; }
int FabricEndpoint::post_receive(std::span<const Piece>, std::uint64_t, Handle*, Inbox*, std::uint32_t) {
  return -1;
}
int FabricEndpoint::register_memory(const Piece&, Region*) { return -1; }
int FabricEndpoint::open_doorbell(Target*) { return -1; }
void FabricEndpoint::deregister(Region&) {}
int FabricEndpoint::post_put(const Put&, Handle*) { return -1; }
std::int64_t FabricEndpoint::add_link(Inbox&) { return -1; }
void FabricEndpoint::drop_inbox(const Inbox&) {}
bool FabricEndpoint::take_idle_ring(Peer, Ring*) { return false; }
void FabricEndpoint::return_ring(Peer, Ring) {}
void FabricEndpoint::close_memory() {}
void FabricEndpoint::take_words(Inbox&, std::vector<std::uint32_t>&) {}
int FabricEndpoint::progress() { return -1; }
bool FabricEndpoint::finish(Handle*, Completion*) { return false; }
void FabricEndpoint::release(Handle) {}
void FabricEndpoint::detach(Handle*, Inbox*) {}
int FabricEndpoint::cancel(Handle) { return -1; }
void FabricEndpoint::leave(Handle*) {}
std::size_t FabricEndpoint::pending() const { return 0; }
std::string FabricEndpoint::text_of(int) const { return "unknown"; }

}  // namespace convene::transport

#endif
