// SPDX-License-Identifier: BSD-3-Clause
// Plans in writing: text for people, JSON for programs, GOAL for LogGOPSim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/checker.hpp"
#include "schedule/schedule.hpp"

namespace convene {

/// What a plan is a plan of. The schedules themselves don't know.
struct PlanInfo {
  std::string collective, algorithm;
  Rank procs = 1, root = 0;
  std::vector<std::pair<std::string, std::string>> parameters =
      {};                      ///< names and values, as on the command line
  std::uint32_t segments = 1;  ///< places that one block takes
};

struct TextOptions {
  bool steps = false;             ///< every step of every rank, with what it waits for, instead of the rounds
  std::optional<Rank> rank = {};  ///< this rank alone
};

/// Round by round, who sends which blocks to whom. A block is written as its number, a segment of it as
/// "block.segment", a sum by the ranks that contribute to it: "(0-3)", "(0-3).segment". The contract says what the buffers hold at first; the plan need not be correct.
std::string to_text(const Plan& plan, const PlanInfo& info, const Contract& contract,
                    const TextOptions& options = {});

/// From this many processes on, JSON names ranges instead of single slots.
inline constexpr Rank most_procs_in_slots = 512;

/// One object: {"collective", "algorithm", "procs", "root", "parameters", "rounds", "messages", "blocks", "ranks":
/// [{"rank", "steps": [{"id", "kind", "peer", "match", "round", "slots": [[buffer, place], …] (copy, combine: "from", "to"),
/// "after": [id, …]}]}]}. A copy or combine (to = from ∘ to) has no "peer" and "match", a join no slots either. Above 512 processes a slot is a
/// range [buffer, first, stride, count], modulo the number that the rank's "places" give for the buffer.
std::string to_json(const Plan& plan, const PlanInfo& info);

/// What the steps cost in a GOAL file.
struct GoalOptions {
  std::uint64_t bytes_per_block = 1;
  double copy_nanoseconds_per_byte = 0;     ///< copies become `calc` of that much
  double combine_nanoseconds_per_byte = 0;  ///< likewise, combines
};

/// The plan as LogGOPSim's `txt2bin` reads it: one label a step, messages with their number as the tag.
std::string to_goal(const Plan& plan, const PlanInfo& info, const GoalOptions& options = {});

}  // namespace convene
