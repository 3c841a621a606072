// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly (binomial negabinary): partners at the distances 1, −1, 3, −5, 11, … halve the blocks that
// they sum, even ranks one way and odd ranks the other. With the distances in the reverse order a rank's
// blocks are always a run; in this order they are scattered, and most data moves over the shortest distance.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), its butterflies: exchange=scattered is the exchange
//           block by block, exchange=consecutive the one with two transmissions. Where P is no power of two, a
//           block that would be sent twice is sent once.
// Requires: an even number of processes, and a commutative operator.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks sent and combined; up to two vectors of extra memory.
//
//            before         round 0           round 1             (exchange=consecutive, distances −1, 1)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   block 0  0  1  2  3     03 12 .  .        all .   .   .
//   block 1  0  1  2  3     03 12 .  .        .   all .   .
//   block 2  0  1  2  3     .  .  12 03       .   .   all .
//   block 3  0  1  2  3     .  .  12 03       .   .   .   all
//
// exchange=scattered: see reduce_scatter_swing.cpp. P = 6 takes a round more.
#include "collective/parts/negabinary_exchange.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_bine(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {});
  negabinary_reduce_scatter(bine_exchange(call), call, builder, partial);
  keep_own_place(call, builder, partial);
}

constexpr Parameter reduce_scatter_bine_parameters[] = {bine_exchange_parameter};

}  // namespace

extern constinit const Algorithm reduce_scatter_bine = {
    .name = "bine",
    .summary =
        "A butterfly over the negabinary distances 1, −1, 3, −5, …: about two thirds of a butterfly's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = reduce_scatters,
    .requirement = Requirement::even,
    .rounds = "⌈log₂P⌉",
    .parameters = reduce_scatter_bine_parameters,
    .commutative_only = true,
    .generate = generate_reduce_scatter_bine,
};

}  // namespace convene::collective
