// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/fairness.hpp"

#include <algorithm>
#include <functional>

namespace convene {

Fairness::Fairness(const Network& network, EventQueue& events, std::uint32_t kind)
    : events_(events), kind_(kind), channels_(network.channels()) {
  for (ChannelId c = 0; c < channels_.size(); ++c) channels_[c].bandwidth = 1 / network.seconds_a_byte(c);
}

void Fairness::mark(ChannelId id) {
  if (std::exchange(channels_[id].dirty, true)) return;
  dirty_.push_back(id);
}

unsigned Fairness::enter(FlowId id, double bytes, const Path& path, double now) {
  if (id >= flows_.size()) flows_.resize(id + 1);
  Flow& flow = flows_[id];
  flow.rate = 0;
  flow.left = bytes;
  flow.since = now;
  flow.count = path.count;
  for (unsigned hop = 0; hop < path.count; ++hop) {
    Channel& channel = channels_[path.channels[hop]];
    flow.hops[hop] = {path.channels[hop], static_cast<std::uint32_t>(channel.members.size())};
    if (channel.members.empty()) channel.busy_since = now;
    channel.members.push_back({id, hop});
    channel.use.bytes += bytes;
    mark(path.channels[hop]);
  }
  return 1;
}

void Fairness::leave(FlowId id, double now) {
  Flow& flow = flows_[id];
  ++flow.stamp;
  for (unsigned hop = 0; hop < flow.count; ++hop) {
    Channel& channel = channels_[flow.hops[hop].channel];
    const Member last = channel.members.back();
    channel.members[flow.hops[hop].position] = last;
    flows_[last.flow].hops[last.hop].position = flow.hops[hop].position;
    channel.members.pop_back();
    if (channel.members.empty()) channel.use.seconds += now - channel.busy_since;
    mark(flow.hops[hop].channel);
  }
}

void Fairness::settle(double now) {
  collect();
  fill(now);
  for (ChannelId id : reached_) {
    channels_[id].seen = false;
    for (const Member& member : channels_[id].members)
      flows_[member.flow].seen = flows_[member.flow].fixed = false;
  }
  for (ChannelId id : dirty_) channels_[id].dirty = false;
  dirty_.clear();
  reached_.clear();
}

void Fairness::visit(ChannelId id) {
  Channel& channel = channels_[id];
  if (channel.seen || channel.members.empty()) return;
  channel.seen = true;
  channel.spare = channel.bandwidth;
  channel.open = static_cast<std::uint32_t>(channel.members.size());
  reached_.push_back(id);
}

/// All channels that the dirty ones' messages use, and their messages', and so on.
void Fairness::collect() {
  for (ChannelId id : dirty_) visit(id);
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    for (const Member& member : channels_[reached_[next]].members) {
      Flow& flow = flows_[member.flow];
      if (std::exchange(flow.seen, true)) continue;
      for (unsigned hop = 0; hop < flow.count; ++hop) visit(flow.hops[hop].channel);
    }
  }
}

/// Fills the channel that is full first, and so on. A channel's share only grows while others are filled, so a share
/// from the heap that is out of date is put back with its new value.
void Fairness::fill(double now) {
  for (ChannelId id : reached_) shares_.emplace_back(channels_[id].spare / channels_[id].open, id);
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>());
  while (!shares_.empty()) {
    const auto [share, id] = shares_.front();
    std::pop_heap(shares_.begin(), shares_.end(), std::greater<>());
    shares_.pop_back();
    const Channel& channel = channels_[id];
    if (channel.open == 0) continue;
    const double current = channel.spare / channel.open;
    if (current > share) {
      shares_.emplace_back(current, id);
      std::push_heap(shares_.begin(), shares_.end(), std::greater<>());
      continue;
    }
    for (const Member& member : channel.members)
      if (!flows_[member.flow].fixed) fix(member.flow, share, now);
  }
}

/// A flow whose rate stays keeps its event.
void Fairness::fix(FlowId id, double rate, double now) {
  Flow& flow = flows_[id];
  flow.fixed = true;
  for (unsigned hop = 0; hop < flow.count; ++hop) {
    Channel& channel = channels_[flow.hops[hop].channel];
    channel.spare = std::max(0.0, channel.spare - rate);
    --channel.open;
  }
  constexpr double rounding = 1e-12;
  if (std::abs(rate - flow.rate) <= rounding * rate) return;
  flow.left = std::max(0.0, flow.left - (now - flow.since) * flow.rate);
  flow.since = now;
  flow.rate = rate;
  events_.push(now + flow.left / rate, kind_ | id, ++flow.stamp);
}

}  // namespace convene
