// SPDX-License-Identifier: BSD-3-Clause
// The endpoint: how it is opened, tagged messages, and completions.
#include "transport/fabric_endpoint.hpp"

#if __has_include(<rdma/fi_tagged.h>)  // else fabric_endpoint_missing.cpp
#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "transport/fabric_endpoint_parts.hpp"

namespace convene::transport {
namespace {

constexpr std::uint32_t api = FI_VERSION(1, 17);

bool reaches_one_node(std::string_view provider) { return provider.starts_with("shm"); }

/// Providers for tests of libfabric itself, and those whose use libfabric advises against.
bool is_last_resort(std::string_view provider) {
  return provider.starts_with("sockets") || provider.starts_with("udp") || provider.starts_with("net");
}

}  // namespace

void FabricEndpoint::Operation::set(std::span<const Piece> pieces, std::size_t limit) {
  count = 0;
  if (is_put && !header.empty()) parts[count++] = {header.data(), header.size()};
  if (count + pieces.size() <= limit) {
    for (const Piece& piece : pieces) parts[count++] = {piece.at, piece.bytes};
    return;
  }
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  staging.resize(bytes);
  parts[count++] = {staging.data(), bytes};
  if (is_receive) return scattered.assign(pieces.begin(), pieces.end());
  std::byte* at = staging.data();
  for (const Piece& piece : pieces) {
    if (piece.bytes > 0) std::memcpy(at, piece.at, piece.bytes);
    at += piece.bytes;
  }
}

void FabricEndpoint::Operation::unpack(std::size_t bytes) const {
  const std::byte* from = staging.data();
  for (const Piece& piece : scattered) {
    const std::size_t now = std::min(piece.bytes, bytes);
    if (now > 0) std::memcpy(piece.at, from, now);
    from += now;
    bytes -= now;
  }
}

FabricEndpoint::FabricEndpoint(const FabricLibrary& library)
    : library_(library), objects_(std::make_unique<Objects>()) {}

FabricEndpoint::~FabricEndpoint() { close_memory(); }

std::unique_ptr<FabricEndpoint> FabricEndpoint::open(const std::string& provider, const std::string& file,
                                                     std::string& why_not, bool puts) {
  const FabricLibrary* const library = fabric_library(file, why_not);
  if (!library) return nullptr;
  struct FreeInfo {
    const FabricLibrary& library;
    void operator()(fi_info* info) const { library.freeinfo(info); }
  };
  using Info = std::unique_ptr<fi_info, FreeInfo>;
  const Info hints(library->dupinfo(nullptr), FreeInfo{*library});
  if (!hints) return why_not = "out of memory", nullptr;
  hints->caps = FI_TAGGED | FI_SEND | FI_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  if (puts) hint_puts(*hints);
  fi_info* list = nullptr;
  int code = library->getinfo(api, nullptr, nullptr, 0, hints.get(), &list);
  const Info found(list, FreeInfo{*library});
  why_not = "libfabric " + library->version_text() + " has no provider " +
            (provider.empty() ? "with reliable tagged messages" : "'" + provider + "' with tagged messages") +
            (puts ? " and puts with notification" : "");
  if (code != 0) return nullptr;
  for (const bool is_last : {false, true})
    for (const fi_info* info = list; info; info = info->next) {
      const std::string_view name = info->fabric_attr->prov_name;
      const bool is_asked = !provider.empty() && (name == provider || name.starts_with(provider + ";"));
      const bool is_usable = provider.empty() && !reaches_one_node(name) && is_last_resort(name) == is_last;
      if (!is_asked && !is_usable) continue;
      if (info->ep_attr->mem_tag_format >> 63 == 0) continue;  // its highest bit is that of the tag
      if (puts && !has_puts(*info)) continue;
      std::unique_ptr<FabricEndpoint> made(new FabricEndpoint(*library));
      code = made->open_provider(*info);
      if (code == 0) return made;
      why_not = "provider '" + std::string(name) + "' of libfabric cannot be opened: " + made->text_of(code);
    }
  return nullptr;
}

int FabricEndpoint::open_provider(const fi_info& info) {
  Objects& o = *objects_;
  fi_info* const mutable_info = const_cast<fi_info*>(&info);  // libfabric's functions only read it
  fid_fabric* fabric = nullptr;
  int code = library_.fabric(info.fabric_attr, &fabric, nullptr);
  if (code != 0) return code;
  o.fabric.reset(fabric);
  fid_domain* domain = nullptr;
  if ((code = fi_domain(fabric, mutable_info, &domain, nullptr)) != 0) return code;
  o.domain.reset(domain);
  fi_av_attr by_number{};
  by_number.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  if ((code = fi_av_open(domain, &by_number, &addresses, nullptr)) != 0) return code;
  o.addresses.reset(addresses);
  fi_cq_attr with_lengths{};
  with_lengths.format = FI_CQ_FORMAT_DATA;
  fid_cq* completions = nullptr;
  if ((code = fi_cq_open(domain, &with_lengths, &completions, nullptr)) != 0) return code;
  o.completions.reset(completions);
  fid_ep* endpoint = nullptr;
  if ((code = fi_endpoint(domain, mutable_info, &endpoint, nullptr)) != 0) return code;
  o.endpoint.reset(endpoint);
  if ((code = fi_ep_bind(endpoint, &addresses->fid, 0)) != 0) return code;
  if ((code = fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV)) != 0) return code;
  if ((code = fi_enable(endpoint)) != 0) return code;
  std::array<std::byte, most_address> address{};
  std::size_t bytes = address.size();
  if ((code = fi_getname(&endpoint->fid, address.data(), &bytes)) != 0) return code;
  address_.assign(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(bytes));
  o.most_pieces =
      std::clamp<std::size_t>(std::min(info.tx_attr->iov_limit, info.rx_attr->iov_limit), 1, most_iovecs);
  o.most_bytes = info.ep_attr->max_msg_size;
  o.set_puts(info);
  provider_ = info.fabric_attr->prov_name;
  is_local_ = reaches_one_node(provider_);
  return 0;
}

