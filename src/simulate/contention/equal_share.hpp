// SPDX-License-Identifier: BSD-3-Clause
// Contention, the fast mode: every channel divides its bandwidth equally among the messages that are in it, whatever
// holds these up elsewhere. A message is through when the last of its channels has carried it. Where all messages have
// their bottleneck in one place this is max-min fairness; where they have not, a channel here gives to a message that is
// slower elsewhere what it cannot use.
//
// A channel keeps one number for all its messages: how many bytes it has carried for each of them so far. A change of the
// number of messages changes nothing but the rate of that one number.
//
// A message that finds all its channels empty is foreseen to leave them at a certain moment: they have no event then, and
// are empty again once that moment is past. Should another message enter one of them before, the first is reconsidered: what
// still carries it gets the event that it would have had. (Not in channels where that happened the last time.)
//
// Channels of one way that expect their next departure in the same moment (all of them, where a message is alone and links
// are equal) are chained to one event: that of the first, which serves each of the others whose stamp is still the event's. A
// channel that gets another event leaves the chain, and those behind it get an event of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "simulate/contention/departures.hpp"
#include "simulate/kernel/event_queue.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {

/// What a channel did in a run.
struct ChannelUse {
  ChannelId channel = 0;
  double bytes = 0;    ///< carried
  double seconds = 0;  ///< in which it carried anything
};

class Sharing {
 public:
  /// Events that this class wants are pushed as `kind` plus a channel.
  Sharing(const Network& network, EventQueue& events, std::uint32_t kind)
      : events_(events), kind_(kind), channels_(network.channels()), later_(network.channels()) {
    for (ChannelId c = 0; c < channels_.size(); ++c) channels_[c].seconds_a_byte = network.seconds_a_byte(c);
  }

  /// Whether this class can tell when a message will have passed.
  static constexpr bool foresees = true;

  /// Lets a message of more than 0 bytes in where it is foreseen to be alone in all its channels; returns when it will have
  /// passed them, unless it is reconsidered.
  std::optional<double> foresee(FlowId flow, double bytes, const Path& path, double now) {
    for (unsigned i = 0; i < path.count; ++i)
      if (const Channel& c = channels_[path.channels[i]]; c.was_shared || !is_empty(c, now)) return {};
    double passed = now;
    for (unsigned i = 0; i < path.count; ++i) {
      Channel& c = channels_[path.channels[i]];
      begin(c, flow, bytes, now);
      c.is_foreseen = true;
      c.due = due_of(c, now);
      passed = std::max(passed, c.due);
    }
    return passed;
  }

  /// Calls f(flow) for each message that is foreseen to be alone in one of these channels, where another one is coming: it
  /// must reconsider it.
  template <class F>
  void for_foreseen(const Path& path, double now, F&& f) {
    for (unsigned i = 0; i < path.count; ++i)
      if (const Channel& c = channels_[path.channels[i]]; c.is_foreseen && c.due > now) f(c.flow);
  }

  /// A foreseen message on this path goes on, by another number if it likes, as one that has entered. Returns in how many
  /// parts it will be done.
  unsigned reconsider(FlowId flow, FlowId number, const Path& path, double now) {
    unsigned parts = 0;
    Channel* last = nullptr;
    for (unsigned i = 0; i < path.count; ++i) {
      const ChannelId id = path.channels[i];
      Channel& c = channels_[id];
      if (!c.is_foreseen || c.flow != flow || c.due <= now) continue;
      c.is_foreseen = false;
      c.flow = number;
      c.changed = false;
      chain(id, c, last);
      ++parts;
    }
    return parts;
  }

