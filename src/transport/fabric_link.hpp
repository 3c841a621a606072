// SPDX-License-Identifier: BSD-3-Clause
// Fabric link: messages between this rank and another one of a communicator by puts with notification.
//
// Rings: each side owns a ring of registered memory that the other one puts into. An entry is an envelope
// and, for an eager message, its bytes. The word of its notice has the entry's number modulo 256, so that
// entries are read in order whatever the order of their arrival. Messages that find no receive are copied to
// memory of their own: an entry never stays in the ring.
//
// Credits: an entry is put where the ring is known to be free, and at most `most_ahead` messages ahead of the
// other side's receives. Every envelope returns both credits; without one, a notice does. Envelopes that
// control the protocol need space only.
//
// Order: every message has an entry, and entries decide which receive a message matches. Kinds of messages:
// `data` (eager), `put` (its bytes are put into an offer that the entry names), `asks` (there is no offer
// yet).
//
// Rendezvous: a receive of more bytes than an entry has is offered when it is posted (`ready`: address, key,
// number, and in `read` the entries read before). The sender puts straight into it; a notice with the number
// follows. The receive is complete when its entry and that notice have arrived, in any order. Receives in
// several pieces are staged. A registration lasts as long as the offer.
//
// Each offer ends in exactly one of four ways, which both sides conclude from the order of the two rings:
// - Used by a `put`, or by the first `asks` of its tag that was read after `ready` was put or waits when
//   `ready` is read. The number is free after the notice; at once, if the message is too long to be put.
// - Void: a `data` entry of its tag is read after `ready` was put. The sender erases such offers when it puts
//   the entry, and ignores a `ready` whose `read` shows that such an entry was in flight. The receive that the
//   entry matches is complete at once; other ones are offered again, in their order.
// - Withdrawn: the receive was cancelled. The sender answers `withdrawn` if it still has the offer, and
//   nothing if not: then the offer is used or void. A `ready` that has not been put is dropped; nothing has
//   been offered then.
// - Revoked: no answer within a bound (the other rank may be blocked elsewhere). Its memory is deregistered:
//   the provider refuses a later put, which is an error of the sender. The number stays in use until the offer
//   ends otherwise.
// Interleavings of a cancelled receive: (1) `ready` queued: local. (2) `ready` or `withdraw` in flight, no
// message: `withdrawn`. (3) A `put` entry, or `asks`, in flight: the message was sent to this receive; its
// memory stays registered until the notice, and the cancel ends with the message received, as in MPI.
// (4) A `data` entry in flight: void. (5) The number is used again: the later `ready` is behind `withdraw` in
// the same ring, and the answer is ahead of every message that was sent after it. (6) The other side closes:
// it drops the link's words, so no answer arrives: revoked. (7) This side closes: offers end before, since
// cancel() and abandon() await their end; the destructor deregisters those that were revoked too late.
// Ranks that leave: a message is complete when the puts of its link's envelopes and notices are, so that no
// other rank depends on further progress of this one. (Envelopes that wait for space do not count: `ready`
// belongs to a receive that is not complete, and after `withdrawn` and `refused` no rank waits without
// bound.)
//
// Memory: by the number of rings that the process has (`sizes_of`), which later links reuse; pages of a ring
// that no message has used are not resident on providers that do not pin. HybridFabric's rings hold envelopes
// only.
//
// Threads: NotifiedFabric's lock guards its links. A message belongs to NotifiedFabric; a link keeps it in
// one of its lists until it is complete.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/fabric_endpoint.hpp"

namespace convene::transport {

/// A posted send or receive.
struct NotifiedMessage {
  std::uint32_t tag = 0;
  std::uint32_t entry = 0;  // of a send that has asked
  int number = -1;          // of its offer
  int code = 0;             // result
  std::size_t bytes = 0;    // of a receive: the most
  std::size_t sent = 0;     // of a receive that is matched: bytes of its message
  std::vector<Piece> pieces;
  std::vector<std::byte> staging;  // of a receive in pieces that was offered
  FabricEndpoint::Region region;
  FabricEndpoint::Handle put = Transport::none();
  class FabricLink* link = nullptr;
  bool is_receive = false, is_complete = false;
  bool is_offered = false;    // `ready` was put
  bool is_matched = false;    // the entry of its message was read
  bool is_put = false;        // the bytes have arrived
  bool is_withdrawn = false;  // `withdraw` was put or is queued
  bool needs_notice = false;  // the put is silent: a notice follows
};

class FabricLink {
 public:
  using Message = NotifiedMessage;
  using Target = FabricEndpoint::Target;

  static constexpr std::uint32_t most_ahead = 96;     ///< messages without a receive
  static constexpr std::uint32_t most_entries = 128;  ///< in a ring
  static constexpr std::uint32_t returned_late = 32;  ///< entries or messages whose credit a notice returns

  /// Bytes of a ring and of the largest entry's message, for the n-th ring of a process.
  struct Sizes {
    std::size_t ring, eager;
  };
  using SizesOf = Sizes(std::size_t ring);
  static Sizes sizes_of(std::size_t ring);
  /// The same for rings without messages: all but empty ones are put by rendezvous.
  static Sizes sizes_of_envelopes(std::size_t ring);

  /// What the other side needs to put into this one's ring.
  struct Introduction {
    Target ring, doorbell;
    std::uint64_t ring_bytes = 0;
    std::uint32_t eager = 0, number = 0;
    int rank = -1;
  };

