// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling for any number of processes: with Q the largest power of two and P = Q + x, the first 2x
// ranks form pairs. The odd rank of a pair sends its block to the even one, Q members (the even ranks of
// pairs and all ranks from 2x on) run recursive doubling, and the odd ranks receive the other blocks. Members
// hold runs of blocks without gaps.
//
// Source:   Viertel, section 5.3.2 ("additional communication … after the algorithm finishes on the power of
//           two part"). The pairing of neighbours is this project's choice.
// Requires: nothing. For a power of two it is recursive doubling.
// Cost:     log₂Q rounds, and 2 more where P > Q; a member sends up to 2P − 3 blocks; no extra memory.
//
//            before      round 0     round 1     round 2     (P = 3, Q = 2: rank 1 takes part through rank 0)
//   rank     0 1 2       0 1 2       0 1 2       0 1 2
//   block 0  0 . .       0 . .       0 . *       0 * 0
//   block 1  . 1 .       * 1 .       1 1 *       1 1 1
//   block 2  . . 2       . . 2       * . 2       2 * 2         (* arrives in this round)
//
//            before        round 0       round 1       round 2       round 3       (P = 6, Q = 4)
//   rank     0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5
//   block 0  0 . . . . .   0 . . . . .   0 . * . . .   0 . 0 . * *   0 * 0 * 0 0
//   block 3  . . . 3 . .   . . * 3 . .   * . 3 3 . .   3 . 3 3 * *   3 * 3 3 3 3
//   block 5  . . . . . 5   . . . . . 5   . . . . * 5   * . * . 5 5   5 * 5 * 5 5
#include <bit>

#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

/// Members of the doubling. Member m is rank 2m in the pairs, and rank m + x after them.
struct Members {
  Rank count;     // Q
  Rank in_pairs;  // x: members that represent two ranks

  explicit Members(Rank procs) : count(std::bit_floor(procs)), in_pairs(procs - count) {}

  bool is_proxied(Rank rank) const { return rank < 2 * in_pairs && rank % 2 == 1; }
  Rank member(Rank rank) const { return rank < 2 * in_pairs ? rank / 2 : rank - in_pairs; }
  Rank rank(Rank member) const { return member < in_pairs ? 2 * member : member + in_pairs; }

  /// The blocks of `number` members from `first` on.
  Range blocks_of(Rank first, Rank number) const {
    const Rank begin = rank(first), end = first + number == count ? count + in_pairs : rank(first + number);
    return held_blocks(begin, end - begin);
  }
};

void generate_allgather_recursive_doubling_two_phase(const Call& call, Builder& builder) {
  const Members members(call.procs);
  const Rank first_round = members.in_pairs > 0 ? 1 : 0;
  const auto last_round = static_cast<Rank>(std::countr_zero(members.count)) + first_round;
  place_own_block(call, builder);
  if (members.is_proxied(call.rank)) {
    builder.round(0);
    builder.send(call.rank - 1, own_input());
    builder.round(last_round);
    builder.recv(call.rank - 1, blocks(call.rank + 1, call.procs - 1));
    return;
  }
  const Rank me = members.member(call.rank);
  const bool is_proxy = me < members.in_pairs;
  if (is_proxy) {
    builder.round(0);
    builder.recv(call.rank + 1, blocks(call.rank + 1));
  }
  Rank round = first_round;
  for (Rank held = 1; held < members.count; held *= 2, ++round) {
    const Rank mine = me & ~(held - 1);  // the first of the `held` members whose blocks this rank has
    const Rank peer = members.rank(me ^ held);
    const Range theirs = members.blocks_of(mine ^ held, held);
    builder.round(round);
    builder.send(peer, members.blocks_of(mine, held));
    builder.recv(peer, blocks(members.rank(mine ^ held), theirs.count()));
  }
  if (is_proxy) {
    builder.round(last_round);
    builder.send(call.rank + 1, blocks(call.rank + 2, call.procs - 1));
  }
}

}  // namespace

extern constinit const Algorithm allgather_recursive_doubling_two_phase = {
    .name = "recursive_doubling_two_phase",
    .summary =
        "Recursive doubling for any P: excess ranks first hand their block to a partner, and receive the "
        "result.",
    .source = "Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .rounds = "log₂Q, plus 2 if P > Q, the largest power of two ≤ P",
    .generate = generate_allgather_recursive_doubling_two_phase,
};

}  // namespace convene::collective
