// SPDX-License-Identifier: BSD-3-Clause
// Contention, the exact mode: max-min fairness over paths. All messages' rates grow together; where a channel is full,
// its messages keep the rate that they have and the others go on growing (progressive filling). After each moment in
// which messages came or went, the rates of all that share channels with them, directly or through others, are
// determined anew; everybody else keeps his.
//
// Messages that take the same channels have the same rate, so rates belong to routes, of which there are far fewer where
// nodes have many cores or ranks have many messages on their way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "simulate/contention/departures.hpp"
#include "simulate/contention/equal_share.hpp"
#include "simulate/kernel/event_queue.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {

class Fairness {
 public:
  /// Events that this class wants are pushed as `kind` plus a route.
  Fairness(const Network& network, EventQueue& events, std::uint32_t kind);
  Fairness(const Fairness&) = delete;  // its table of routes looks into it
  Fairness& operator=(const Fairness&) = delete;

  /// Whether this class can tell when a message will have passed (as Sharing can).
  static constexpr bool foresees = false;

  /// A message of more than 0 bytes begins. The path must have channels. Returns in how many parts it will be done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now);

  /// A route's event: calls part_done(flow) for every message that it has carried, unless it is out of date.
  template <class Done>
  void fire(std::uint32_t route, std::uint32_t stamp, double now, Done&& part_done) {
    if (routes_[route].stamp != stamp) return;
    take_finished(route, now);
    for (const FlowId flow : finished_) part_done(flow);
  }

  void fetch_event(std::uint32_t route) const { fetch_soon(routes_.data() + route); }
  void fetch_channel(ChannelId channel) const { fetch_soon(channels_.data() + channel); }

  template <class Fetch>
  void fetch_further(std::uint32_t, Fetch&&) const {}
  template <class Fetch>
  void fetch_last(std::uint32_t, Fetch&&) const {}

  /// The moment is over: gives everybody his new rate.
  void settle(double now);
  bool is_settled() const { return dirty_.empty(); }

  ChannelUse use(ChannelId channel) const {
    ChannelUse use = channels_[channel].use;
    use.channel = channel;
    return use;
  }

 private:
  using RouteId = std::uint32_t;

  struct Hop {
    ChannelId channel;
    std::uint32_t position;  // among the channel's routes
  };
  struct Route {
    Departures messages;
    double carried = 0;  // bytes for each message, since there was last none
    double since = 0;    // when `carried` had this value
    double rate = 0;     // bytes per second of each message
    std::uint32_t stamp = 0;
    bool armed = false;  // whether its event is that of its first message at this rate
    std::uint8_t count = 0;
    std::uint32_t hops = 0;  // where they begin
    std::uint64_t reached_in = 0,
                  fixed_in = 0;  // the moments in which its rate was last asked for, and determined
  };
  struct Member {
    RouteId route;
    std::uint32_t hop;
  };
  struct Channel {
    double bandwidth = 0;
    std::vector<Member> members;  // routes that have messages
    std::uint32_t present = 0;    // messages
    // While rates are determined:
    std::uint32_t open = 0;  // messages that have none yet
    double spare = 0;
    std::uint64_t reached_in = 0;  // the moment in which it last took part
    bool dirty = false;
    double busy_since = 0;
    ChannelUse use;
  };
  struct Share {
    double value;
    ChannelId channel;

    bool operator<(const Share& other) const {
      return value < other.value || (value == other.value && channel < other.channel);
    }
  };

  /// Routes are found by their channels.
  struct Table {
    using is_transparent = void;
    const Fairness* of;

    std::size_t operator()(RouteId route) const;
    std::size_t operator()(const Path& path) const;
    bool operator()(RouteId a, RouteId b) const { return a == b; }
    bool operator()(const Path& path, RouteId route) const;
    bool operator()(RouteId route, const Path& path) const { return (*this)(path, route); }
  };

  std::span<Hop> hops(const Route& route) { return {hops_.data() + route.hops, route.count}; }
  RouteId route_of(const Path& path);
  void mark(ChannelId channel);
  void take_finished(RouteId id, double now);
  void open(RouteId id, double now);
  void close(RouteId id, double now);
  void collect();
  void visit(ChannelId channel);
  void fill(double now);
  void sift_down(std::size_t at);
  void fix(RouteId id, double rate, double now);

  EventQueue& events_;
  const std::uint32_t kind_;
  std::vector<Channel> channels_;
  std::vector<Route> routes_;
  std::vector<Hop> hops_;
  std::unordered_set<RouteId, Table, Table> table_;
  std::vector<FlowId> finished_;
  std::uint64_t moment_ = 0;  // of those in which rates were determined, the number of the last
  std::vector<ChannelId> dirty_, reached_;
  std::vector<Share> shares_;  // a heap, the least first: what each message of a channel would get
};

}  // namespace convene::simulate
