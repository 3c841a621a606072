// SPDX-License-Identifier: BSD-3-Clause
// The parts of a composed algorithm: other algorithms with their parameters. A call names them in its parameters,
// behind the composed one's own: for each part its index in the catalogue, and then its parameters (which again may
// hold parts).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

using Ranks = std::vector<Rank>;

/// An algorithm with a value for each of its parameters.
struct Part {
  const Algorithm* algorithm = nullptr;
  std::vector<std::int64_t> parameters = {};
};

/// The parts that the parameters of a composed algorithm name.
std::vector<Part> parts_of(const Algorithm& composed, std::span<const std::int64_t> parameters);
std::vector<Part> default_parts(const Algorithm& composed);

/// Puts parts behind the composed algorithm's own parameters.
void append_parts(std::vector<std::int64_t>& parameters, const std::vector<Part>& parts);

/// For the checker's grid: see Algorithm::sample_parameters().
std::vector<std::vector<std::int64_t>> sample_compositions(const Algorithm& composed);

/// How many rounds a call of a part takes on its busiest rank. All ranks of the whole must agree on it, to label what
/// comes next.
std::uint32_t rounds_of(const Part& part, Call call);

/// A part at work on some of the ranks, as one of them sees it.
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

/// Has a part write this rank's steps of a phase, from a round on. `outer`: the call of the whole. Where the part cuts
/// its blocks into segments, these are portions of the places that the phase gives.
void run_phase(const Part& part, Phase phase, const Call& outer, std::uint32_t first_round, Builder& builder);

/// A run of places, cut into portions that are as equal as can be; some are empty where there are too few.
std::vector<Embedding::Places> cut(const Embedding::Places& whole, std::uint32_t portions);

/// The least number of places that each of these numbers of segments divides. Where that would be very many, the
/// largest of them: some portions are larger than others then.
std::uint32_t common_segments(std::span<const std::uint32_t> segments);

/// The number of a rank in a list that has it.
Rank number_in(const Ranks& ranks, Rank rank);

}  // namespace convene::collective
