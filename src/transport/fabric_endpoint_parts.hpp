// SPDX-License-Identifier: BSD-3-Clause
// The endpoint's objects of libfabric and its operations: what fabric_messages.cpp and fabric_puts.cpp share.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <array>

#include "transport/fabric_endpoint.hpp"

namespace convene::transport {

inline constexpr std::size_t most_iovecs = 4;  // of a message that is not copied

/// Asks for puts with notification.
void hint_puts(fi_info& hints);
/// True if a provider has them, in a form that this file's user supports.
bool has_puts(const fi_info& info);

/// In the order of creation: an object is closed before those that it was made of.
struct FabricEndpoint::Objects {
  struct Close {
    template <class Object>
    void operator()(Object* object) const {
      fi_close(&object->fid);
    }
  };
  template <class Object>
  using Owner = std::unique_ptr<Object, Close>;

  Owner<fid_fabric> fabric;
  Owner<fid_domain> domain;
  Owner<fid_av> addresses;
  Owner<fid_cq> completions;
  Owner<fid_ep> endpoint;
  std::size_t most_pieces = 1, most_bytes = 0;

  // Of puts.
  std::size_t most_put_pieces = 1;
  std::uint64_t put_flags = 0, next_key = 1;
  bool has_addresses = false;  // a target is named by its virtual address, not by its offset
  bool makes_keys = false;     // the provider chooses the keys

  void set_puts(const fi_info& info);
  /// Hands a put to the provider.
  long put(Operation& operation) const;
};

struct FabricEndpoint::Operation {
  fi_context2 context;  // first: completions name it
  bool is_receive = false, is_complete = false, is_left = false, is_held = false;
  bool is_put = false, notifies = false;
  int code = 0;
  Peer peer = 0;
  std::uint64_t tag = 0;
  std::array<iovec, most_iovecs> parts{};
  std::size_t count = 0;
  std::vector<std::byte> staging;  // of a message of more pieces
  std::vector<Piece> scattered;    // where its receive is unpacked to
  std::vector<std::byte> header;   // of a put
  Target to;                       // of a put
  Inbox* inbox = nullptr;          // of a receive: gets the word
  std::uint32_t word = 0;          // of a put that notifies, or of a receive

  void set(std::span<const Piece> pieces, std::size_t limit);
  /// Copies the first bytes of a received message to where its receive wants them.
  void unpack(std::size_t bytes) const;
};

}  // namespace convene::transport
