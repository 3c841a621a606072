// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/algorithm.hpp"

namespace convene::collective {

extern constinit const Algorithm native = {
    .name = "native",
    .summary = "The MPI library's own implementation, whatever it chooses.",
    .source = "the MPI library",
    .collectives = CollectiveSet::all(),
    .rounds = "not known",
};

}  // namespace convene::collective
