// SPDX-License-Identifier: BSD-3-Clause
// Contention, the exact mode: max-min fairness over paths. All messages' rates grow together; where a channel is full,
// its messages keep the rate that they have and the others go on growing (progressive filling). After each moment in
// which messages came or went, the rates of all that share channels with them, directly or through others, are
// determined anew; everybody else keeps his.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/event_queue.hpp"
#include "simulate/network.hpp"
#include "simulate/sharing.hpp"

namespace convene {

class Fairness {
 public:
  /// Events that this class wants are pushed as `kind` plus a flow.
  Fairness(const Network& network, EventQueue& events, std::uint32_t kind);

  /// A message of more than 0 bytes begins. The path must have channels. Returns in how many parts it will be done.
  unsigned enter(FlowId flow, double bytes, const Path& path, double now);

  /// A flow's event: calls part_done(flow) where it is not out of date.
  template <class Done>
  void fire(std::uint32_t flow, std::uint32_t stamp, double now, Done&& part_done) {
    if (flows_[flow].stamp != stamp) return;
    leave(flow, now);
    part_done(flow);
  }

  /// The moment is over: gives everybody his new rate.
  void settle(double now);
  bool is_settled() const { return dirty_.empty(); }

  ChannelUse use(ChannelId channel) const {
    ChannelUse use = channels_[channel].use;
    use.channel = channel;
    return use;
  }

 private:
  struct Hop {
    ChannelId channel;
    std::uint32_t position;  // among the channel's flows
  };
  struct Flow {
    double rate = 0, left = 0, since = 0;  // bytes per second; bytes at that time
    std::uint32_t stamp = 0;
    unsigned count = 0;
    bool fixed = false, seen = false;
    Hop hops[Path::most_channels];
  };
  struct Member {
    FlowId flow;
    unsigned hop;
  };
  struct Channel {
    double bandwidth = 0;
    std::vector<Member> members;
    // While rates are determined:
    double spare = 0;
    std::uint32_t open = 0;
    bool seen = false, dirty = false;
    double busy_since = 0;
    ChannelUse use;
  };
  using Share = std::pair<double, ChannelId>;

  void mark(ChannelId channel);
  void leave(FlowId flow, double now);
  void collect();
  void visit(ChannelId channel);
  void fill(double now);
  void fix(FlowId flow, double rate, double now);

  EventQueue& events_;
  const std::uint32_t kind_;
  std::vector<Channel> channels_;
  std::vector<Flow> flows_;
  std::vector<ChannelId> dirty_, reached_;
  std::vector<Share> shares_;  // a heap: what each member of a channel would get
};

}  // namespace convene
