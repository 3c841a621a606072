// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/contention/max_min_fair.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace convene::simulate {
namespace {

struct Message {
  double begins = 0, bytes = 0;
  Path path;
  // State of the reference computation:
  double left = 0, rate = 0, ends = -1;

  bool uses(ChannelId channel) const {
    return std::find(path.channels.begin(), path.channels.begin() + path.count, channel) !=
           path.channels.begin() + path.count;
  }
};

/// Leaf switches of two nodes of two cores: paths within a node, to the neighbour, and over the core switch.
SimulatedPlatform tree() {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:6 core:2");
  platform.within = {{.latency = 0, .bandwidth = 3e9, .shared = Shared::both_ways}};
  platform.network = {.shape = NetworkShape::tree,
                      .node = {.latency = 0, .bandwidth = 1e9},
                      .leaves = {2, 2, 2},
                      .uplink = {.latency = 0, .bandwidth = 1.5e9}};
  return platform;
}

/// The definition: of the channels with messages without a rate, the one with the smallest share assigns that
/// share to them.
void set_rates(std::vector<Message*>& present, const SimulatedNetwork& network) {
  for (Message* message : present) message->rate = 0;
  while (true) {
    double least = std::numeric_limits<double>::infinity();
    ChannelId tightest = 0;
    for (ChannelId channel = 0; channel < network.channels(); ++channel) {
      double spare = 1 / network.seconds_a_byte(channel);
      int open = 0;
      for (const Message* message : present) {
        if (!message->uses(channel)) continue;
        spare -= message->rate;
        open += message->rate == 0;
      }
      if (open > 0 && spare / open < least) {
        least = spare / open;
        tightest = channel;
      }
    }
    if (least == std::numeric_limits<double>::infinity()) return;
    for (Message* message : present)
      if (message->rate == 0 && message->uses(tightest)) message->rate = least;
  }
}

void follow_definition(std::vector<Message>& messages, const SimulatedNetwork& network) {
  double now = 0;
  for (Message& message : messages) message.left = message.bytes;
  while (true) {
    std::vector<Message*> present;
    double next = std::numeric_limits<double>::infinity();
    for (Message& message : messages) {
      if (message.ends >= 0) continue;
      if (message.begins <= now)
        present.push_back(&message);
      else
        next = std::min(next, message.begins);
    }
    set_rates(present, network);
    for (const Message* message : present) next = std::min(next, now + message->left / message->rate);
    if (next == std::numeric_limits<double>::infinity()) return;
    for (Message* message : present) {
      message->left -= (next - now) * message->rate;
      if (message->left <= 1e-6 * message->bytes) message->ends = next;
    }
    now = next;
  }
}

std::vector<double> ends_of(const std::vector<Message>& messages, const SimulatedNetwork& network) {
  constexpr std::uint32_t begin = 1u << 28, carried = 2u << 28, number = begin - 1;
  GridEventQueue events;
  MaxMinFair fairness(network, events, carried);
  for (std::uint32_t id = 0; id < messages.size(); ++id) events.push(messages[id].begins, begin | id);
  std::vector<double> ends(messages.size(), -1);
  double now = 0;
  while (true) {
    if (!fairness.is_settled() && events.moment_is_over()) fairness.settle(now);
    if (events.empty()) return ends;
    const TimedEvent event = events.pop();
    now = event.seconds();
    const std::uint32_t id = event.what & number;
    if ((event.what & ~number) == begin)
      fairness.enter(id, messages[id].bytes, messages[id].path, now);
    else
      fairness.fire(id, event.stamp, now, [&](FlowId flow) { ends[flow] = now; });
  }
}

RC_GTEST_PROP(MaxMinFair, MessagesTakeAsLongAsTheDefinitionSays, ()) {
  const SimulatedPlatform platform = tree();
  const SimulatedNetwork network(platform, seat(platform, "sequential", 12));
  std::vector<Message> messages;
  for (int count = *rc::gen::inRange(1, 40); count > 0; --count) {
    Message message;
    message.begins = on_grid(*rc::gen::inRange(0, 6) * 1e-6);
    message.bytes = 1000 * *rc::gen::inRange(1, 5);
    const auto from = *rc::gen::inRange(0u, 12u);
    const auto to = (from + *rc::gen::inRange(1u, 12u)) % 12;
    network.find(from, to, message.path);
    messages.push_back(message);
  }
  const std::vector<double> ends = ends_of(messages, network);
  follow_definition(messages, network);
  for (std::size_t i = 0; i < messages.size(); ++i) RC_ASSERT(std::abs(ends[i] - messages[i].ends) < 1e-9);
}

}  // namespace
}  // namespace convene::simulate
