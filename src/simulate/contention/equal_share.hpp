// SPDX-License-Identifier: BSD-3-Clause
// Equal share, the fast contention model: every channel divides its bandwidth equally among its messages,
// independent of their limits elsewhere. A message has passed when the last of its channels has carried it.
// If all messages have their bottleneck in one channel, this is max-min fairness; otherwise a channel
// reserves bandwidth that a message limited elsewhere does not use.
//
// A channel keeps one number for all its messages: the bytes that it has carried for each of them. A message
// that enters or leaves changes only the rate of that number.
//
// If all channels of a message are empty, the time at which it leaves them is predicted: they have no event,
// and are empty again after that time. If another message enters one of them before, the first is
// reconsidered: channels that still carry it get an ordinary event. (A channel that was shared the last time
// gets no prediction.)
//
// Channels of one path whose next departures coincide (all of them, if a message is alone and links are
// equal) are chained to one event, that of the first channel, which serves the others as long as their stamps
// equal the event's. A channel that gets another event leaves the chain, and the channels after it get their
// own event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "simulate/contention/channel_use.hpp"
#include "simulate/contention/departures.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {

class EqualShare {
 public:
  /// Adds events of the number `kind` plus a channel.
  EqualShare(const SimulatedNetwork& network, GridEventQueue& events, std::uint32_t kind)
      : events_(events), kind_(kind), channels_(network.channels()), later_(network.channels()) {
    for (ChannelId c = 0; c < channels_.size(); ++c) channels_[c].seconds_a_byte = network.seconds_a_byte(c);
  }

  /// This model can predict when a message leaves its channels.
  static constexpr bool foresees = true;

  /// Enters a message of more than 0 bytes if all its channels are empty. Returns when it will have passed
  /// them, unless it is reconsidered.
  std::optional<double> foresee(FlowId flow, double bytes, const Path& path, double now) {
    for (unsigned i = 0; i < path.count; ++i)
      if (const ChannelState& c = channels_[path.channels[i]]; c.was_shared || !is_empty(c, now)) return {};
    double passed = now;
    for (unsigned i = 0; i < path.count; ++i) {
      ChannelState& c = channels_[path.channels[i]];
      begin(c, flow, bytes, now);
      c.is_foreseen = true;
      c.due = due_of(c, now);
      passed = std::max(passed, c.due);
    }
    return passed;
  }

  /// Calls f(flow) for each predicted message in these channels, before another one enters: f must reconsider
  /// it.
  template <class F>
  void for_foreseen(const Path& path, double now, F&& f) {
    for (unsigned i = 0; i < path.count; ++i)
      if (const ChannelState& c = channels_[path.channels[i]]; c.is_foreseen && c.due > now) f(c.flow);
  }

  /// Turns a predicted message on this path into an ordinary one, with the number `number`. Returns the
  /// number of parts that will be reported as done.
  unsigned reconsider(FlowId flow, FlowId number, const Path& path, double now) {
    unsigned parts = 0;
    ChannelState* last = nullptr;
    for (unsigned i = 0; i < path.count; ++i) {
      const ChannelId id = path.channels[i];
      ChannelState& c = channels_[id];
      if (!c.is_foreseen || c.flow != flow || c.due <= now) continue;
      c.is_foreseen = false;
      c.flow = number;
      c.changed = false;
      chain(id, c, last);
      ++parts;
    }
    return parts;
  }

