// SPDX-License-Identifier: BSD-3-Clause
// Puts with notification of the endpoint: registered memory, writes, and the words that announce them.
//
// Traits of a provider, read when it is opened: whether it names memory by virtual addresses or by offsets,
// and whether it chooses the keys (mr_mode). Providers that require more (registered memory at the source,
// regions bound to an endpoint), or carry fewer than 4 bytes of completion data, are not offered puts.
#include "transport/fabric_endpoint.hpp"

#if __has_include(<rdma/fi_tagged.h>)  // else fabric_endpoint_missing.cpp
#include <rdma/fi_rma.h>

#include <algorithm>

#include "transport/fabric_endpoint_parts.hpp"

namespace convene::transport {
namespace {

constexpr std::uint64_t put_order = std::uint64_t{1} << 63;  // puts keep their order apart from messages

}  // namespace

void hint_puts(fi_info& hints) {
  hints.caps |= FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  hints.domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
}

bool has_puts(const fi_info& info) {
  constexpr int supported = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  return info.domain_attr->cq_data_size >= sizeof(std::uint32_t) &&
         (info.domain_attr->mr_mode & ~supported) == 0 && info.tx_attr->iov_limit >= 2;
}

void FabricEndpoint::Objects::set_puts(const fi_info& info) {
  constexpr std::uint64_t levels = FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
  most_put_pieces = std::min<std::size_t>(info.tx_attr->iov_limit, most_iovecs);
  put_flags = info.tx_attr->op_flags & levels;
  has_addresses = (info.domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  makes_keys = (info.domain_attr->mr_mode & FI_MR_PROV_KEY) != 0;
}

/// A put without a notice is complete when its bytes are in place: the notice that follows may overtake it.
long FabricEndpoint::Objects::put(Operation& operation) const {
  fi_rma_iov to{};
  to.addr = operation.to.at;
  to.key = operation.to.key;
  for (std::size_t i = 0; i < operation.count; ++i) to.len += operation.parts[i].iov_len;
  fi_msg_rma message{};
  message.msg_iov = operation.parts.data();
  message.iov_count = operation.count;
  message.addr = operation.peer;
  message.rma_iov = &to;
  message.rma_iov_count = 1;
  message.context = &operation;
  message.data = operation.word;
  const std::uint64_t flags = operation.notifies ? put_flags | FI_REMOTE_CQ_DATA : FI_DELIVERY_COMPLETE;
  return fi_writemsg(endpoint.get(), &message, FI_COMPLETION | flags);
}

int FabricEndpoint::register_memory(const Piece& memory, Region* made) {
  const std::lock_guard lock(mutex_);
  fid_mr* region = nullptr;
  const std::uint64_t key = objects_->makes_keys ? 0 : objects_->next_key++;
  const int code = fi_mr_reg(objects_->domain.get(), memory.at, memory.bytes, FI_REMOTE_WRITE, 0, key, 0,
                             &region, nullptr);
  if (code != 0) return code;
  made->object = region;
  made->target = {objects_->has_addresses ? reinterpret_cast<std::uint64_t>(memory.at) : 0,
                  fi_mr_key(region)};
  return 0;
}

void FabricEndpoint::deregister(Region& region) {
  const std::lock_guard lock(mutex_);
  if (region.object) fi_close(&static_cast<fid_mr*>(region.object)->fid);
  region = {};
}

int FabricEndpoint::open_doorbell(Target* doorbell) {
  int code = 0;
  if (!doorbell_.object)
    code = register_memory({doorbell_memory_.data(), doorbell_memory_.size()}, &doorbell_);
  *doorbell = doorbell_.target;
  return code;
}

int FabricEndpoint::post_put(const Put& put, Handle* handle) {
  const std::lock_guard lock(mutex_);
  Operation& operation = take();
  operation.is_put = true;
  operation.notifies = put.notifies;
  operation.peer = put.peer;
  operation.tag = put_order;
  operation.to = put.to;
  operation.word = put.word;
  operation.header.assign(put.header.begin(), put.header.end());
  operation.set(put.pieces, objects_->most_put_pieces);
  return post(operation, handle);
}

std::int64_t FabricEndpoint::add_link(Inbox& inbox) {
  const std::lock_guard lock(mutex_);
  if (links_.size() >> (32 - link_shift) != 0) return -1;
  links_.push_back(&inbox);
  return static_cast<std::int64_t>(links_.size()) - 1;
}

void FabricEndpoint::drop_inbox(const Inbox& inbox) {
  const std::lock_guard lock(mutex_);
  for (Inbox*& link : links_)
    if (link == &inbox) link = nullptr;
  for (const auto& operation : operations_)
    if (operation->inbox == &inbox) operation->inbox = nullptr;
}

bool FabricEndpoint::take_idle_ring(Peer peer, Ring* ring) {
  const std::lock_guard lock(mutex_);
  const auto found = idle_rings_.find(peer);
  if (found == idle_rings_.end()) return false;
  *ring = std::move(found->second);
  idle_rings_.erase(found);
  return true;
}

void FabricEndpoint::return_ring(Peer peer, Ring ring) {
  const std::lock_guard lock(mutex_);
  idle_rings_.emplace(peer, std::move(ring));
}

void FabricEndpoint::close_memory() {
  deregister(doorbell_);
  for (auto& [peer, ring] : idle_rings_) deregister(ring.region);
}

/// Words for a link that has been dropped return credit that is not needed.
void FabricEndpoint::deliver(std::uint32_t word) {
  const std::size_t link = word >> link_shift;
  if (link < links_.size() && links_[link]) append(*links_[link], word);
}

void FabricEndpoint::append(Inbox& inbox, std::uint32_t word) {
  inbox.words.push_back(word);
  inbox.has_words.store(true, std::memory_order_release);
}

void FabricEndpoint::take_words(Inbox& inbox, std::vector<std::uint32_t>& words) {
  words.clear();
  if (!inbox.has_words.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  words.swap(inbox.words);
  inbox.has_words.store(false, std::memory_order_relaxed);
}

}  // namespace convene::transport

#endif
