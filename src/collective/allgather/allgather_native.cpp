// SPDX-License-Identifier: BSD-3-Clause
#include "collective/allgather/allgather_blocks.hpp"

namespace convene {

extern const Algorithm allgather_native = {
    .name = "native",
    .summary = "The MPI library's own implementation, whatever it chooses.",
    .source = "the MPI library",
    .collectives = allgathers,
    .rounds = "not known",
};

}  // namespace convene
