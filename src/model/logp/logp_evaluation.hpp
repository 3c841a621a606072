// SPDX-License-Identifier: BSD-3-Clause
// Evaluation of a plan under a model of the LogP family: a discrete-event simulation that yields when each
// rank is done.
//
// Each rank has one processor and one port for each direction. A send starts when its predecessors are
// complete and the processor and the port are free; a receive when, in addition, its message has arrived. Of
// several steps that can start at a time, the first in the schedule starts. Copies and reductions occupy the
// processor. Messages of a pair of ranks match as the schedule numbers them.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "model/logp/message_model.hpp"
#include "model/platform/message_sizes.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

/// When ranks arrive, and how long an evaluation is of interest.
struct LogPStart {
  std::span<const double> arrivals = {};  ///< by rank: seconds from 0 on, before which it executes nothing
  double limit = std::numeric_limits<double>::infinity();
};

/// By rank, the seconds from a common start until its last step is complete, and at least its arrival; empty
/// if one is not complete at the limit. A synchronous message
/// (MessageModel) is preceded by a request of one byte, which the receiver answers with another as soon as
/// its receive is ready. Throws Error if the platform lacks parameters, the mapping has another number of
/// ranks, or the plan deadlocks.
std::vector<double> evaluate_logp_plan(const Plan& plan, const Mapping& mapping,
                                       const ModelPlatform& platform, const CostModel& model,
                                       const MessageSizes& sizes, const LogPStart& start = {});

}  // namespace convene::model