  /// `sizes`: of this side's ring.
  FabricLink(FabricEndpoint& endpoint, FabricEndpoint::Peer peer, SizesOf* sizes)
      : endpoint_(endpoint), peer_(peer), ring_sizes_(sizes) {}
  ~FabricLink();
  FabricLink(const FabricLink&) = delete;
  FabricLink& operator=(const FabricLink&) = delete;

  bool is_open() const { return ring_.memory != nullptr; }
  /// Makes this side's ring. Returns 0 or an error.
  int open(FabricEndpoint::Inbox& inbox, const Target& doorbell, int rank);
  const Introduction& introduction() const { return mine_; }
  void connect(const Introduction& theirs);

  // Functions below return 0 or an error.
  int post_send(Message& message);
  int post_receive(Message& message);
  /// Handles a word that has arrived: the bits below FabricEndpoint::link_shift.
  int handle(std::uint32_t word);
  /// Puts what can be put.
  int advance();
  bool has_work() const {
    return !queue_.empty() || !controls_.empty() || !unannounced_.empty() || !silent_.empty() || has_unsent();
  }
  /// True if a put of an envelope or a notice is not complete: then no message is, since the other side may
  /// depend on it.
  bool has_unsent() const { return !left_.empty(); }
  /// Removes a message that is not complete. True if its memory is not touched any more. False for a receive
  /// that the other side may put into: it will be complete when the other side has answered.
  bool withdraw(Message& message);
  /// Ends a withdrawn receive without an answer. True if the link does not need the message any more.
  bool revoke(Message& message);

 private:
  enum class Kind : std::uint32_t { data, put, asks, ready, withdraw, withdrawn, refused };
  enum class Notice : std::uint32_t { entry, space, matched, put };
  struct Envelope {
    Kind kind = Kind::data;
    std::uint32_t tag = 0, number = 0;
    std::uint32_t read = 0, matched = 0;  // credits
    std::uint64_t bytes = 0;
    Target target;
  };
  /// A message that came before its receive.
  struct Early {
    std::uint32_t tag;
    bool asks;
    std::size_t sent;  // bytes
    std::vector<std::byte> bytes;
  };
  struct Offer {
    std::uint32_t tag, number;
    std::size_t bytes;
    Target target;
  };
  static constexpr std::uint32_t no_data = 0xffffffffu;  // no tag
  static constexpr std::size_t line = 64;                // entries begin at its multiples
  static constexpr std::uint32_t number_bits = 8, numbers = 1u << number_bits;

  static std::size_t entry_bytes(std::size_t bytes) {
    return (sizeof(Envelope) + bytes + line - 1) / line * line;
  }
  static std::uint64_t after(std::uint64_t at, std::size_t bytes, std::size_t ring, std::size_t eager);
  std::uint32_t word(Notice notice, std::uint32_t number) const;
  bool has_space(std::size_t bytes) const;
  int put_entry(Envelope envelope, std::span<const Piece> pieces, FabricEndpoint::Handle* handle);
  int notify(Notice notice, std::uint32_t number, FabricEndpoint::Handle* handle = nullptr);
  int return_credits();
  void control(Kind kind, std::uint32_t tag, std::uint32_t number) {
    controls_.push_back({.kind = kind, .tag = tag, .number = number});
  }
  int put_controls();
  int send_front(bool* was_sent);
  int put_into(Message& message, const Offer& offer);
  int finish_silent();
  int finish_left();

  int announce_all();
  int announce(Message& message, std::size_t number);
  void drop_ready(Message& message);
  void end_offer(Message& message);
  void void_offers(std::uint32_t tag);

  int read_ring();
  int read_entry(const Envelope& envelope, const std::byte* bytes);
  void take_data(const Envelope& envelope, const std::byte* bytes);
  int take_put(const Envelope& envelope);
  void take_ask(const Envelope& envelope);
  int take_offer(const Offer& offer, std::uint32_t read);
  int take_withdrawn(std::uint32_t number);
  void deliver(Message& message, const std::byte* bytes, std::size_t count);
  void match_ask(Message& message, std::size_t bytes);
  void use_offer(Message& message, std::size_t bytes);
  void end_put(std::uint32_t number);
  void end_offered(Message& message, int code);
  static void complete(Message& message, int code);

  FabricEndpoint& endpoint_;
  const FabricEndpoint::Peer peer_;
  SizesOf* const ring_sizes_;

  // This side's ring, and receives.
  Introduction mine_;
  FabricEndpoint::Ring ring_;
  std::uint64_t at_ = 0;
  std::uint32_t read_ = 0, matched_ = 0, returned_read_ = 0, returned_matched_ = 0;
  std::uint64_t returned_at_ = 0;
  std::bitset<numbers> arrived_;
  std::vector<Message*> posted_, unannounced_;
  std::vector<Message*> announced_;  // by number of the offer; null: unused
  std::vector<Message*> offered_;    // those that no entry has used, in the order of their `ready`
  std::deque<Early> early_;

  // The other side's ring, and sends.
  Introduction theirs_;
  bool is_connected_ = false;
  std::uint64_t next_ = 0;
  std::uint32_t put_ = 0, their_read_ = 0, sent_ = 0, their_matched_ = 0;
  std::array<std::uint64_t, most_entries> starts_{};
  std::array<std::uint32_t, numbers> data_tags_{};  // of the last entries that were put
  std::deque<Message*> queue_;
  std::vector<Message*> waiting_;             // sends that have asked
  std::vector<Message*> silent_;              // sends whose put needs a notice when it is complete
  std::vector<FabricEndpoint::Handle> left_;  // puts of envelopes and notices
  std::deque<Envelope> controls_;
  std::vector<Offer> offers_;
};

}  // namespace convene::transport
