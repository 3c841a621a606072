// SPDX-License-Identifier: BSD-3-Clause
// Endpoint on a fabric: tagged messages of a process over libfabric, and puts with notification.
//
// Design notes
// - One endpoint serves all communicators of a process, and one completion queue all operations. An operation
//   is an object of the endpoint; its address is the handle and the context of the completion.
// - Matching is left to libfabric: 64 bits of tag, of which a receive ignores none (fabric.hpp).
// - Progress is that of the caller: every function that tests reads the completion queue. A post never waits:
//   what a provider does not accept yet (FI_EAGAIN: its queue is full, or the peer has not connected) is
//   posted by later progress, in order for each peer. One peer that does not progress delays no other.
// - An operation is complete when its memory may be used again and the peer needs no progress of this process
//   (FI_TRANSMIT_COMPLETE): a rank may leave a collective and block elsewhere.
// - A put writes into a peer's registered memory. Its notice is a word of 32 bits (all that some providers
//   carry): the upper bits number a link of the peer's, the others are the link's own. Words that arrive are
//   appended to the inbox of the link's transport, whichever thread reads them.
// - Two threads may use an endpoint, for different communicators: a lock guards it. The lock is never held
//   across a wait or a call of the MPI.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "transport/fabric_library.hpp"
#include "transport/transport.hpp"

namespace convene::transport {

class FabricEndpoint {
 public:
  using Handle = Transport::Handle;
  using Peer = std::uint64_t;
  static constexpr std::size_t most_address = 96;  ///< bytes of an address
  static constexpr int order_bits = 44;

  struct Completion {
    int code;  ///< result
  };

  /// Results of functions: 0, or one of these, or libfabric's negative code.
  static constexpr int truncated = 1, cancelled = 2, exhausted = 3, broken = 4;

  /// Registered memory, as a put of another process names it.
  struct Target {
    std::uint64_t at = 0, key = 0;
  };
  struct Region {
    void* object = nullptr;  ///< of libfabric
    Target target;
  };
  /// Memory of a link that its peer puts into. `eager`: bytes of the largest message.
  struct Ring {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0, eager = 0;
    Region region;
  };
  struct Put {
    std::span<const std::byte> header;  ///< copied
    std::span<const Piece> pieces;      ///< follow the header
    Peer peer = 0;
    Target to;
    std::uint32_t word = 0;  ///< of the notice
    bool notifies = true;
  };
  static constexpr int link_shift = 11;  ///< a word is (link, 21 bits) and 11 bits of the link's own

  /// What a transport learns from the endpoint: words, in order, of notices that have arrived and of receives
  /// that are complete; and the first error of its detached operations.
  struct Inbox {
    std::vector<std::uint32_t> words;  ///< guarded by the endpoint's lock
    std::atomic<bool> has_words = false;
    std::atomic<int> failure = 0;
  };

  /// Opens an endpoint of a provider that has reliable tagged messages with 64 bits of tag: one by name (such
  /// as tcp or shm); if the name is empty, the first that reaches other nodes. Null with a reason.
  /// `library`: the file of libfabric, or empty. `puts`: the provider must have puts with notification.
  static std::unique_ptr<FabricEndpoint> open(const std::string& provider, const std::string& library,
                                              std::string& why_not, bool puts = false);
  ~FabricEndpoint();
  FabricEndpoint(const FabricEndpoint&) = delete;
  FabricEndpoint& operator=(const FabricEndpoint&) = delete;

  const std::string& provider() const { return provider_; }
  const FabricLibrary& library() const { return library_; }
  /// True if the provider reaches processes of the same node only.
  bool is_local() const { return is_local_; }
  std::span<const std::byte> address() const { return address_; }

  /// Adds the address of a process. Returns 0 or an error.
  int add_peer(std::span<const std::byte> address, Peer* peer);

