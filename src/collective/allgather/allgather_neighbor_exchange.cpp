// SPDX-License-Identifier: BSD-3-Clause
// Neighbor exchange: ranks swap with their two neighbours in turn; from the second round on, always the pair
// of blocks received last. Half the rounds of the ring, and every exchange is two-way.
//
// Source:   Chen et al. 2005 by way of Loch, section 2.4.2, and Viertel, section 5.3.2.
// Requires: an even number of processes.
// Cost:     P/2 rounds, P/2 messages and P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
//
//            before        round 0       round 1       round 2
//   rank     0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5
//   block 0  0 . . . . .   0 * . . . .   0 0 * . . *   0 0 0 * * 0
//   block 1  . 1 . . . .   * 1 . . . .   1 1 * . . *   1 1 1 * * 1
#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

/// The first block of the pair that a rank receives in a round (in round 0: of the pair that it then holds).
///
/// Pairs are numbered like their ranks, q = rank / 2. In odd rounds an even rank exchanges with the rank
/// below and receives blocks from further and further below: q − 1, q − 2, …; in even rounds it receives from
/// above: q + 1, q + 2, …. An odd rank is the mirror image.
Rank pair_of_round(const Call& call, Rank round) {
  const Rank pairs = call.procs / 2;
  const Rank distance = (round + 1) / 2;
  const bool from_below = (call.rank % 2 == 0) == (round % 2 == 1);
  return 2 * ((call.rank / 2 + (from_below ? pairs - distance : distance)) % pairs);
}

void generate_allgather_neighbor_exchange(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  for (Rank round = 0; round < call.procs / 2; ++round) {
    const bool upwards = (call.rank % 2 == 0) == (round % 2 == 0);
    const Rank peer = upwards ? call.up() : call.down();
    builder.round(round);
    if (round == 0) {
      builder.send(peer, own_input());
      builder.recv(peer, blocks(peer));
    } else {
      builder.send(peer, blocks(pair_of_round(call, round - 1), 2));
      builder.recv(peer, blocks(pair_of_round(call, round), 2));
    }
  }
}

}  // namespace

extern constinit const Algorithm allgather_neighbor_exchange = {
    .name = "neighbor_exchange",
    .summary = "Ranks exchange with their two neighbours in turn the two blocks that they received last.",
    .source = "Chen et al. 2005; Loch 2021, section 2.4.2",
    .collectives = allgathers,
    .requirement = Requirement::even,
    .rounds = "P/2",
    .generate = generate_allgather_neighbor_exchange,
};

}  // namespace convene::collective
