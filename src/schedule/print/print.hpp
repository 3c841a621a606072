// SPDX-License-Identifier: BSD-3-Clause
// Plans in writing: text for people, JSON for programs, GOAL for LogGOPSim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/check/checker.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// What people call the contents c of a plan whose blocks take S places each (S: PlanInfo::segments).
enum class Naming : std::uint8_t {
  source,  ///< part c mod S of the block of rank c / S
  target,  ///< part c mod S of the block for rank c / S
  pair,  ///< part c mod S of a block; block b is from rank b / P and for rank b mod P, and written "from.for"
  segment,   ///< part c of one vector
  token,     ///< as source, but without bytes
  neighbor,  ///< as source; but what stands at a place of the output differs from rank to rank
};

/// What a plan is a plan of. The schedules themselves don't know.
struct PlanInfo {
  std::string collective, algorithm;
  Rank procs = 1, root = 0;
  std::vector<std::pair<std::string, std::string>> parameters =
      {};                      ///< names and values, as on the command line
  std::uint32_t segments = 1;  ///< places that one block takes
  Naming naming = Naming::source;
  std::vector<std::int32_t> arrivals =
      {};  ///< the forecast that the plan was made from, in rounds; empty: none

  /// What messages carry, in the singular.
  const char* unit() const { return naming == Naming::token ? "token" : segments > 1 ? "segment" : "block"; }
};

struct TextOptions {
  bool steps = false;             ///< every step of every rank, with what it waits for, instead of the rounds
  std::optional<Rank> rank = {};  ///< this rank alone
};

/// Round by round, who sends which blocks to whom. A block is written as its number (that of a pair of ranks as
/// "from.for"), a segment of it as "block.segment", a segment of a vector as its number, a sum by the ranks that
/// contribute to it: "(0-3)", "(0-3).segment". The contract says what the buffers hold at first; the plan need not be
/// correct.
std::string to_text(const Plan& plan, const PlanInfo& info, const Contract& contract,
                    const TextOptions& options = {});

/// From this many processes on, JSON names ranges instead of single slots.
inline constexpr Rank most_procs_in_slots = 512;

/// One object: {"collective", "algorithm", "procs", "root", "parameters", "rounds", "messages", "blocks", "ranks":
/// [{"rank", "steps": [{"id", "kind", "peer", "match", "round", "slots": [[buffer, place], …] (copy, combine: "from",
/// "to"), "after": [id, …]}]}]}; with a forecast also "arrivals", behind "parameters". A copy or combine (to = from ∘ to)
/// has no "peer" and "match", a join no slots either. Above 512 processes a slot is a
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

}  // namespace convene::schedule
