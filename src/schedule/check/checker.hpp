// SPDX-License-Identifier: BSD-3-Clause
// The checker: verifies a plan without MPI for all timings. It checks dataflow, deadlocks, hazards and races,
// and trusts nothing that the builder inferred.
#pragma once

#include <string>

#include "schedule/check/contract.hpp"
#include "schedule/core/order.hpp"
#include "schedule/core/schedule.hpp"
#include "schedule/core/schedule_statistics.hpp"

namespace convene::schedule {

/// The result of a check.
struct Verdict {
  std::string why;  ///< empty: the plan is correct; else one sentence with the rank, the step, the round and
                    ///< the block
  Statistics statistics;
  bool ok() const { return why.empty(); }
};

/// Checks, in this order, that
/// - the schedules are consistent, and every message has one send and one receive of equal size (matching);
/// - every place ends with the content that the contract requires, and no content is delivered or combined
///   twice (dataflow; a fixed schedule with numbered messages is confluent, so one simulation is exact for
///   all timings);
/// - of any two accesses of a rank to one place, of which one writes, one depends on the other (hazards);
/// - accesses of different ranks to one shared place are ordered by signals (races);
/// - the plan completes in the compiled and in the dynamic order, with `limits` on the steps in flight and
///   with sends that complete only when their receive is posted (deadlock).
Verdict check(const Plan& plan, const Contract& contract, const Limits& limits = {});

}  // namespace convene::schedule
