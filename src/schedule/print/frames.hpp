// SPDX-License-Identifier: BSD-3-Clause
// Frames: the content of every place after each round of a plan, and the messages of the round. Pictures show
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/check/contract.hpp"
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

/// The state after a round, with the messages of the round.
struct Frame {
  std::uint32_t round = 0;
  std::vector<Arrow> arrows;             ///< by sender, then in the order of its steps
  std::vector<std::vector<Cell>> cells;  ///< by rank, then by row
};

struct Frames {
  std::vector<Row> rows;
  std::vector<Frame> frames;
  std::optional<Expressions> expressions;  ///< of a reduction: the meaning of combined contents
};

/// Simulates a plan round by round. The input gets rows only if a rank's own contribution is not already in
/// its output before the first round. `rounds` names the rounds to keep; empty: all. Throws Error for a plan
/// that does not complete.
Frames simulate_frames(const Plan& plan, const Contract& contract,
                       std::span<const std::uint32_t> rounds = {});

/// The source of a content: a rank and, if the rank contributes several contents, the number among them.
struct Origin {
  Rank rank = 0;
  std::uint32_t part = 0, parts = 0;  ///< parts = 0: no rank contributes it
};
/// By content.
std::vector<Origin> origins(const Contract& contract);

/// The disjoint rings that a round's messages form: every participating rank sends to one other and receives
/// from one. If ranks send to several others, the first destinations of all form one set of rings, the second
/// ones another.
struct Rings {
  std::vector<std::uint32_t> ring_of;  ///< by arrow; empty if the arrows do not form rings
  std::vector<std::uint32_t> sizes;    ///< by ring: how many ranks
};
Rings find_rings(std::span<const Arrow> arrows, Rank procs);

}  // namespace convene::schedule
