// SPDX-License-Identifier: BSD-3-Clause
// Sends of a link, its ring and its credits; fabric_link_receives.cpp has what arrives.
#include "transport/fabric_link.hpp"

#include <algorithm>
#include <utility>

namespace convene::transport {

FabricLink::~FabricLink() {
  for (FabricEndpoint::Handle& handle : left_) endpoint_.leave(&handle);
  for (Message* const message : announced_)
    if (message) endpoint_.deregister(message->region);
  if (is_open()) endpoint_.return_ring(peer_, std::move(ring_));
}

FabricLink::Sizes FabricLink::sizes_of(std::size_t ring) {
  constexpr std::size_t few = 32, some = 256, places = 4;
  const std::size_t eager = ring < few ? 64 * 1024 : ring < some ? 16 * 1024 : 1024;
  return {places * entry_bytes(eager), eager};
}

FabricLink::Sizes FabricLink::sizes_of_envelopes(std::size_t) {
  constexpr std::size_t places = 64;
  return {places * entry_bytes(0), 0};
}

int FabricLink::open(FabricEndpoint::Inbox& inbox, const Target& doorbell, int rank) {
  FabricEndpoint::Ring ring;
  if (const int code = endpoint_.take_ring(peer_, *ring_sizes_, &ring); code != 0) return code;
  const std::int64_t number = endpoint_.add_link(inbox);
  if (number < 0) return FabricEndpoint::exhausted;
  ring_ = std::move(ring);
  mine_ = {.ring = ring_.region.target,
           .doorbell = doorbell,
           .ring_bytes = ring_.bytes,
           .eager = static_cast<std::uint32_t>(ring_.eager),
           .number = static_cast<std::uint32_t>(number),
           .rank = rank};
  return 0;
}

void FabricLink::connect(const Introduction& theirs) {
  theirs_ = theirs;
  is_connected_ = true;
}

/// Where the entry after one begins: there is always room for the largest before the end of the ring.
std::uint64_t FabricLink::after(std::uint64_t at, std::size_t bytes, std::size_t ring, std::size_t eager) {
  at += bytes;
  const std::uint64_t rest = ring - at % ring;
  return rest < entry_bytes(eager) ? at + rest : at;
}

std::uint32_t FabricLink::word(Notice notice, std::uint32_t number) const {
  return theirs_.number << FabricEndpoint::link_shift | static_cast<std::uint32_t>(notice) << number_bits |
         number % numbers;
}

bool FabricLink::has_space(std::size_t bytes) const {
  const std::uint32_t unread = put_ - their_read_;
  if (unread >= most_entries) return false;
  const std::uint64_t first_unread = unread == 0 ? next_ : starts_[their_read_ % most_entries];
  return next_ + entry_bytes(bytes) - first_unread <= theirs_.ring_bytes;
}

/// With a null handle, the link awaits the put.
int FabricLink::put_entry(Envelope envelope, std::span<const Piece> pieces, FabricEndpoint::Handle* handle) {
  envelope.read = returned_read_ = read_;
  envelope.matched = returned_matched_ = matched_;
  returned_at_ = at_;
  FabricEndpoint::Handle own = Transport::none();
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  const Target to{theirs_.ring.at + next_ % theirs_.ring_bytes, theirs_.ring.key};
  const int code = endpoint_.post_put({.header = std::as_bytes(std::span(&envelope, 1)),
                                       .pieces = pieces,
                                       .peer = peer_,
                                       .to = to,
                                       .word = word(Notice::entry, put_)},
                                      handle ? handle : &own);
  if (code != 0) return code;
  if (!handle) left_.push_back(own);
  data_tags_[put_ % numbers] = envelope.kind == Kind::data ? envelope.tag : no_data;
  starts_[put_++ % most_entries] = next_;
  next_ = after(next_, entry_bytes(bytes), theirs_.ring_bytes, theirs_.eager);
  return 0;
}

int FabricLink::notify(Notice notice, std::uint32_t number, FabricEndpoint::Handle* handle) {
  constexpr std::array<std::byte, 4> something{};
  FabricEndpoint::Handle own = Transport::none();
  const int code = endpoint_.post_put({.header = something,
                                       .pieces = {},
                                       .peer = peer_,
                                       .to = theirs_.doorbell,
                                       .word = word(notice, number)},
                                      handle ? handle : &own);
  if (code == 0 && !handle) left_.push_back(own);
  return code;
}

int FabricLink::return_credits() {
  if (!is_open()) return 0;
  int code = 0;
  if (read_ - returned_read_ >= returned_late || at_ - returned_at_ >= mine_.ring_bytes / 2) {
    returned_read_ = read_;
    returned_at_ = at_;
    code = notify(Notice::space, read_);
  }
  if (code == 0 && matched_ - returned_matched_ >= returned_late) {
    returned_matched_ = matched_;
    code = notify(Notice::matched, matched_);
  }
  return code;
}

int FabricLink::post_send(Message& message) {
  queue_.push_back(&message);
  return advance();
}

int FabricLink::advance() {
  if (const int code = announce_all(); code != 0 || !is_connected_) return code;
  if (const int code = put_controls(); code != 0) return code;
  for (bool was_sent = true; was_sent && !queue_.empty();)
    if (const int code = send_front(&was_sent); code != 0) return code;
  if (const int code = finish_silent(); code != 0) return code;
  if (const int code = return_credits(); code != 0) return code;
  return finish_left();
}

int FabricLink::put_controls() {
  while (!controls_.empty() && has_space(0)) {
    const Envelope envelope = controls_.front();
    if (const int code = put_entry(envelope, {}, nullptr); code != 0) return code;
    controls_.pop_front();
    if (envelope.kind != Kind::ready) continue;
    Message* const message = announced_[envelope.number];
    message->is_offered = true;
    if (!message->is_matched) offered_.push_back(message);
  }
  return 0;
}

int FabricLink::send_front(bool* was_sent) {
  Message& message = *queue_.front();
  const bool is_eager = message.bytes <= theirs_.eager;
  if (sent_ - their_matched_ >= most_ahead || !has_space(is_eager ? message.bytes : 0))
    return *was_sent = false, 0;
  *was_sent = true;
  queue_.pop_front();
  ++sent_;
  Envelope envelope{.tag = message.tag, .bytes = message.bytes};
  const auto has_tag = [&](const auto& each) { return each.tag == message.tag; };
  if (is_eager) {
    std::erase_if(offers_, has_tag);  // void
    return put_entry(envelope, message.pieces, &message.put);
  }
  const auto offer = std::find_if(offers_.begin(), offers_.end(), has_tag);
  if (offer == offers_.end()) {
    envelope.kind = Kind::asks;
    message.entry = put_;
    waiting_.push_back(&message);
    return put_entry(envelope, {}, nullptr);
  }
  const Offer taken = *offer;
  offers_.erase(offer);
  envelope.kind = Kind::put;
  envelope.number = taken.number;
  if (const int code = put_entry(envelope, {}, nullptr); code != 0) return code;
  return put_into(message, taken);
}

/// A message that is too long is not put: the other side knows its length.
int FabricLink::put_into(Message& message, const Offer& offer) {
  if (message.bytes > offer.bytes) return complete(message, 0), 0;
  message.number = static_cast<int>(offer.number);
  message.needs_notice = endpoint_.notices_wait();
  if (message.needs_notice) silent_.push_back(&message);
  return endpoint_.post_put({.header = {},
                             .pieces = message.pieces,
                             .peer = peer_,
                             .to = offer.target,
                             .word = word(Notice::put, offer.number),
                             .notifies = !message.needs_notice},
                            &message.put);
}

int FabricLink::finish_silent() {
  for (std::size_t i = 0; i < silent_.size();) {
    Message& message = *silent_[i];
    FabricEndpoint::Completion completion{};
    if (!endpoint_.finish(&message.put, &completion)) {
      ++i;
      continue;
    }
    silent_.erase(silent_.begin() + static_cast<std::ptrdiff_t>(i));
    if (completion.code != 0) {
      complete(message, completion.code);
      continue;
    }
    const auto number = static_cast<std::uint32_t>(message.number);
    if (const int code = notify(Notice::put, number, &message.put); code != 0) return code;
    message.needs_notice = false;
  }
  return 0;
}

int FabricLink::finish_left() {
  int code = 0;
  std::erase_if(left_, [&](FabricEndpoint::Handle& handle) {
    FabricEndpoint::Completion completion{};
    const bool is_complete = endpoint_.finish(&handle, &completion);
    if (is_complete && completion.code != 0) code = completion.code;
    return is_complete;
  });
  return code;
}

void FabricLink::complete(Message& message, int code) {
  message.is_complete = true;
  if (code != 0) message.code = code;
}

bool FabricLink::withdraw(Message& message) {
  std::erase(posted_, &message);
  if (!message.is_receive) {
    for (auto* list : {&waiting_, &silent_}) std::erase(*list, &message);
    std::erase(queue_, &message);
    if (message.put != Transport::none()) endpoint_.leave(&message.put);
    return true;
  }
  if (message.is_matched) return false;  // its bytes are on their way
  std::erase(unannounced_, &message);
  if (message.number < 0) return true;
  if (!message.is_offered) return drop_ready(message), true;
  if (!message.is_withdrawn) control(Kind::withdraw, message.tag, static_cast<std::uint32_t>(message.number));
  message.is_withdrawn = true;
  return false;
}

/// The sender of a message that has asked learns that it is not wanted.
bool FabricLink::revoke(Message& message) {
  message.pieces.clear();
  if (message.is_offered) return endpoint_.deregister(message.region), false;
  std::erase(unannounced_, &message);
  drop_ready(message);
  if (message.is_matched) control(Kind::refused, message.tag, 0);
  return true;
}

}  // namespace convene::transport
