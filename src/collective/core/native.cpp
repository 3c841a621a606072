// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/algorithm.hpp"

namespace convene::collective {

extern constinit const Algorithm native = {
    .name = "native",
    .summary = "The native implementation: the algorithm that the MPI library selects.",
    .source = "the MPI library",
    .collectives = CollectiveSet::all(),
    .rounds = "unknown",
};

}  // namespace convene::collective
