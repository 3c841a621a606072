// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/contention/max_min_fair.hpp"

#include <cmath>

namespace convene::simulate {
namespace {

constexpr double rounding = 1e-12;

std::size_t mixed(std::size_t hash, ChannelId channel) {
  hash = (hash ^ channel) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace

MaxMinFair::MaxMinFair(const SimulatedNetwork& network, GridEventQueue& events, std::uint32_t kind)
    : events_(events), kind_(kind), channels_(network.channels()) {
  for (ChannelId c = 0; c < channels_.size(); ++c) channels_[c].bandwidth = 1 / network.seconds_a_byte(c);
  resize_table(64);
}

bool MaxMinFair::has_channels(const Route& route, const Path& path) const {
  return std::equal(path.channels.begin(), path.channels.begin() + path.count, hops_.begin() + route.hops,
                    hops_.begin() + route.hops + route.count,
                    [](ChannelId channel, const Hop& hop) { return channel == hop.channel; });
}

MaxMinFair::RouteId MaxMinFair::route_of(const Path& path) {
  std::size_t hash = 0;
  for (unsigned hop = 0; hop < path.count; ++hop) hash = mixed(hash, path.channels[hop]);
  std::size_t at = hash & (table_.size() - 1);
  for (; table_[at] != no_route; at = (at + 1) & (table_.size() - 1))
    if (has_channels(routes_[table_[at]], path)) return table_[at];
  const auto id = static_cast<RouteId>(routes_.size());
  table_[at] = id;
  Route& route = routes_.emplace_back();
  later_.emplace_back();
  route.count = static_cast<std::uint8_t>(path.count);
  route.hops = static_cast<std::uint32_t>(hops_.size());
  for (unsigned hop = 0; hop < path.count; ++hop) hops_.push_back({path.channels[hop], 0});
  if (2 * routes_.size() > table_.size()) resize_table(2 * table_.size());
  return id;
}

/// `places`: a power of two, more than there are routes.
void MaxMinFair::resize_table(std::size_t places) {
  table_.assign(places, no_route);
  for (RouteId id = 0; id < routes_.size(); ++id) {
    std::size_t hash = 0;
    for (const Hop& hop : hops(routes_[id])) hash = mixed(hash, hop.channel);
    std::size_t at = hash & (places - 1);
    while (table_[at] != no_route) at = (at + 1) & (places - 1);
    table_[at] = id;
  }
}

void MaxMinFair::mark(ChannelId id) {
  if (std::exchange(channels_[id].dirty, true)) return;
  dirty_.push_back(id);
}

unsigned MaxMinFair::enter(FlowId flow, double bytes, const Path& path, double now) {
  const RouteId id = route_of(path);
  Route& route = routes_[id];
  if (route.messages.present == 0) open(id, now);
  route.carried += (now - route.since) * route.rate;
  route.since = now;
  if (route.messages.add({route.carried + bytes, flow}, later_[id])) route.armed = false;
  for (const Hop& hop : hops(route)) {
    ChannelState& channel = channels_[hop.channel];
    channel.use.bytes += bytes;
    if (channel.present++ == 0) ++active_;
    mark(hop.channel);
  }
  return 1;
}

/// A route has its first message.
void MaxMinFair::open(RouteId id, double now) {
  Route& route = routes_[id];
  route.carried = route.rate = 0;
  route.since = now;
  for (std::uint32_t hop = 0; hop < route.count; ++hop) {
    Hop& here = hops_[route.hops + hop];
    ChannelState& channel = channels_[here.channel];
    if (channel.members.empty()) channel.busy_since = now;
    here.position = static_cast<std::uint32_t>(channel.members.size());
    channel.members.push_back({id, hop});
  }
}

/// A route's last message has left.
void MaxMinFair::close(RouteId id, double now) {
  for (const Hop& hop : hops(routes_[id])) {
    ChannelState& channel = channels_[hop.channel];
    const Member last = channel.members.back();
    channel.members[hop.position] = last;
    hops_[routes_[last.route].hops + last.hop].position = hop.position;
    channel.members.pop_back();
    if (channel.members.empty()) channel.use.seconds += now - channel.busy_since;
  }
}

void MaxMinFair::take_finished(RouteId id, double now) {
  Route& route = routes_[id];
  ++route.stamp;
  route.armed = false;
  route.carried = route.messages.enough;
  route.since = now;
  const double enough = route.carried * (1 + rounding);
  finished_.clear();
  while (route.messages.present > 0 && route.messages.enough <= enough)
    finished_.push_back(route.messages.take_first(later_[id]));
  if (route.messages.present == 0) close(id, now);
  for (const Hop& hop : hops(route)) {
    ChannelState& channel = channels_[hop.channel];
    channel.present -= static_cast<std::uint32_t>(finished_.size());
    if (channel.present == 0) --active_;
    mark(hop.channel);
  }
}

void MaxMinFair::settle(double now) {
  ++moment_;
  collect();
  fill(now);
  for (ChannelId id : dirty_) channels_[id].dirty = false;
  dirty_.clear();
  reached_.clear();
}

void MaxMinFair::visit(ChannelId id) {
  ChannelState& channel = channels_[id];
  if (channel.present == 0 || std::exchange(channel.reached_in, moment_) == moment_) return;
  channel.spare = channel.bandwidth;
  channel.open = channel.present;
  reached_.push_back(id);
}

/// Collects the channels of all routes that share channels with the dirty ones, directly or indirectly. Often
/// these are all channels with messages, as the first few show.
void MaxMinFair::collect() {
  for (ChannelId id : dirty_) visit(id);
  for (std::size_t next = 0; next < reached_.size(); ++next)
    for (const Member& member : channels_[reached_[next]].members) {
      if (reached_.size() == active_) return;
      for (const Hop& hop : hops(routes_[member.route])) visit(hop.channel);
    }
}

/// Fills channels in the order in which they become full. A channel's share only grows while others are
/// filled, so an outdated share stays in the heap with its new value.
void MaxMinFair::fill(double now) {
  for (ChannelId id : reached_) shares_.push_back(share_of(channels_[id], id));
  for (std::size_t at = shares_.size() / 2; at-- > 0;) sift_down(at, shares_[at]);
  while (!shares_.empty()) {
    const Share share = shares_.front();
    const auto id = static_cast<ChannelId>(share);
    const ChannelState& channel = channels_[id];
    if (channel.open > 0) {
      if (const Share current = share_of(channel, id); current > share) {
        sift_down(0, current);
        continue;
      }
      const auto rate = std::bit_cast<double>(static_cast<std::uint64_t>(share >> 64));
      for (const Member& member : channel.members)
        if (routes_[member.route].fixed_in != moment_) fix(member.route, rate, now);
    }
    const Share last = shares_.back();
    shares_.pop_back();
    if (!shares_.empty()) sift_down(0, last);
  }
}

/// Puts a share into the heap at a place whose own share is obsolete. (The standard library's heaps cannot
/// change one.)
void MaxMinFair::sift_down(std::size_t at, Share share) {
  for (std::size_t child; (child = 2 * at + 1) < shares_.size(); at = child) {
    if (child + 1 < shares_.size()) child += shares_[child + 1] < shares_[child];
    if (shares_[child] >= share) break;
    shares_[at] = shares_[child];
  }
  shares_[at] = share;
}

/// Sets a route's rate. A route with the same rate and the same first message keeps its event.
void MaxMinFair::fix(RouteId id, double rate, double now) {
  Route& route = routes_[id];
  route.fixed_in = moment_;
  const std::uint32_t present = route.messages.present;
  for (const Hop& hop : hops(route)) {
    ChannelState& channel = channels_[hop.channel];
    channel.spare = std::max(0.0, channel.spare - rate * present);
    channel.open -= present;
  }
  const bool keeps_rate = std::abs(rate - route.rate) <= rounding * rate;
  if (keeps_rate && route.armed) return;
  if (!keeps_rate) {
    route.carried += (now - route.since) * route.rate;
    route.since = now;
    route.rate = rate;
  }
  route.armed = true;
  const double left = std::max(0.0, route.messages.enough - route.carried);
  events_.push(std::max(now, route.since + left / route.rate), kind_ | id, ++route.stamp);
}

}  // namespace convene::simulate
