// SPDX-License-Identifier: BSD-3-Clause
// Contention, the fast mode: every channel divides its bandwidth equally among the messages that are in it, whatever
// holds these up elsewhere. A message is through when the last of its channels has carried it. Where all messages have
// their bottleneck in one place this is max-min fairness; where they have not, a channel here gives to a message that is
// slower elsewhere what it cannot use.
//
// A channel keeps one number for all its messages: how many bytes it has carried for each of them so far. A change of the
// number of messages changes nothing but the rate of that one number.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/departures.hpp"
#include "simulate/event_queue.hpp"
#include "simulate/network.hpp"

namespace convene {

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
      : events_(events), kind_(kind), channels_(network.channels()) {
    for (ChannelId c = 0; c < channels_.size(); ++c) channels_[c].seconds_a_byte = network.seconds_a_byte(c);
  }

  /// A message of more than 0 bytes begins. The path must have channels. Returns in how many parts it will be done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now) {
    for (unsigned i = 0; i < path.count; ++i) enter(path.channels[i], flow, bytes, now);
    return path.count;
  }

  /// A channel's event: calls part_done(flow) for every message that it has carried.
  template <class Done>
  void fire(std::uint32_t channel, std::uint32_t stamp, double now, Done&& part_done) {
    Channel& c = channels_[channel];
    if (stamp != c.stamp) return;
    c.armed = false;
    if (c.changed) {
      advance(c, now);
      const double due = due_of(c, now);
      if (due > now) return arm(channel, c, due);
    }
    c.carried = c.messages.first();
    c.since = now;
    const double enough = c.carried * (1 + rounding);
    finished_.clear();
    while (!c.messages.empty() && c.messages.first() <= enough) finished_.push_back(c.messages.take_first());
    if (c.messages.empty())
      c.use.seconds += now - c.busy_since;
    else
      arm(channel, c, due_of(c, now));
    // Last, since whoever is done may let others in.
    for (const FlowId flow : finished_) part_done(flow);
  }

  /// Nothing to do when a moment is over.
  void settle(double) {}
  bool is_settled() const { return true; }

  ChannelUse use(ChannelId channel) const {
    ChannelUse use = channels_[channel].use;
    use.channel = channel;
    return use;
  }

 private:
  static constexpr double rounding = 1e-12;
  struct Channel {
    double seconds_a_byte = 0;
    double carried = 0;       // bytes for each message, since the channel was last empty
    double since = 0;         // when `carried` had this value
    double due = 0;           // of the event that is under way
    std::uint32_t stamp = 0;  // of the event
    bool armed = false;       // whether there is one
    bool changed = false;     // whether messages came after it was set
    double busy_since = 0;
    Departures messages;
    ChannelUse use;
  };

  static void advance(Channel& c, double now) {
    c.carried += (now - c.since) / (c.seconds_a_byte * static_cast<double>(c.messages.present()));
    c.since = now;
  }

  /// When the first of its messages will be done if nothing changes.
  static double due_of(const Channel& c, double now) {
    const double left = c.messages.first() - c.carried;
    if (left <= c.carried * rounding) return now;
    return on_grid(now + left * c.seconds_a_byte * static_cast<double>(c.messages.present()));
  }

  void arm(ChannelId id, Channel& c, double due) {
    c.due = due;
    c.armed = true;
    c.changed = false;
    events_.push(due, kind_ | id, ++c.stamp);
  }

  /// An event that comes too early finds that out by itself; only one that would come too late is replaced.
  void enter(ChannelId id, FlowId flow, double bytes, double now) {
    Channel& c = channels_[id];
    if (c.messages.empty()) {
      c.carried = 0;
      c.since = c.busy_since = now;
    } else {
      advance(c, now);
    }
    c.use.bytes += bytes;
    c.messages.add(c.carried + bytes, flow);
    c.changed = true;
    const double due = due_of(c, now);
    if (!c.armed || due < c.due) arm(id, c, due);
  }

  EventQueue& events_;
  const std::uint32_t kind_;
  std::vector<Channel> channels_;
  std::vector<FlowId> finished_;
};

}  // namespace convene