int FabricEndpoint::add_peer(std::span<const std::byte> address, Peer* peer) {
  const std::lock_guard lock(mutex_);
  fi_addr_t made = FI_ADDR_UNSPEC;
  const int added = fi_av_insert(objects_->addresses.get(), address.data(), 1, &made, 0, nullptr);
  *peer = made;
  if (added == 1) return 0;
  return added < 0 ? added : -FI_EINVAL;
}

FabricEndpoint::Operation& FabricEndpoint::take() {
  if (unused_.empty()) {
    operations_.push_back(std::make_unique<Operation>());
    unused_.reserve(operations_.size());  // so that free() cannot fail
    unused_.push_back(operations_.back().get());
  }
  Operation& operation = *unused_.back();
  unused_.pop_back();
  operation.is_complete = operation.is_left = operation.is_receive = operation.is_held = operation.is_put =
      false;
  operation.code = 0;
  operation.inbox = nullptr;
  ++pending_;
  return operation;
}

void FabricEndpoint::free(Operation& operation) {
  operation.staging.clear();
  operation.scattered.clear();
  unused_.push_back(&operation);
}

int FabricEndpoint::post_send(std::span<const Piece> pieces, Peer peer, std::uint64_t tag, Handle* handle,
                              bool held, bool copied) {
  const std::lock_guard lock(mutex_);
  Operation& operation = take();
  operation.is_held = held;
  operation.peer = peer;
  operation.tag = tag;
  operation.set(pieces, copied ? 0 : objects_->most_pieces);
  return post(operation, handle);
}

int FabricEndpoint::post_receive(std::span<const Piece> pieces, std::uint64_t tag, Handle* handle,
                                 Inbox* inbox, std::uint32_t word) {
  const std::lock_guard lock(mutex_);
  Operation& operation = take();
  operation.is_receive = true;
  operation.peer = FI_ADDR_UNSPEC;
  operation.tag = tag;
  operation.inbox = inbox;
  operation.word = word;
  operation.set(pieces, objects_->most_pieces);
  return post(operation, handle);
}

int FabricEndpoint::post(Operation& operation, Handle* handle) {
  long code = -FI_EAGAIN;
  if (!is_deferred_for(operation, deferred_.size())) code = hand_over(operation);
  if (code == -FI_EAGAIN) {
    deferred_.push_back(&operation);
  } else if (code != 0) {
    --pending_;
    free(operation);
    return static_cast<int>(code);
  }
  *handle = reinterpret_cast<Handle>(&operation);
  return 0;
}

/// Hands an operation to the provider. Returns 0, -FI_EAGAIN or another error.
long FabricEndpoint::hand_over(Operation& operation) {
  constexpr std::uint64_t no_bits = 0;  // of the tag are ignored
  if (operation.is_held) return -FI_EAGAIN;
  fid_ep* const endpoint = objects_->endpoint.get();
  const auto& parts = operation.parts;
  if (operation.count == 1 && parts[0].iov_len > objects_->most_bytes) return -FI_EMSGSIZE;
  if (operation.is_put) return objects_->put(operation);
  if (operation.is_receive && operation.count == 1)
    return fi_trecv(endpoint, parts[0].iov_base, parts[0].iov_len, nullptr, FI_ADDR_UNSPEC, operation.tag,
                    no_bits, &operation);
  if (operation.is_receive)
    return fi_trecvv(endpoint, parts.data(), nullptr, operation.count, FI_ADDR_UNSPEC, operation.tag, no_bits,
                     &operation);
  if (operation.count == 1)
    return fi_tsend(endpoint, parts[0].iov_base, parts[0].iov_len, nullptr, operation.peer, operation.tag,
                    &operation);
  return fi_tsendv(endpoint, parts.data(), nullptr, operation.count, operation.peer, operation.tag,
                   &operation);
}

