// SPDX-License-Identifier: BSD-3-Clause
// The exchange of an allreduce with late ranks: the other ranks have summed their contributions by chunks;
// late ranks add theirs, and complete chunks are distributed.
//
// Source: Devraj et al. 2025 (arXiv 2505.23523v2) for one late rank and an even P. The rule by which ranks
// are paired here is Convene's, for any P and any number of late ranks: a rank that holds a young chunk,
// which few hold, receives an old one, and a rank that holds only old ones receives a young one. So the
// holders of each chunk double in every round, although a rank sends and receives one chunk per round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::patterns {

/// A message of one chunk in a round. In a round every rank sends at most once and receives at most once.
struct StragglerTransfer {
  enum class Kind : std::uint8_t {
    contribution,  ///< `from` is late; `to` adds it to its sum
    sum,     ///< to the late rank whose contribution is the last one, in the same round; it adds its own
    result,  ///< a complete chunk
  };
  std::uint32_t round, from, to, chunk;
  Kind kind;
};

/// A late rank, and the round of its arrival.
struct LateRank {
  std::uint32_t rank;
  std::uint64_t arrival;
};

struct StragglerExchange {
  std::vector<StragglerTransfer> transfers;  ///< by round; rounds without transfers are not numbered
  std::uint32_t rounds = 0;
  std::uint64_t end = 0;  ///< the round after the last one, idle ones included
};

/// The exchange among `procs` ranks. `owners`: by chunk, the rank that has the sum of the ranks in time, from
/// round `start` on. `late`: at least one, no owner, in the order of arrival. With one late rank and
/// chunks = N(procs − 1), each rank in time owning N, it has chunks − 1 + ⌈log₂procs⌉ rounds, the least
/// possible number (a test proves that for N = 1 and procs up to 64; with more segments some have a few
/// more). O(rounds · procs · log procs), up to 256 times.
StragglerExchange straggler_exchange(std::uint32_t procs, std::span<const std::uint32_t> owners,
                                     std::span<const LateRank> late, std::uint64_t start);

/// No exchange of these ranks ends before this round.
std::uint64_t least_end_of_exchange(std::uint32_t procs, std::size_t chunks, std::span<const LateRank> late,
                                    std::uint64_t start);

}  // namespace convene::patterns
