// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling for any number of processes: the ranks beyond the largest power of two Q hand their
// block to a proxy (the rank Q below), the first Q ranks double recursively with both blocks, and the proxies
// hand the rest back.
//
// Source:   Viertel, section 5.3.2 ("additional communication … after the algorithm finishes on the power of
// two part"). Requires: nothing. For a power of two it is recursive doubling. Cost:     log₂Q + 2 rounds; a
// proxy sends up to 2P − 3 blocks; no extra memory.
//
//            before      round 0     round 1     round 2       (P = 3, Q = 2: rank 0 is rank 2's proxy)
//   rank     0 1 2       0 1 2       0 1 2       0 1 2
//   block 0  0 . .       0 . .       0 * .       0 0 *
//   block 1  . 1 .       . 1 .       * 1 .       1 1 *
//   block 2  . . 2       * . 2       2 * 2       2 2 2         (* arrives in this round)
//
//            before        round 0       round 1       round 2       round 3       (P = 6, Q = 4)
//   rank     0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5
//   block 0  0 . . . . .   0 . . . . .   0 * . . . .   0 0 * * . .   0 0 0 0 * *
//   block 2  . . 2 . . .   . . 2 . . .   . . 2 * . .   * * 2 2 . .   2 2 2 2 * *
//   block 5  . . . . . 5   . * . . . 5   * 5 . . . 5   5 5 * * . 5   5 5 5 5 * 5
#include <algorithm>
#include <bit>

#include "collective/allgather/allgather_blocks.hpp"

namespace convene {
namespace {

/// A proxied rank: gives its block away first and gets all others last.
void generate_proxied(const Call& call, Builder& builder, Rank proxy, Rank last_round) {
  builder.round(0);
  builder.send(proxy, own_block());
  builder.round(last_round);
  builder.recv(proxy, blocks(call.rank + 1, call.procs - 1));
}

/// One of the first Q ranks: what it holds is the blocks of `held` of them and of those that they are proxies
/// of.
void generate_member(const Call& call, Builder& builder, Rank doubling, Rank last_round) {
  const Rank beyond = call.procs - doubling;
  const Rank proxied = call.rank + doubling;
  if (call.rank < beyond) {
    builder.round(0);
    builder.recv(proxied, blocks(proxied));
  }
  const auto also = [&](Rank first,
                        Rank count) {  // the blocks that come with those of `count` members from `first`
    return blocks(doubling + first, first < beyond ? std::min(count, beyond - first) : 0);
  };
  Rank round = 1;
  for (Rank held = 1; held < doubling; held *= 2, ++round) {
    const Rank mine = call.rank & ~(held - 1), theirs = mine ^ held;
    builder.round(round);
    builder.send(call.rank ^ held, {held_blocks(mine, held), also(mine, held)});
    builder.recv(call.rank ^ held, {blocks(theirs, held), also(theirs, held)});
  }
  if (call.rank < beyond) {
    builder.round(last_round);
    builder.send(proxied, blocks(proxied + 1, call.procs - 1));
  }
}

void generate(const Call& call, Builder& builder) {
  const Rank doubling = std::bit_floor(call.procs);
  const auto last_round = static_cast<Rank>(std::countr_zero(doubling)) + 1;
  place_own_block(call, builder);
  if (call.rank < doubling)
    generate_member(call, builder, doubling, last_round);
  else
    generate_proxied(call, builder, call.rank - doubling, last_round);
}

}  // namespace

extern const Algorithm allgather_recursive_doubling_two_phase = {
    .name = "recursive_doubling_two_phase",
    .summary =
        "Recursive doubling for any P: ranks beyond the largest power of two take part through a proxy.",
    .source = "Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .rounds = "log₂Q + 2, Q the largest power of two ≤ P",
    .generate = generate,
};

}  // namespace convene
