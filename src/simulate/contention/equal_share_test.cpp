// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/contention/equal_share.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace convene::simulate {
namespace {

/// Four nodes of two cores: paths of one and of two channels, and channels of two speeds.
SimulatedPlatform nodes() {
  return parse_simulated_platform(R"({
    "convene_platform": 1, "machine": "node:4 core:2",
    "within": {"node": {"bandwidth": 5e8}},
    "network": {"shape": "tree", "node": {"bandwidth": 1e9}, "leaves": [2, 2], "uplink": {"bandwidth": 1e9}}})",
                                  "p.json");
}

struct Message {
  std::uint32_t from, to;
  double bytes, enters;
};

/// Times when one channel has carried its messages: each has an equal share until the next enters or leaves.
std::map<std::size_t, double> departures(const std::vector<std::pair<std::size_t, Message>>& messages,
                                         double seconds_a_byte) {
  std::map<std::size_t, double> left, done;
  double now = 0;
  std::size_t next = 0;
  while (next < messages.size() || !left.empty()) {
    const double enters = next < messages.size() ? messages[next].second.enters : 1e9;
    const auto least = std::min_element(left.begin(), left.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const double each = seconds_a_byte * static_cast<double>(left.size());
    const double leaves = left.empty() ? 1e9 : now + least->second * each;
    const double then = std::min(enters, leaves);
    for (auto& [message, bytes] : left) bytes -= (then - now) / each;
    now = then;
    if (enters <= leaves) {
      left[messages[next].first] = messages[next].second.bytes;
      ++next;
    } else {
      done[least->first] = now;
      left.erase(least);
    }
  }
  return done;
}

RC_GTEST_PROP(EqualShare, EveryChannelDividesItsBandwidthEqually, ()) {
  const SimulatedPlatform platform = nodes();
  const SimulatedNetwork network(platform, seat(platform, "sequential", 8));
  auto messages = *rc::gen::container<std::vector<Message>>(
      rc::gen::map(rc::gen::tuple(rc::gen::inRange(0u, 8u), rc::gen::inRange(1u, 8u), rc::gen::inRange(1, 5),
                                  rc::gen::inRange(0, 6)),
                   [](const auto& drawn) {
                     const auto [from, further, size, moment] = drawn;
                     return Message{from, (from + further) % 8, 1024.0 * size, 1.024e-6 * moment};
                   }));
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.enters < b.enters; });

  std::map<ChannelId, std::vector<std::pair<std::size_t, Message>>> in_channel;
  Path path;
  GridEventQueue events;
  constexpr std::uint32_t entry = 1u << 28, carried = 2u << 28;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].enters = on_grid(messages[i].enters);
    network.find(messages[i].from, messages[i].to, path);
    for (unsigned hop = 0; hop < path.count; ++hop)
      in_channel[path.channels[hop]].push_back({i, messages[i]});
    events.push(messages[i].enters, entry | static_cast<std::uint32_t>(i));
  }
  std::vector<double> expected(messages.size(), 0);
  for (const auto& [channel, inside] : in_channel)
    for (const auto& [message, time] : departures(inside, network.seconds_a_byte(channel)))
      expected[message] = std::max(expected[message], time);

  const bool foresees = *rc::gen::arbitrary<bool>();
  EqualShare sharing(network, events, carried);
  std::vector<unsigned> parts(messages.size());
  std::vector<double> done(messages.size(), -1);
  while (!events.empty()) {
    const TimedEvent event = events.pop();
    const std::uint32_t number = event.what & ~(entry | carried);
    if (event.what & entry) {
      network.find(messages[number].from, messages[number].to, path);
      if (foresees) {
        const auto passed = sharing.foresee(number, messages[number].bytes, path, event.seconds());
        done[number] = passed.value_or(-1);
        if (passed) continue;
        sharing.for_foreseen(path, event.seconds(), [&](FlowId flow) {
          Path other;
          network.find(messages[flow].from, messages[flow].to, other);
          parts[flow] = sharing.reconsider(flow, flow, other, event.seconds());
          done[flow] = -1;
        });
      }
      parts[number] = sharing.enter(number, messages[number].bytes, path, event.seconds());
    } else {
      sharing.fire(number, event.stamp, event.seconds(), [&](FlowId flow) {
        RC_ASSERT(parts[flow] > 0u);
        if (--parts[flow] == 0) done[flow] = event.seconds();
      });
    }
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    RC_ASSERT(done[i] >= expected[i] - 1e-10);
    RC_ASSERT(done[i] <= expected[i] + 1e-10);
  }
  for (const auto& [channel, inside] : in_channel) {
    double bytes = 0;
    for (const auto& [message, what] : inside) bytes += what.bytes;
    RC_ASSERT(sharing.use(channel).bytes == bytes);
  }
}

}  // namespace
}  // namespace convene::simulate
