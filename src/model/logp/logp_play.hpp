// SPDX-License-Identifier: BSD-3-Clause
// A plan played under a model of the LogP family: when each rank is done.
//
// Each rank has one processor and one port for each direction. A send starts when it is ready (its dependencies are
// complete) and the processor and the port are free; a receive when it is ready, its message has come, and the
// processor and the port are free. Whatever can start first, starts; of several, the one that was written first in the
// schedule. Copies and reductions occupy the processor. Messages of a pair meet as the schedule numbers them.
#pragma once

#include <vector>

#include "model/logp/message_cost.hpp"
#include "model/logp/message_sizes.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

/// Seconds from a start in step until each rank has completed its last step, by rank. Throws Error where the platform
/// lacks parameters, the mapping has another number of ranks, or the plan does not come to its end.
///
/// LogGPS: for a synchronous message the sender asks with a message of one byte, the receiver answers with another as
/// soon as its receive is ready, and the data follow.
/// LogfP: what a burst is, model/logp/bursts.hpp says.
std::vector<double> play(const Plan& plan, const Mapping& mapping, const Platform& platform, Model model,
                         const MessageSizes& sizes);

}  // namespace convene::model
