// SPDX-License-Identifier: BSD-3-Clause
// Printers of plans: text for people, JSON for programs, GOAL for LogGOPSim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/check/contract.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The names of the contents c of a plan whose blocks take S places each (S: PlanInfo::segments).
enum class Naming : std::uint8_t {
  source,    ///< part c mod S of the block of rank c / S
  target,    ///< part c mod S of the block for rank c / S
  pair,      ///< part c mod S of a block; block b is from rank b / N for its N-th peer, b mod N, and written
             ///< "from.for"
  segment,   ///< part c of one vector
  empty,     ///< as source, but without bytes
  neighbor,  ///< as source, but the contents of the output differ from rank to rank
};

/// Description of a plan: its collective, algorithm and parameters. The schedules themselves do not contain
/// it.
struct PlanInfo {
  std::string collective, algorithm;
  Rank procs = 1, root = 0;
  std::vector<std::pair<std::string, std::string>> parameters =
      {};                      ///< names and values, as on the command line
  std::uint32_t segments = 1;  ///< places that one block takes
  Naming naming = Naming::source;
  std::uint32_t peers = 0;  ///< of Naming::pair: N; 0: every rank is a peer
  std::vector<std::int32_t> arrivals =
      {};  ///< the forecast that the plan was made from, in rounds; empty: none
  bool in_place = false;
  std::string graph = {};  ///< of a neighborhood collective, as on the command line; empty: the default one

  std::uint32_t blocks_per_rank() const { return peers > 0 ? peers : procs; }

  /// The unit of message contents, in the singular.
  const char* unit() const {
    return naming == Naming::empty ? "empty block" : segments > 1 ? "segment" : "block";
  }
};

struct TextOptions {
  bool steps = false;             ///< print every step with its predecessors, instead of the rounds
  std::optional<Rank> rank = {};  ///< print this rank only
};

/// The messages of each round, with sender, receiver and blocks. A block is printed as its number (a block of
/// a pair of ranks as "from.for"), a segment of it as "block.segment", a segment of a vector as its number, a
/// sum as the ranks that contribute to it: "(0-3)", "(0-3).segment". The contract has the initial contents of
/// the buffers; the plan need not be correct.
std::string to_text(const Plan& plan, const PlanInfo& info, const Contract& contract,
                    const TextOptions& options = {});

/// With more processes than this, JSON has ranges instead of single slots.
inline constexpr Rank most_procs_in_slots = 512;

/// One object: {"collective", "algorithm", "procs", "root", "parameters", "rounds", "messages", "blocks",
/// "ranks": [{"rank", "steps": [{"id", "kind", "peer", "match", "round", "slots": [[buffer, place], …] (copy,
/// combine: "from", "to"), "after": [id, …]}]}]}. A copy or combine (to = from ∘ to) has no "peer" and
/// "match", a join no slots either. After "parameters", only if they apply: "arrivals", "segments",
/// "in_place" and "graph". After "rank", only if the schedule uses such buffers: "places" and "first_sharer"
/// (shared), "places" and "sized_like" (scratch). Above 512 processes a slot is a range [buffer, first,
/// stride, count], modulo the number that the rank's "places" give for the buffer. read/plan_reader.hpp reads
/// it back.
std::string to_json(const Plan& plan, const PlanInfo& info);

/// The costs of steps in a GOAL file.
struct GoalOptions {
  std::uint64_t bytes_per_block = 1;
  double copy_nanoseconds_per_byte = 0;     ///< of a copy, as a `calc`
  double combine_nanoseconds_per_byte = 0;  ///< of a combine, as a `calc`
};

/// The plan in the input language of LogGOPSim's `txt2bin`: one label a step, the number of a message as its
/// tag.
std::string to_goal(const Plan& plan, const PlanInfo& info, const GoalOptions& options = {});

}  // namespace convene::schedule
