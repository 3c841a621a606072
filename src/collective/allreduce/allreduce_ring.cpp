// SPDX-License-Identifier: BSD-3-Clause
// Ring: each P-th of the vector travels once around the ring to collect all contributions, and once more to
// be distributed. Each part is summed along one chain, so all ranks get the same bits.
//
// Source:   Patarasuk and Yuan 2009; Marendic et al. 2016, section 5.5.2 (its first half).
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     2(P − 1) rounds, 2(P − 1)/P vectors sent and (P − 1)/P combined, which is optimal; up to two
//           vectors of extra memory.
//
//            before         after round 2 (see reduce_ring.cpp)      round 3             … round 5
//   rank     0  1  2  3     0    1    2    3                         0    1    2    3
//   part 0   0  1  2  3     all  .    .    .                         all  all  .    .     all everywhere
//   part 1   0  1  2  3     .    all  .    .                         .    all  all  .
//   part 2   0  1  2  3     .    .    all  .                         .    .    all  all
//   part 3   0  1  2  3     .    .    .    all                       all  .    .    all
//
// P = 5 takes two rounds more.
#include "collective/allreduce/allreduce_ring.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_ring(const Call& call, Builder& builder) { allreduce_around_ring(call, builder, 1); }

}  // namespace

extern constinit const Algorithm allreduce_ring = {
    .name = "ring",
    .summary =
        "Every part of the vector travels around a ring twice: to collect contributions, and to distribute "
        "the result.",
    .source = "Patarasuk and Yuan 2009",
    .collectives = {Collective::allreduce},
    .rounds = "2(P − 1)",
    .cuts_by_procs = true,
    .commutative_only = true,
    .generate = generate_allreduce_ring,
};

}  // namespace convene::collective
