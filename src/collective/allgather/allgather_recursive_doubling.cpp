// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: in round k a rank swaps all its blocks with the rank whose number differs in bit k.
//
// Source:   Loch, section 2.4.3; Viertel, section 5.3.2.
// Requires: a power of two. (recursive_doubling_two_phase takes any number.)
// Cost:     log₂P rounds and messages, P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

void generate_allgather_recursive_doubling(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  Rank round = 0;
  for (Rank held = 1; held < call.procs; held *= 2, ++round) {
    const Rank mine = call.rank & ~(held - 1);  // the first of the `held` blocks that this rank has
    builder.round(round);
    builder.send(call.rank ^ held, held_blocks(mine, held));
    builder.recv(call.rank ^ held, blocks(mine ^ held, held));
  }
}

}  // namespace

extern constinit const Algorithm allgather_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "In round k a rank exchanges all its blocks with the rank whose number differs in bit k.",
    .source = "Thakur and Gropp 2003; Loch 2021, section 2.4.3",
    .collectives = allgathers,
    .requirement = Requirement::power_of_two,
    .symmetry = Symmetry::exchange,
    .rounds = "log₂P",
    .generate = generate_allgather_recursive_doubling,
};

}  // namespace convene::collective