  /// A message of more than 0 bytes begins. The path must have channels. Returns in how many parts it will be done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now) {
    Channel* last = nullptr;  // of those that have been armed
    for (unsigned i = 0; i < path.count; ++i) {
      const ChannelId id = path.channels[i];
      Channel& c = channels_[id];
      add(id, flow, bytes, now);
      const double due = due_of(c, now);
      if (c.stamp != idle && due >= c.due) continue;  // its event finds out that it comes too early
      disarm(c);
      c.due = due;
      c.changed = false;
      chain(id, c, last);
    }
    return path.count;
  }

  /// A channel's event: calls part_done(flow) for every message that it, and those chained to it, have carried.
  template <class Done>
  void fire(std::uint32_t channel, std::uint32_t stamp, double now, Done&& part_done) {
    finished_.clear();
    while (channel != nobody && channels_[channel].stamp == stamp) {
      Channel& c = channels_[channel];
      c.stamp = idle;
      const ChannelId next = std::exchange(c.next, nobody);
      serve(channel, c, now);
      channel = next;
    }
    // Last, since whoever is done may let others in.
    for (const FlowId flow : finished_) part_done(flow);
  }

  void fetch_event(std::uint32_t channel) const { fetch_channel(channel); }
  void fetch_channel(ChannelId channel) const { fetch_soon(channels_.data() + channel); }

  template <class Fetch>
  void fetch_further(std::uint32_t channel, Fetch&& fetch) const {
    const Channel& c = channels_[channel];
    fetch(c.flow);
    if (c.present > 1) fetch_soon(&later_[channel]);
    if (c.next != nobody) fetch_channel(c.next);
  }

  template <class Fetch>
  void fetch_last(std::uint32_t channel, Fetch&& fetch) const {
    const Channel& c = channels_[channel];
    fetch(c.flow);
    if (c.present > 1) later_[channel].fetch();
  }

  /// Nothing to do when a moment is over.
  void settle(double) {}
  bool is_settled() const { return true; }

  /// A channel that carries anything does so with all its bandwidth.
  ChannelUse use(ChannelId channel) const {
    const Channel& c = channels_[channel];
    return {channel, c.bytes, c.bytes * c.seconds_a_byte};
  }

 private:
  static constexpr double rounding = 1e-12;
  static constexpr ChannelId nobody = 0xffffffffu;
  static constexpr std::uint32_t idle = 0;  // the stamp of a channel without an event

  /// One line of a cache.
  struct alignas(64) Channel {
    double seconds_a_byte = 0;
    double carried = 0;  // bytes for each message, since the channel was last empty
    double since = 0;    // when `carried` had this value
    double due = 0;      // of the event that is under way
    double bytes = 0;    // carried in all
    double enough =
        0;            // where messages are present: what it will have carried for each when the first is done
    FlowId flow = 0;  // that is the first
    std::uint32_t present : 29 = 0;
    std::uint32_t changed : 1 = 0;      // whether messages came after the event was set
    std::uint32_t was_shared : 1 = 0;   // whether there were several at a time, since it was last empty
    std::uint32_t is_foreseen : 1 = 0;  // the only message has no event; it is gone when it is due
    std::uint32_t stamp = idle;         // of the event
    ChannelId next = nobody;            // whose event it is as well, as long as the stamps agree
  };
  static_assert(sizeof(Channel) == 64);

  static bool is_empty(const Channel& c, double now) {
    return c.present == 0 || (c.is_foreseen && c.due <= now);
  }

  static void begin(Channel& c, FlowId flow, double bytes, double now) {
    c.bytes += bytes;
    c.since = now;
    c.carried = 0;
    c.enough = bytes;
    c.flow = flow;
    c.present = 1;
    c.was_shared = false;
    c.is_foreseen = false;
  }

  static void advance(Channel& c, double now) {
    if (c.since == now) return;
    c.carried += (now - c.since) / (c.seconds_a_byte * static_cast<double>(c.present));
    c.since = now;
  }

  /// When the first of its messages will be done if nothing changes.
  static double due_of(const Channel& c, double now) {
    const double left = c.enough - c.carried;
    if (left <= c.carried * rounding) return now;
    return on_grid(now + left * c.seconds_a_byte * static_cast<double>(c.present));
  }

  void add(ChannelId id, FlowId flow, double bytes, double now) {
    Channel& c = channels_[id];
    if (is_empty(c, now)) {
      begin(c, flow, bytes, now);
    } else {
      c.bytes += bytes;
      c.was_shared = true;
      advance(c, now);
      Departure departure{c.carried + bytes, flow};
      if (departure.enough < c.enough) {
        std::swap(departure.enough, c.enough);
        std::swap(departure.flow, c.flow);
      }
      later_[id].add(departure);
      ++c.present;
    }
    c.changed = true;
  }

  /// Its event has come: what is done leaves.
  void serve(ChannelId id, Channel& c, double now) {
    if (c.changed) {
      advance(c, now);
      if (const double due = due_of(c, now); due > now) return arm(id, c, due);
    }
    c.carried = c.enough;
    c.since = now;
    const double enough = c.carried * (1 + rounding);
    while (c.present > 0 && c.enough <= enough) {
      finished_.push_back(c.flow);
      if (--c.present == 0) break;
      const Departure first = later_[id].take_first();
      c.enough = first.enough;
      c.flow = first.flow;
    }
    if (c.present > 0) arm(id, c, due_of(c, now));
  }

  /// Gives a channel of a path an event, or that of the one before it, `last`, if it is due in the same moment.
  void chain(ChannelId id, Channel& c, Channel*& last) {
    if (last && last->due == c.due) {
      last->next = id;
      c.stamp = last->stamp;
    } else {
      push(id, c);
    }
    last = &c;
  }

  void arm(ChannelId id, Channel& c, double due) {
    c.due = due;
    c.changed = false;
    push(id, c);
  }

  void push(ChannelId id, Channel& c) {
    if (++stamp_ == idle) ++stamp_;
    c.stamp = stamp_;
    events_.push(c.due, kind_ | id, stamp_);
  }

  /// The channel gets another event: those behind it in its chain get one of their own.
  void disarm(Channel& c) {
    const ChannelId first = std::exchange(c.next, nobody);
    if (first == nobody) return;
    if (channels_[first].stamp != c.stamp) return;
    const std::uint32_t stamp = c.stamp;
    push(first, channels_[first]);
    for (ChannelId id = channels_[first].next; id != nobody && channels_[id].stamp == stamp;
         id = channels_[id].next)
      channels_[id].stamp = channels_[first].stamp;
  }

  EventQueue& events_;
  const std::uint32_t kind_;
  std::uint32_t stamp_ = idle;
  LargeVector<Channel> channels_;
  LargeVector<LaterDepartures> later_;  // by channel: messages but the first
  std::vector<FlowId> finished_;
};

}  // namespace convene::simulate
