// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/algorithm.hpp"

namespace convene::collective {

extern const Algorithm native = {
    .name = "native",
    .summary = "The MPI library's own implementation, whatever it chooses.",
    .source = "the MPI library",
    .collectives = {std::begin(all_collectives), std::end(all_collectives)},
    .rounds = "not known",
};

}  // namespace convene::collective
