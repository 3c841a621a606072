// SPDX-License-Identifier: BSD-3-Clause
// Receives of a link: matching, offers, and what the words and envelopes of the other side ask for.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/fabric_link.hpp"

namespace convene::transport {
namespace {

using Messages = std::vector<NotifiedMessage*>;

/// The first of a tag; null if there is none.
NotifiedMessage* first_of(const Messages& list, std::uint32_t tag) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto* each) { return each->tag == tag; });
  return at == list.end() ? nullptr : *at;
}

/// Takes it out of the list.
NotifiedMessage* take_first(Messages& list, std::uint32_t tag) {
  NotifiedMessage* const found = first_of(list, tag);
  if (found) std::erase(list, found);
  return found;
}

void scatter(std::span<const Piece> pieces, const std::byte* from, std::size_t bytes) {
  for (const Piece& piece : pieces) {
    const std::size_t now = std::min(piece.bytes, bytes);
    if (now > 0) std::memcpy(piece.at, from, now);
    from += now;
    bytes -= now;
  }
}

}  // namespace

int FabricLink::post_receive(Message& message) {
  const auto early =
      std::find_if(early_.begin(), early_.end(), [&](const Early& each) { return each.tag == message.tag; });
  const bool is_large = message.bytes > mine_.eager;
  if (early == early_.end()) {
    posted_.push_back(&message);
    if (is_large) unannounced_.push_back(&message);
    return advance();
  }
  const Early matched = std::move(*early);
  early_.erase(early);
  if (matched.asks)
    match_ask(message, matched.sent);
  else
    deliver(message, matched.bytes.data(), matched.bytes.size());
  if (is_large && !message.is_complete) unannounced_.push_back(&message);
  return advance();
}

int FabricLink::announce_all() {
  std::size_t number = 0;
  while (!unannounced_.empty()) {
    while (number < announced_.size() && announced_[number]) ++number;
    if (number == numbers) return 0;  // later
    if (number == announced_.size()) announced_.push_back(nullptr);
    Message& message = *unannounced_.front();
    unannounced_.erase(unannounced_.begin());
    if (const int code = announce(message, number); code != 0) return code;
  }
  return 0;
}

int FabricLink::announce(Message& message, std::size_t number) {
  Piece memory = message.pieces.front();
  if (message.pieces.size() > 1) {
    message.staging.resize(message.bytes);
    memory = {message.staging.data(), message.bytes};
  }
  if (const int code = endpoint_.register_memory(memory, &message.region); code != 0) return code;
  announced_[number] = &message;
  message.number = static_cast<int>(number);
  controls_.push_back({.kind = Kind::ready,
                       .tag = message.tag,
                       .number = static_cast<std::uint32_t>(number),
                       .bytes = message.bytes,
                       .target = message.region.target});
  return 0;
}

/// Takes back an offer whose `ready` was not put, if there is one.
void FabricLink::drop_ready(Message& message) {
  if (message.number < 0) return;
  const auto number = static_cast<std::uint32_t>(message.number);
  std::erase_if(controls_,
                [&](const Envelope& each) { return each.kind == Kind::ready && each.number == number; });
  end_offer(message);
}

/// The other side does not put into the message any more.
void FabricLink::end_offer(Message& message) {
  endpoint_.deregister(message.region);
  announced_[static_cast<std::size_t>(message.number)] = nullptr;
  message.number = -1;
  message.is_offered = false;
  std::erase(offered_, &message);
}

/// A `data` entry of this tag was read. Receives that it does not match are offered again, as are those whose
/// `ready` was not put: offers of a tag keep the order of their receives.
void FabricLink::void_offers(std::uint32_t tag) {
  std::vector<Message*> again;
  while (Message* const message = first_of(offered_, tag)) {
    end_offer(*message);
    if (message->is_withdrawn)
      complete(*message, 0);
    else
      again.push_back(message);
  }
  if (again.empty()) return;
  const std::size_t were_put = again.size();
  for (const Envelope& each : controls_)
    if (each.kind == Kind::ready && each.tag == tag && !announced_[each.number]->is_matched)
      again.push_back(announced_[each.number]);
  for (std::size_t i = were_put; i < again.size(); ++i) drop_ready(*again[i]);
  unannounced_.insert(unannounced_.begin(), again.begin(), again.end());
}

int FabricLink::handle(std::uint32_t word) {
  const std::uint32_t number = word % numbers;
  const auto advance_to = [&](std::uint32_t& counter, std::uint32_t most) {
    const std::uint32_t more = (number - counter) % numbers;
    if (more <= most - counter) counter += more;  // else it was overtaken
  };
  switch (static_cast<Notice>(word >> number_bits)) {
    case Notice::entry:
      arrived_.set(number);
      return read_ring();
    case Notice::space:
      advance_to(their_read_, put_);
      return 0;
    case Notice::matched:
      advance_to(their_matched_, sent_);
      return 0;
    case Notice::put:
      end_put(number);
      return 0;
  }
  return FabricEndpoint::broken;
}

