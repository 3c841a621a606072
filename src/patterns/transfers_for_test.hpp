// SPDX-License-Identifier: BSD-3-Clause
// For tests only: the transfers of a reduction, simulated in rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "patterns/clairvoyant_pattern.hpp"

namespace convene::patterns {

using Transfers = std::vector<SegmentTransfer>;

inline std::uint32_t rounds(const Transfers& transfers) {
  return transfers.empty() ? 0 : transfers.back().round + 1;
}

/// Simulates the transfers. Empty if the root ends with every contribution exactly once, and every rank sends
/// and receives at most once a round and not before it arrives; else the fault.
inline std::string simulate(const Transfers& transfers, std::uint32_t procs, std::uint32_t segments,
                            std::uint32_t root, const std::vector<std::int32_t>& arrivals = {}) {
  std::vector<std::vector<std::multiset<std::uint32_t>>> held(procs);
  for (std::uint32_t rank = 0; rank < procs; ++rank) held[rank].assign(segments, {rank});
  const std::int32_t earliest = arrivals.empty() ? 0 : *std::min_element(arrivals.begin(), arrivals.end());
  for (std::size_t begin = 0, end = 0; begin < transfers.size(); begin = end) {
    std::set<std::uint32_t> senders, receivers;
    std::map<std::size_t, std::multiset<std::uint32_t>> in_flight;  // the contents before the round
    for (; end < transfers.size() && transfers[end].round == transfers[begin].round; ++end) {
      const SegmentTransfer& t = transfers[end];
      if (end > 0 && transfers[end - 1].round > t.round) return "rounds are not in order";
      if (!senders.insert(t.from).second || !receivers.insert(t.to).second) return "two at once";
      if (t.from == t.to) return "to itself";
      for (const std::uint32_t rank : {t.from, t.to})
        if (!arrivals.empty() && arrivals[rank] - earliest > static_cast<std::int32_t>(t.round))
          return "has not arrived";
      if (held[t.from][t.segment].empty()) return "sends nothing";
      in_flight[end] = std::exchange(held[t.from][t.segment], {});
    }
    for (const auto& [i, contributions] : in_flight)
      held[transfers[i].to][transfers[i].segment].insert(contributions.begin(), contributions.end());
  }
  std::multiset<std::uint32_t> all;
  for (std::uint32_t rank = 0; rank < procs; ++rank) all.insert(rank);
  for (std::uint32_t segment = 0; segment < segments; ++segment)
    if (held[root][segment] != all) return "the root lacks something of segment " + std::to_string(segment);
  return "";
}

}  // namespace convene::patterns
