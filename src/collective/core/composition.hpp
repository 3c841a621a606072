// SPDX-License-Identifier: BSD-3-Clause
// Composition: running a part of a composed algorithm, another algorithm with its parameters, on some of the
// ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

using Ranks = std::vector<Rank>;

/// Number of rounds of a call of a part on its busiest rank. All ranks of the whole must agree on it, to
/// label what follows.
std::uint32_t rounds_of(const Spec& part, Call call);

/// Call of a part on some of the ranks, as one of them sees it.
struct Phase {
  Collective collective;
  Ranks ranks;    ///< by their numbers in the part
  Rank root = 0;  ///< a number
  bool in_place = false;
  /// By the part's blocks, where they are here: any number of places each. Empty where it has no such buffer.
  std::vector<Embedding::Places> input = {}, output = {};
  /// By the part's blocks: places that have their sizes.
  std::vector<Embedding::Places> blocks = {};
  /// See Embedding::has; `rank` is a number.
  std::function<bool(Rank rank, const Range& outer)> has = nullptr;
  /// When its ranks are expected, as Call::arrivals.
  std::vector<std::int32_t> arrivals = {};
};

/// Writes this rank's steps of a phase of a part, from a round on. `outer`: the call of the whole. Where the
/// part cuts its blocks into segments, these are portions of the places that the phase gives.
void run_phase(const Spec& part, Phase phase, const Call& outer, std::uint32_t first_round, Builder& builder);

/// A run of places, cut into portions that are as equal as can be; some are empty where there are too few.
std::vector<Embedding::Places> cut(const Embedding::Places& whole, std::uint32_t portions);

/// The least number of places that each of these numbers of segments divides. Where that would be very many,
/// the largest of them: some portions are larger than others then.
std::uint32_t common_segments(std::span<const std::uint32_t> segments);

/// The number of a rank in a list that has it.
Rank number_in(const Ranks& ranks, Rank rank);

}  // namespace convene::collective
