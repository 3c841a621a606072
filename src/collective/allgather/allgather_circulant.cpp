// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph: a rank that holds s consecutive blocks, its own first, receives the next s′ − s from the
// rank s above. The skips s are P halved again and again, rounded up, and are used in ascending order: every
// round fills up to the next skip, so the sizes of the rounds are as equal to powers of two as P allows.
//
// Source:   Träff 2024 (arXiv 2410.14234), Algorithm 1, reversed.
// Requires: nothing.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1                   (skips 1, 2)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . *     0 * * 0
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . * 2 .     * 2 2 *
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2       (skips 1, 2, 3; P = 5)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . *   0 . . * 0   0 * * 0 0
//   block 1  . 1 . . .   * 1 . . .   1 1 . . *   1 1 * * 1
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/parts/circulant_skips.hpp"

namespace convene::collective {
namespace {

void generate_allgather_circulant(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  const std::vector<Rank> skips = circulant_skips(call.procs);
  for (std::uint32_t round = 0; round + 1 < skips.size(); ++round) {
    const Rank skip = skips[round], count = skips[round + 1] - skip;
    builder.round(round);
    builder.send(call.down(skip), held_blocks(call.rank, count));
    builder.recv(call.up(skip), blocks(call.up(skip), count));
  }
}

}  // namespace

extern constinit const Algorithm allgather_circulant = {
    .name = "circulant",
    .summary =
        "A rank with s blocks receives the next ones from the rank s above; the skips s are P halved again "
        "and again.",
    .source = "Träff 2024 (arXiv 2410.14234), Algorithm 1",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,
    .rounds = "⌈log₂P⌉",
    .generate = generate_allgather_circulant,
};

}  // namespace convene::collective
