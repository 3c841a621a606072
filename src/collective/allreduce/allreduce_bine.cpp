// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly (binomial negabinary): a reduce-scatter over the distances 1, −1, 3, −5, 11, … and an
// allgather over the same in reverse. Each part is summed on one rank, so all ranks get the same bits. The
// form of the source for short vectors is left out: ranks would add in different orders.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), its butterflies. Where P is no power of two, a block
//           that would be sent twice is sent once.
// Requires: an even number of processes, and a commutative operator.
// Cost:     2⌈log₂P⌉ rounds, 2(P − 1)/P vectors sent and (P − 1)/P combined; up to two vectors of extra memory.
//
//            before         round 0           round 1              round 2            round 3
//   rank     0  1  2  3     0  1  2  3        0   1   2   3        0   1   2   3      all
//   part 0   0  1  2  3     03 12 .  .        all .   .   .        all all .   .      everywhere
//   part 1   0  1  2  3     03 12 .  .        .   all .   .        all all .   .
//   part 2   0  1  2  3     .  .  12 03       .   .   all .        .   .   all all
//   part 3   0  1  2  3     .  .  12 03       .   .   .   all      .   .   all all   (exchange=consecutive)
//
// exchange=scattered: see allreduce_swing.cpp. P = 6 takes two rounds more.
#include "collective/parts/negabinary_exchange.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_bine(const Call& call, Builder& builder) {
  negabinary_allreduce(bine_exchange(call), call, builder);
}

constexpr Parameter allreduce_bine_parameters[] = {bine_exchange_parameter};

}  // namespace

extern constinit const Algorithm allreduce_bine = {
    .name = "bine",
    .summary = "Reduce-scatter and allgather by a butterfly over the negabinary distances 1, −1, 3, −5, ….",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = {Collective::allreduce},
    .requirement = Requirement::even,
    .rounds = "2⌈log₂P⌉",
    .parameters = allreduce_bine_parameters,
    .cuts_by_procs = true,
    .commutative_only = true,
    .generate = generate_allreduce_bine,
};

}  // namespace convene::collective
