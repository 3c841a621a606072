// SPDX-License-Identifier: BSD-3-Clause
// A plan as a sequence of frames: what every place holds after each round, and what travelled in it. Pictures are drawn
// from this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/check/checker.hpp"
#include "schedule/check/contribution.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// All that one rank sends to another in one round.
struct Arrow {
  Rank from = 0, to = 0;
  std::uint32_t messages = 0, signals = 0;
  std::vector<Content> contents;

  bool is_shm_signal() const { return messages == 0; }
};

enum class Change : std::uint8_t { kept, received, copied, combined };

struct Cell {
  Content content = nothing;
  Change change = Change::kept;
};

/// A row of the picture: the same place of the same buffer on every rank.
struct Row {
  Buffer buffer;
  Place place;
};

/// The state after a round, with what came in it.
struct Frame {
  std::uint32_t round = 0;
  std::vector<Arrow> arrows;             ///< by sender, then in the order of its steps
  std::vector<std::vector<Cell>> cells;  ///< by rank, then by row
};

struct Frames {
  std::vector<Row> rows;
  std::vector<Frame> frames;
  std::optional<Expressions> expressions;  ///< of a reduction: what combined contents stand for
};

/// Plays a plan round by round. The input gets rows only where a frame needs them: where a rank's own contribution does
/// not already stand in its output before the first round. `rounds` names the rounds to keep; empty: all. Throws Error
/// for a plan that does not play to its end.
Frames simulate_frames(const Plan& plan, const Contract& contract,
                       std::span<const std::uint32_t> rounds = {});

/// Where a content comes from: a rank and, where the rank contributes several contents, which of them.
struct Origin {
  Rank rank = 0;
  std::uint32_t part = 0, parts = 0;  ///< parts = 0: nobody contributes it
};
std::vector<Origin> origins(const Contract& contract);

/// The disjoint rings that a round's messages form: every rank that takes part sends to one other and receives from
/// one. Where ranks send to several others, the first destinations of all make one set of rings, the second another.
struct Rings {
  std::vector<std::uint32_t> ring_of;  ///< by arrow; empty where the arrows do not form rings
  std::vector<std::uint32_t> sizes;    ///< by ring: how many ranks
};
Rings find_rings(std::span<const Arrow> arrows, Rank procs);

}  // namespace convene::schedule
