// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly (binomial negabinary): partners at the distances 1, −1, 3, −5, 11, … exchange blocks, even
// ranks one way and odd ranks the other. With the distances in this order a rank always holds a run of
// blocks; in the reverse order its blocks are scattered, and most data moves over the shortest distance.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), its butterflies: exchange=scattered is the exchange
//           block by block, exchange=consecutive the one with two transmissions. Where P is no power of two, a
//           block that a partner has already is left out.
// Requires: an even number of processes.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1                   (exchange=consecutive, distances 1, −1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
//
//            before         round 0        round 1        round 2          (distances 1, −1, 3; P = 6: the last
//   rank     0 1 2 3 4 5    0 1 2 3 4 5    0 1 2 3 4 5    0 1 2 3 4 5       round fills what is missing)
//   block 0  0 . . . . .    0 * . . . .    0 0 . . * *    0 0 * * 0 0
//   block 1  . 1 . . . .    * 1 . . . .    1 1 * * . .    1 1 1 1 * *
//
// exchange=scattered: see allgather_swing.cpp.
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/parts/negabinary_exchange.hpp"

namespace convene::collective {
namespace {

void generate_allgather_bine(const Call& call, Builder& builder) {
  negabinary_allgather(bine_exchange(call), call, builder);
}

constexpr Parameter allgather_bine_parameters[] = {bine_exchange_parameter};

}  // namespace

extern constinit const Algorithm allgather_bine = {
    .name = "bine",
    .summary =
        "A butterfly over the negabinary distances 1, −1, 3, −5, …: about two thirds of a butterfly's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = allgathers,
    .requirement = Requirement::even,
    .rounds = "⌈log₂P⌉",
    .parameters = allgather_bine_parameters,
    .generate = generate_allgather_bine,
};

}  // namespace convene::collective