  /// Enters a message of more than 0 bytes. The path must have channels. Returns the number of parts that
  /// will be reported as done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now) {
    ChannelState* last = nullptr;  // the last channel with a new event
    for (unsigned i = 0; i < path.count; ++i) {
      const ChannelId id = path.channels[i];
      ChannelState& c = channels_[id];
      add(id, flow, bytes, now);
      const double due = due_of(c, now);
      if (c.stamp != idle && due >= c.due)
        continue;  // its event is too early, and will be corrected when it
                   // occurs
      disarm(c);
      c.due = due;
      c.changed = false;
      chain(id, c, last);
    }
    return path.count;
  }

  /// The event of a channel: calls part_done(flow) for every message that it and the channels chained to it
  /// have carried.
  template <class Done>
  void fire(std::uint32_t channel, std::uint32_t stamp, double now, Done&& part_done) {
    finished_.clear();
    while (channel != no_channel && channels_[channel].stamp == stamp) {
      ChannelState& c = channels_[channel];
      c.stamp = idle;
      const ChannelId next = std::exchange(c.next, no_channel);
      serve(channel, c, now);
      channel = next;
    }
    // Last, since part_done() may enter other messages.
    for (const FlowId flow : finished_) part_done(flow);
  }

  void prefetch_event(std::uint32_t channel) const { prefetch_channel(channel); }
  void prefetch_channel(ChannelId channel) const { prefetch_line(channels_.data() + channel); }

  template <class Prefetch>
  void prefetch_further(std::uint32_t channel, Prefetch&& prefetch) const {
    const ChannelState& c = channels_[channel];
    prefetch(c.flow);
    if (c.present > 1) prefetch_line(&later_[channel]);
    if (c.next != no_channel) prefetch_channel(c.next);
  }

  template <class Prefetch>
  void prefetch_last(std::uint32_t channel, Prefetch&& prefetch) const {
    const ChannelState& c = channels_[channel];
    prefetch(c.flow);
    if (c.present > 1) later_[channel].prefetch();
  }

  /// No work at the end of a moment.
  void settle(double) {}
  bool is_settled() const { return true; }

  /// A channel with messages uses all its bandwidth.
  ChannelUse use(ChannelId channel) const {
    const ChannelState& c = channels_[channel];
    return {channel, c.bytes, c.bytes * c.seconds_a_byte};
  }

 private:
  static constexpr double rounding = 1e-12;
  static constexpr ChannelId no_channel = 0xffffffffu;
  static constexpr std::uint32_t idle = 0;  // the stamp of a channel without an event

  /// One line of a cache.
  struct alignas(64) ChannelState {
    double seconds_a_byte = 0;
    double carried = 0;  // bytes for each message, since the channel was last empty
    double since = 0;    // the time at which `carried` had this value
    double due = 0;      // time of its pending event
    double bytes = 0;    // carried in all
    double enough = 0;   // with messages: the value of `carried` when the first completes
    FlowId flow = 0;     // the first message
    std::uint32_t present : 29 = 0;
    std::uint32_t changed : 1 = 0;      // messages entered after the event was set
    std::uint32_t was_shared : 1 = 0;   // there were several messages at a time since it was last empty
    std::uint32_t is_foreseen : 1 = 0;  // the only message has no event; it leaves at `due`
    std::uint32_t stamp = idle;         // of the event
    ChannelId next = no_channel;        // the next channel of the same event, while the stamps are equal
  };
  static_assert(sizeof(ChannelState) == 64);

  static bool is_empty(const ChannelState& c, double now) {
    return c.present == 0 || (c.is_foreseen && c.due <= now);
  }

  static void begin(ChannelState& c, FlowId flow, double bytes, double now) {
    c.bytes += bytes;
    c.since = now;
    c.carried = 0;
    c.enough = bytes;
    c.flow = flow;
    c.present = 1;
    c.was_shared = false;
    c.is_foreseen = false;
  }

  static void advance(ChannelState& c, double now) {
    if (c.since == now) return;
    c.carried += (now - c.since) / (c.seconds_a_byte * static_cast<double>(c.present));
    c.since = now;
  }

  /// Time when the first message completes if no other enters or leaves.
  static double due_of(const ChannelState& c, double now) {
    const double left = c.enough - c.carried;
    if (left <= c.carried * rounding) return now;
    return on_grid(now + left * c.seconds_a_byte * static_cast<double>(c.present));
  }

  void add(ChannelId id, FlowId flow, double bytes, double now) {
    ChannelState& c = channels_[id];
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

  /// The event of a channel: completed messages leave.
  void serve(ChannelId id, ChannelState& c, double now) {
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

  /// Adds an event for a channel of a path, or chains it to `last`, the channel before it, if they are due at
  /// the same time.
  void chain(ChannelId id, ChannelState& c, ChannelState*& last) {
    if (last && last->due == c.due) {
      last->next = id;
      c.stamp = last->stamp;
    } else {
      push(id, c);
    }
    last = &c;
  }

  void arm(ChannelId id, ChannelState& c, double due) {
    c.due = due;
    c.changed = false;
    push(id, c);
  }

  void push(ChannelId id, ChannelState& c) {
    if (++stamp_ == idle) ++stamp_;
    c.stamp = stamp_;
    events_.push(c.due, kind_ | id, stamp_);
  }

  /// Removes a channel from its chain: the channels after it get their own event.
  void disarm(ChannelState& c) {
    const ChannelId first = std::exchange(c.next, no_channel);
    if (first == no_channel) return;
    if (channels_[first].stamp != c.stamp) return;
    const std::uint32_t stamp = c.stamp;
    push(first, channels_[first]);
    for (ChannelId id = channels_[first].next; id != no_channel && channels_[id].stamp == stamp;
         id = channels_[id].next)
      channels_[id].stamp = channels_[first].stamp;
  }

  GridEventQueue& events_;
  const std::uint32_t kind_;
  std::uint32_t stamp_ = idle;
  LargeVector<ChannelState> channels_;
  LargeVector<LaterDepartures> later_;  // by channel: all messages except the first
  std::vector<FlowId> finished_;
};

}  // namespace convene::simulate