/// True if one of the first deferred operations must be posted before this one: receives keep their order,
/// and so do the sends to a peer.
bool FabricEndpoint::is_deferred_for(const Operation& operation, std::size_t below) const {
  return std::any_of(deferred_.begin(), deferred_.begin() + static_cast<std::ptrdiff_t>(below),
                     [&](const Operation* each) {
                       return each->is_receive == operation.is_receive && each->peer == operation.peer &&
                              each->tag >> order_bits == operation.tag >> order_bits;
                     });
}

void FabricEndpoint::post_deferred() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < deferred_.size(); ++i) {
    Operation* const operation = deferred_[i];
    const long code = is_deferred_for(*operation, kept) ? -FI_EAGAIN : hand_over(*operation);
    if (code == -FI_EAGAIN)
      deferred_[kept++] = operation;
    else if (code != 0)
      complete(*operation, static_cast<int>(code));
  }
  deferred_.resize(kept);
}

void FabricEndpoint::complete(Operation& operation, int code) {
  --pending_;
  operation.is_complete = true;
  operation.code = code;
  if (operation.is_left) free_detached(operation);
}

void FabricEndpoint::free_detached(Operation& operation) {
  int none = 0;
  if (operation.code != 0 && operation.inbox)
    operation.inbox->failure.compare_exchange_strong(none, operation.code, std::memory_order_relaxed);
  free(operation);
}

int FabricEndpoint::read_completions() {
  std::array<fi_cq_data_entry, 16> entries{};
  for (;;) {
    const long read = fi_cq_read(objects_->completions.get(), entries.data(), entries.size());
    if (read == -FI_EAGAIN) return 0;
    if (read == -FI_EAVAIL) {
      fi_cq_err_entry failed{};
      if (fi_cq_readerr(objects_->completions.get(), &failed, 0) < 1 || !failed.op_context) return -FI_EOTHER;
      const int code = failed.err == FI_ETRUNC      ? truncated
                       : failed.err == FI_ECANCELED ? cancelled
                                                    : -failed.err;
      complete(*static_cast<Operation*>(failed.op_context), code);
      continue;
    }
    if (read < 0) return static_cast<int>(read);
    for (long i = 0; i < read; ++i) {
      const fi_cq_data_entry& entry = entries[static_cast<std::size_t>(i)];
      if (entry.flags & FI_REMOTE_CQ_DATA) {
        deliver(static_cast<std::uint32_t>(entry.data));
        continue;
      }
      auto& operation = *static_cast<Operation*>(entry.op_context);
      const bool is_awaited = operation.is_receive && !operation.is_left;
      if (is_awaited) operation.unpack(entry.len);
      if (is_awaited && operation.inbox) append(*operation.inbox, operation.word);
      complete(operation, 0);
    }
    if (static_cast<std::size_t>(read) < entries.size()) return 0;
  }
}

int FabricEndpoint::progress() {
  const std::lock_guard lock(mutex_);
  const int code = read_completions();
  if (!deferred_.empty()) post_deferred();
  return code;
}

bool FabricEndpoint::finish(Handle* handle, Completion* completion) {
  auto& operation = *reinterpret_cast<Operation*>(*handle);
  const std::lock_guard lock(mutex_);
  if (!operation.is_complete) return false;
  *completion = {operation.code};
  free(operation);
  *handle = Transport::none();
  return true;
}

int FabricEndpoint::cancel(Handle handle) {
  const std::lock_guard lock(mutex_);
  return cancel_locked(*reinterpret_cast<Operation*>(handle));
}

int FabricEndpoint::cancel_locked(Operation& operation) {
  if (operation.is_complete) return 0;
  if (const auto at = std::find(deferred_.begin(), deferred_.end(), &operation); at != deferred_.end()) {
    deferred_.erase(at);
    complete(operation, cancelled);
    return 0;
  }
  return operation.is_receive ? static_cast<int>(fi_cancel(&objects_->endpoint->fid, &operation)) : 0;
}

void FabricEndpoint::leave(Handle* handle) {
  cancel(*handle);
  detach(handle);
}

void FabricEndpoint::detach(Handle* handle, Inbox* inbox) {
  auto& operation = *reinterpret_cast<Operation*>(*handle);
  *handle = Transport::none();
  const std::lock_guard lock(mutex_);
  operation.inbox = inbox;
  if (operation.is_complete)
    free_detached(operation);
  else
    operation.is_left = true;
}

void FabricEndpoint::release(Handle handle) {
  const std::lock_guard lock(mutex_);
  reinterpret_cast<Operation*>(handle)->is_held = false;
}

std::size_t FabricEndpoint::pending() const {
  const std::lock_guard lock(mutex_);
  return pending_;
}

std::string FabricEndpoint::text_of(int code) const {
  if (code == truncated) return "a message is longer than its receive";
  if (code == cancelled) return "the operation was cancelled";
  if (code == exhausted) return "this process has had too many links";
  if (code == broken) return "a notice does not fit the protocol";
  return library_.strerror(-code);
}

}  // namespace convene::transport

#endif
