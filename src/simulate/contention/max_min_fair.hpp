// SPDX-License-Identifier: BSD-3-Clause
// Max-min fairness over paths, the exact contention model. The rates of all messages grow together; when a
// channel is full, its messages keep their rate and the others continue to grow (progressive filling). After
// each moment in which messages entered or left, the rates of all messages that share channels with them,
// directly or indirectly, are computed anew.
//
// Messages with the same channels have the same rate. So rates belong to routes, of which there are far fewer
// if nodes have many cores or ranks have many messages in flight.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "simulate/contention/channel_use.hpp"
#include "simulate/contention/departures.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {

class MaxMinFair {
 public:
  /// Adds events of the number `kind` plus a route.
  MaxMinFair(const SimulatedNetwork& network, GridEventQueue& events, std::uint32_t kind);

  /// This model cannot predict when a message leaves its channels.
  static constexpr bool foresees = false;

  /// Enters a message of more than 0 bytes. The path must have channels. Returns the number of parts that
  /// will be reported as done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now);

  /// The event of a route: calls part_done(flow) for every message that it has carried, unless the event is
  /// stale.
  template <class Done>
  void fire(std::uint32_t route, std::uint32_t stamp, double now, Done&& part_done) {
    if (routes_[route].stamp != stamp) return;
    take_finished(route, now);
    for (const FlowId flow : finished_) part_done(flow);
  }

  void prefetch_event(std::uint32_t route) const { prefetch_line(routes_.data() + route); }
  void prefetch_channel(ChannelId channel) const { prefetch_line(channels_.data() + channel); }

  template <class Prefetch>
  void prefetch_further(std::uint32_t, Prefetch&&) const {}
  template <class Prefetch>
  void prefetch_last(std::uint32_t, Prefetch&&) const {}

  /// The end of a moment: computes new rates.
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
  /// One line of a cache.
  struct alignas(64) Route {
    double carried = 0;  // bytes for each message, since the route was last empty
    double since = 0;    // the time at which `carried` had this value
    double rate = 0;     // bytes per second of each message
    Departures messages;
    std::uint64_t fixed_in = 0;  // the moment in which its rate was last computed
    std::uint32_t stamp = 0;
    std::uint32_t hops = 0;  // the first of its hops
    std::uint8_t count = 0;
    bool armed = false;  // its event is that of its first message at this rate
  };
  static_assert(sizeof(Route) == 64);
  struct Member {
    RouteId route;
    std::uint32_t hop;
  };
  /// Two lines of a cache; rates are computed with the first.
  struct alignas(64) ChannelState {
    double bandwidth = 0;
    std::vector<Member> members;  // routes with messages
    std::uint32_t present = 0;    // messages
    // While rates are computed:
    std::uint32_t open = 0;  // messages without a rate yet
    double spare = 0;
    std::uint64_t reached_in = 0;  // the moment in which its rates were last computed
    bool dirty = false;
    double busy_since = 0;
    ChannelUse use;
  };
  /// The share of each message of a channel, as the bits of a double from 0 on, which order as the double
  /// does, and the channel. One integer, whose comparison needs no branch.
  __extension__ using Share = unsigned __int128;
  static Share share_of(const ChannelState& channel, ChannelId id) {
    return Share{std::bit_cast<std::uint64_t>(channel.spare / channel.open)} << 64 | id;
  }

  static constexpr RouteId no_route = 0xffffffffu;

  std::span<Hop> hops(const Route& route) { return {hops_.data() + route.hops, route.count}; }
  RouteId route_of(const Path& path);
  bool has_channels(const Route& route, const Path& path) const;
  void resize_table(std::size_t places);
  void mark(ChannelId channel);
  void take_finished(RouteId id, double now);
  void open(RouteId id, double now);
  void close(RouteId id, double now);
  void collect();
  void visit(ChannelId channel);
  void fill(double now);
  void sift_down(std::size_t at, Share share);
  void fix(RouteId id, double rate, double now);

  GridEventQueue& events_;
  const std::uint32_t kind_;
  LargeVector<ChannelState> channels_;
  std::size_t active_ = 0;  // channels with messages
  LargeVector<Route> routes_;
  LargeVector<LaterDepartures> later_;  // by route: all messages except the first
  std::vector<Hop> hops_;
  std::vector<RouteId> table_;  // an open hash table of routes by their channels; at most half full
  std::vector<FlowId> finished_;
  std::uint64_t moment_ = 0;  // the number of computations of rates
  std::vector<ChannelId> dirty_, reached_;
  std::vector<Share> shares_;  // a heap, the least first
};

}  // namespace convene::simulate