  /// Sends to a peer keep their order if their tags have the same bits above `order_bits`; so do receives. A
  /// send that is `held` waits for release(). One that is `copied` needs its pieces during the call only.
  int post_send(std::span<const Piece> pieces, Peer peer, std::uint64_t tag, Handle* handle,
                bool held = false, bool copied = false);
  /// The inbox, if any, gets the word when a message was received without error, unless the operation was
  /// left to the endpoint.
  int post_receive(std::span<const Piece> pieces, std::uint64_t tag, Handle* handle, Inbox* inbox = nullptr,
                   std::uint32_t word = 0);

  /// Registers memory that peers put into. Returns 0 or an error.
  int register_memory(const Piece& memory, Region* made);
  void deregister(Region& region);
  /// Puts to a peer are posted in order, but may arrive in another.
  int post_put(const Put& put, Handle* handle);
  /// Memory for puts that only notify. Returns 0 or an error.
  int open_doorbell(Target* doorbell);
  /// True if a peer carries out a large put with notification inside its own progress, so that a put and a
  /// notice of its own are faster.
  bool notices_wait() const { return is_local_; }
  /// A word that arrives for the link goes to the inbox. -1 if there are no more numbers.
  std::int64_t add_link(Inbox& inbox);
  /// Call it before an inbox ends: drops its links, and what its operations would add to it.
  void drop_inbox(const Inbox& inbox);
  /// A ring for a peer: one that its links have used before (a late put into it harms no other link), or a
  /// new one of the sizes that `sizes_of(rings of this process)` gives to it. Returns 0 or an error.
  template <class SizesOf>
  int take_ring(Peer peer, SizesOf&& sizes_of, Ring* ring) {
    if (take_idle_ring(peer, ring)) return 0;
    const auto [bytes, eager] = sizes_of(rings_++);
    *ring = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes, eager, {}};
    return register_memory({ring->memory.get(), bytes}, &ring->region);
  }
  void return_ring(Peer peer, Ring ring);
  /// Replaces `words` by those of the inbox.
  void take_words(Inbox& inbox, std::vector<std::uint32_t>& words);

  /// Reads completions. Returns 0 or an error of the queue itself.
  int progress();
  /// True if an operation is complete; then the handle is freed and none.
  bool finish(Handle* handle, Completion* completion);
  /// Lets a send that was held be posted by the next progress.
  void release(Handle handle);
  /// Cancels a receive, or a send that the provider has not accepted. It is complete, or will be, with the
  /// result `cancelled` if no message matched.
  int cancel(Handle handle);
  /// Cancels an operation and leaves it to the endpoint, which frees it when it is complete.
  void leave(Handle* handle);
  /// Leaves an operation to the endpoint, which frees it when it is complete. The inbox, if any, gets its
  /// error.
  void detach(Handle* handle, Inbox* inbox = nullptr);
  /// Operations that are not complete.
  std::size_t pending() const;

  /// Text of a code.
  std::string text_of(int code) const;

 private:
  struct Objects;    // the objects of libfabric
  struct Operation;  // an operation, from its post until it is freed

  explicit FabricEndpoint(const FabricLibrary& library);
  int open_provider(const fi_info& info);
  // The functions below require the lock.
  Operation& take();
  void free(Operation& operation);
  int post(Operation& operation, Handle* handle);
  long hand_over(Operation& operation);
  void post_deferred();
  bool is_deferred_for(const Operation& operation, std::size_t below) const;
  int read_completions();
  int cancel_locked(Operation& operation);
  void complete(Operation& operation, int code);
  void free_detached(Operation& operation);
  void deliver(std::uint32_t word);
  static void append(Inbox& inbox, std::uint32_t word);
  bool take_idle_ring(Peer peer, Ring* ring);
  void close_memory();

  const FabricLibrary& library_;
  std::unique_ptr<Objects> objects_;
  std::string provider_;
  bool is_local_ = false;
  std::vector<std::byte> address_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<Operation*> unused_;
  std::vector<Operation*> deferred_;  // not accepted yet, in the order of posting
  std::size_t pending_ = 0;
  std::vector<Inbox*> links_;  // by number; null: dropped
  std::multimap<Peer, Ring> idle_rings_;
  std::atomic<std::size_t> rings_ = 0;
  std::array<std::byte, 64> doorbell_memory_{};
  Region doorbell_;
};

}  // namespace convene::transport
