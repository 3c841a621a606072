// SPDX-License-Identifier: BSD-3-Clause
// Segment runs: what list-scheduled reductions schedule as one message, and the messages of a rank by round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "collective/core/forecast.hpp"
#include "collective/parts/by_rank.hpp"
#include "collective/parts/partial.hpp"

namespace convene::collective {

/// Consecutive segments that travel as one: each run is one segment, unless a plan would have more than 2^16
/// messages.
struct SegmentRuns {
  static constexpr std::uint32_t most_messages = 1 << 16;

  std::uint32_t segments, count;

  SegmentRuns(std::uint32_t segments_given, Rank procs)
      : segments(segments_given), count(std::clamp(most_messages / procs, 1u, segments_given)) {}

  std::vector<Place> places(std::uint32_t run) const {
    return run_of_places(begin(run), begin(run + 1) - begin(run));
  }

  /// The forecast in rounds of a run; of a call's, in rounds of a segment.
  std::vector<std::int32_t> arrivals(const Call& call) const {
    constexpr std::uint64_t latest = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> in_runs;
    for (const std::uint64_t delay : expected_delays(call))
      in_runs.push_back(
          static_cast<std::int32_t>(std::min(latest, (delay * count + segments - 1) / segments)));
    return in_runs;
  }

 private:
  Place begin(std::uint64_t run) const { return static_cast<Place>(run * segments / count); }
};

/// Numbers the rounds from 0, those without messages left out. The messages are in the order of rounds.
template <class Message>
void number_rounds(std::vector<Message>& messages) {
  std::uint32_t label = 0, round = messages.empty() ? 0 : messages.front().round;
  for (Message& message : messages) {
    if (message.round != round) ++label;
    round = message.round;
    message.round = label;
  }
}

/// Calls send(message) and receive(message) for a rank, by round. Within a round it first sends, what it held
/// before the round.
template <class Message, class Send, class Receive>
void for_each_round(const ByRank<Message>& messages, Rank rank, Send&& send, Receive&& receive) {
  std::vector<Message> incoming;
  const auto receive_all = [&] {
    for (const Message& message : incoming) receive(message);
    incoming.clear();
  };
  messages.for_each(rank, [&](const Message& message) {
    if (!incoming.empty() && incoming.front().round != message.round) receive_all();
    if (message.to == rank)
      incoming.push_back(message);
    else
      send(message);
  });
  receive_all();
}

}  // namespace convene::collective