int FabricLink::read_ring() {
  while (arrived_.test(read_ % numbers)) {
    arrived_.reset(read_ % numbers);
    Envelope envelope;
    const std::byte* const entry = ring_.memory.get() + at_ % mine_.ring_bytes;
    std::memcpy(&envelope, entry, sizeof envelope);
    const auto newer = [](std::uint32_t& counter, std::uint32_t value) {
      if (static_cast<std::int32_t>(value - counter) > 0) counter = value;
    };
    newer(their_read_, envelope.read);
    newer(their_matched_, envelope.matched);
    const std::size_t bytes = envelope.kind == Kind::data ? envelope.bytes : 0;
    if (bytes > mine_.eager) return FabricEndpoint::broken;
    if (const int code = read_entry(envelope, entry + sizeof envelope); code != 0) return code;
    at_ = after(at_, entry_bytes(bytes), mine_.ring_bytes, mine_.eager);
    ++read_;
  }
  return 0;
}

int FabricLink::read_entry(const Envelope& envelope, const std::byte* bytes) {
  switch (envelope.kind) {
    case Kind::data:
      return take_data(envelope, bytes), 0;
    case Kind::put:
      return take_put(envelope);
    case Kind::asks:
      return take_ask(envelope), 0;
    case Kind::ready:
      return take_offer({envelope.tag, envelope.number, envelope.bytes, envelope.target}, envelope.read);
    case Kind::withdraw:
      if (std::erase_if(offers_, [&](const Offer& each) { return each.number == envelope.number; }) > 0)
        control(Kind::withdrawn, envelope.tag, envelope.number);
      return 0;
    case Kind::withdrawn:
      return take_withdrawn(envelope.number);
    case Kind::refused:
      if (Message* const message = take_first(waiting_, envelope.tag)) complete(*message, 0);
      return 0;
  }
  return FabricEndpoint::broken;
}

void FabricLink::take_data(const Envelope& envelope, const std::byte* bytes) {
  void_offers(envelope.tag);
  if (Message* const message = take_first(posted_, envelope.tag))
    deliver(*message, bytes, envelope.bytes);
  else
    early_.push_back({envelope.tag, false, 0, {bytes, bytes + envelope.bytes}});
}

int FabricLink::take_put(const Envelope& envelope) {
  Message* const message = envelope.number < announced_.size() ? announced_[envelope.number] : nullptr;
  if (!message || !message->is_offered) return FabricEndpoint::broken;
  use_offer(*message, envelope.bytes);
  return 0;
}

void FabricLink::take_ask(const Envelope& envelope) {
  if (Message* const message = first_of(offered_, envelope.tag)) return use_offer(*message, envelope.bytes);
  if (Message* const message = take_first(posted_, envelope.tag)) return match_ask(*message, envelope.bytes);
  early_.push_back({envelope.tag, true, envelope.bytes, {}});
}

/// `read`: entries of this side that the other one had read before.
int FabricLink::take_offer(const Offer& offer, std::uint32_t read) {
  Message* const waiting = first_of(waiting_, offer.tag);
  const std::uint32_t end = waiting ? waiting->entry : put_;
  if (put_ - read > numbers) return FabricEndpoint::broken;  // credit has overtaken more than a ring holds
  for (std::uint32_t entry = read; static_cast<std::int32_t>(end - entry) > 0; ++entry)
    if (data_tags_[entry % numbers] == offer.tag) return 0;  // void
  if (!waiting) return offers_.push_back(offer), 0;
  std::erase(waiting_, waiting);
  return put_into(*waiting, offer);
}

int FabricLink::take_withdrawn(std::uint32_t number) {
  Message* const message = number < announced_.size() ? announced_[number] : nullptr;
  if (!message || !message->is_withdrawn) return FabricEndpoint::broken;
  end_offer(*message);
  complete(*message, 0);
  return 0;
}

void FabricLink::deliver(Message& message, const std::byte* bytes, std::size_t count) {
  ++matched_;
  std::erase(unannounced_, &message);
  drop_ready(message);
  scatter(message.pieces, bytes, count);
  complete(message, count > message.bytes ? FabricEndpoint::truncated : 0);
}

/// Matches a receive that has not been offered.
void FabricLink::match_ask(Message& message, std::size_t bytes) {
  ++matched_;
  message.sent = bytes;
  message.is_matched = true;
  if (bytes <= message.bytes) return;
  std::erase(unannounced_, &message);
  drop_ready(message);
  control(Kind::refused, message.tag, 0);
  complete(message, FabricEndpoint::truncated);
}

/// The entry of the message that is put into an offer was read. A shorter receive that was posted before is
/// an error of the program.
void FabricLink::use_offer(Message& message, std::size_t bytes) {
  ++matched_;
  std::erase(offered_, &message);
  if (Message* const first = first_of(posted_, message.tag);
      first && first != &message && first->bytes <= mine_.eager) {
    std::erase(posted_, first);
    complete(*first, FabricEndpoint::truncated);
  }
  std::erase(posted_, &message);
  message.sent = bytes;
  message.is_matched = true;
  if (bytes > message.bytes)
    end_offered(message, FabricEndpoint::truncated);
  else if (message.is_put)
    end_offered(message, 0);
}

void FabricLink::end_put(std::uint32_t number) {
  Message* const message = number < announced_.size() ? announced_[number] : nullptr;
  if (!message) return;
  message->is_put = true;
  if (message->is_matched) end_offered(*message, 0);
}

void FabricLink::end_offered(Message& message, int code) {
  end_offer(message);
  if (code == 0 && !message.staging.empty()) scatter(message.pieces, message.staging.data(), message.sent);
  complete(message, code);
}

}  // namespace convene::transport
