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

/// Number of rounds of a call of a part on its busiest rank. All ranks of the whole call must compute the
/// same number, to label the following rounds.
std::uint32_t rounds_of(const Spec& part, Call call);

/// Call of a part on some of the ranks, as one of them sees it.
struct Phase {
  Collective collective;
  Ranks ranks;    ///< by their numbers in the part
  Rank root = 0;  ///< a number
  bool in_place = false;
  /// By block of the part: its places on this rank, any number each. Empty if the part has no such buffer.
  std::vector<Embedding::Places> input = {}, output = {};
  /// By block of the part: places that have its size.
  std::vector<Embedding::Places> blocks = {};
  /// See Embedding::has; `rank` is a number.
  std::function<bool(Rank rank, const Range& outer)> has = nullptr;
  /// Expected arrivals of its ranks, as Call::arrivals.
  std::vector<std::int32_t> arrivals = {};
};

/// Adds this rank's steps of a phase of a part, from a round on. `outer`: the call of the whole. If the part
/// cuts its blocks into segments, these are portions of the places given by the phase.
void run_phase(const Spec& part, Phase phase, const Call& outer, std::uint32_t first_round, Builder& builder);

/// A run of places, cut into portions that are as equal as possible; some are empty if there are too few
/// places.
std::vector<Embedding::Places> cut(const Embedding::Places& whole, std::uint32_t portions);

/// The least number of places that each of these numbers of segments divides. If that exceeds a limit, the
/// largest of them: then some portions are larger than others.
std::uint32_t common_segments(std::span<const std::uint32_t> segments);

/// The index of a rank in a list that contains it.
Rank number_in(const Ranks& ranks, Rank rank);

}  // namespace convene::collective
