// SPDX-License-Identifier: BSD-3-Clause
// Swing: a reduce-scatter over the distances 1, −1, 3, −5, 11, … and an allgather over the same in reverse.
// Each part is summed on one rank, so all ranks get the same bits. The form of the source for short vectors,
// which exchanges whole vectors in log₂P rounds, is left out: ranks would add in different orders.
//
// Source:   De Sensi et al. 2024 (NSDI, arXiv 2401.09356), section 3 (its bandwidth-optimal form on one
//           dimension). Where P is no power of two, a block that would be sent twice is sent once.
// Requires: an even number of processes, and a commutative operator.
// Cost:     2⌈log₂P⌉ rounds, 2(P − 1)/P vectors sent and (P − 1)/P combined; up to two vectors of extra memory.
//
//            before         round 0           round 1              round 2            round 3
//   rank     0  1  2  3     0  1  2  3        0   1   2   3        0   1   2   3      all
//   part 0   0  1  2  3     01 .  .  23       all .   .   .        all .   .   all    everywhere
//   part 1   0  1  2  3     .  01 23 .        .   all .   .        .   all all .
//   part 2   0  1  2  3     .  01 23 .        .   .   all .        .   all all .
//   part 3   0  1  2  3     01 .  .  23       .   .   .   all      all .   .   all
//
// P = 6 takes two rounds more.
#include "collective/parts/negabinary_exchange.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_swing(const Call& call, Builder& builder) {
  negabinary_allreduce({call.procs, DistanceOrder::far_first}, call, builder);
}

}  // namespace

extern constinit const Algorithm allreduce_swing = {
    .name = "swing",
    .summary = "Reduce-scatter and allgather over the distances 1, 1, 3, 5, …, alternately above and below.",
    .source = "De Sensi et al. 2024 (arXiv 2401.09356), section 3",
    .collectives = {Collective::allreduce},
    .requirement = Requirement::even,
    .rounds = "2⌈log₂P⌉",
    .cuts_by_procs = true,
    .commutative_only = true,
    .generate = generate_allreduce_swing,
};

}  // namespace convene::collective
