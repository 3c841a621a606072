// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling barrier: in round k a rank and the one whose number differs in bit k signal each other.
// If P is no power of two, excess ranks signal a neighbour before and receive a signal from it after. A
// barrier has the contract of an allgather of zero-byte blocks, so it uses that allgather.
//
// Source:   Hensgen, Finkel and Manber 1988 (butterfly); for other P
//           allgather_recursive_doubling_two_phase.cpp.
// Requires: nothing.
// Cost:     log₂Q empty messages per rank in as many rounds, Q the largest power of two ≤ P, and 2 rounds
//           more where P > Q.
//
//            before      round 0     round 1                   (P = 4)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
//
//            before    round 0   round 1   round 2           (P = 3, Q = 2: rank 1 takes part through rank 0)
//   rank     0 1 2     0 1 2     0 1 2     0 1 2
//   block 0  0 . .     0 . .     0 . *     0 * 0
//   block 1  . 1 .     * 1 .     1 1 *     1 1 1
//   block 2  . . 2     . . 2     * . 2     2 * 2
#include "collective/core/algorithm.hpp"

namespace convene::collective {

extern const Algorithm allgather_recursive_doubling_two_phase;

namespace {

void generate_barrier_recursive_doubling(const Call& call, Builder& builder) {
  allgather_recursive_doubling_two_phase.generate(call, builder);
}

}  // namespace

extern constinit const Algorithm barrier_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "In round k a rank exchanges empty messages with the rank whose number differs in bit k.",
    .source = "Hensgen et al. 1988",
    .collectives = {Collective::barrier},
    .rounds = "log₂Q, plus 2 if P > Q, the largest power of two ≤ P",
    .generate = generate_barrier_recursive_doubling,
};

}  // namespace convene::collective
