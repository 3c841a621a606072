// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: in round k every rank sends its sum to the rank 2^k above it, which combines it as the
// left operand: then each has the sum of 2^(k+1) ranks up to itself. All ranks work in all rounds.
//
// Source:   Hillis and Steele 1986; Sanders and Träff 2006, section 1.
// Requires: nothing. Keeps the order.
// Cost:     ⌈log₂P⌉ rounds of the whole vector, for an exscan 1 + ⌈log₂(P − 1)⌉; up to three vectors of extra
//           memory.
//
//            before         round 0          round 1
//   rank     0  1  2  3     0  1  2  3       0  1  2   3
//   vector   0  1  2  3     0  01 12 23      0  01 012 0123
//
// With P = 5 rank 4 takes 01 of rank 1 … in round 2, all but its own.
#include "collective/scan/prefix.hpp"

namespace convene::collective {
namespace {

void generate_scan_recursive_doubling(const Call& call, Builder& builder) {
  Prefix prefix(call, builder);
  if (prefix.number() >= prefix.size()) return;
  std::uint32_t round = prefix.first_round();
  for (Rank distance = 1; distance < prefix.size(); distance *= 2, ++round) {
    builder.round(round);
    if (prefix.number() + distance < prefix.size()) prefix.send_up(distance);
    if (prefix.number() >= distance) prefix.take_from_below(distance);
  }
}

}  // namespace

extern constinit const Algorithm scan_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "In round k every rank sends its partial result to the rank 2^k above it.",
    .source = "Hillis and Steele 1986; Sanders and Träff 2006, section 1",
    .collectives = scans,
    .rounds = "⌈log₂P⌉; exscan 1 + ⌈log₂(P − 1)⌉",
    .generate = generate_scan_recursive_doubling,
};

}  // namespace convene::collective
