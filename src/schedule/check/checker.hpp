// SPDX-License-Identifier: BSD-3-Clause
// The checker: plays all ranks' schedules without MPI and says whether they deliver, whether they can deadlock, and
// whether the graph really orders what must be ordered. It trusts nothing that the builder inferred.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/core/order.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// What a place holds: the identity of a block (or of a segment of one), a number for an expression of contributions
/// (schedule/check/contribution.hpp), or nothing.
using Content = std::int32_t;
inline constexpr Content nothing = -1;

/// What one rank's input and output hold before, and what its output must hold afterwards (`nothing`: anything).
struct RankContract {
  std::vector<Content> input, output, wanted;
};

/// What combining is to make of contributions. Content r * segments + s is rank r's contribution to segment s of the
/// vector, and as something wanted it stands for the sum of the contributions of ranks 0 … r to that segment, each
/// exactly once.
struct Reduction {
  std::uint32_t segments = 0;  ///< places of the whole vector; 0: nothing is reduced, contents are blocks
  bool in_order = false;  ///< the operator does not commute: contributions are combined in the order of ranks
  bool same_expression =
      false;  ///< all ranks that want a sum get it by the same expression, and so the same bits
};

/// What a collective promises, rank by rank.
struct Contract : std::vector<RankContract> {
  using std::vector<RankContract>::vector;
  Reduction reduction = {};
};

/// Counts of a plan. "Blocks" are places: a segment counts as one.
struct Statistics {
  std::uint32_t rounds = 0;
  std::uint64_t messages = 0;                                          ///< of all ranks together
  std::uint64_t blocks = 0;                                            ///< sent, of all ranks together
  std::uint64_t signals = 0;                                           ///< in shared memory, likewise
  std::uint64_t most_messages_sent = 0, most_blocks_sent = 0;          ///< of the busiest rank
  std::uint64_t most_messages_received = 0, most_blocks_received = 0;  ///< of the busiest rank
  std::uint64_t most_blocks_combined = 0;                              ///< of the rank that combines most
  std::uint64_t scratch = 0;                       ///< scratch places of the rank that needs most
  std::uint64_t steps = 0, edges = 0, memory = 0;  ///< of all ranks together; memory in bytes
};

Statistics statistics(const Plan& plan);

struct Verdict {
  std::string
      why;  ///< empty where all is well; else one sentence with the rank, the step, the round and the block
  Statistics statistics;
  bool ok() const { return why.empty(); }
};

/// Three questions. (i) One play to the fixpoint: every place holds what the contract wants, nothing is delivered
/// or combined twice, no message is left over. (A fixed schedule with numbered messages is confluent: one play is exact for all
/// timings.) (ii) For every place, any two accesses of which one writes are connected in the graph, for shared places by
/// signals. (iii) The play again, as the executor would run it: in the compiled order and in the dynamic one, with `limits` on the steps in
/// flight and sends that complete only when their receive is posted.
Verdict check(const Plan& plan, const Contract& contract, const Limits& limits = {});

}  // namespace convene::schedule
