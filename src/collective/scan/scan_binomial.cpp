// SPDX-License-Identifier: BSD-3-Clause
// Binomial: sums of 2, 4, 8, … adjacent ranks go up a tree, and prefixes go down again to the ranks that lack
// them. Twice the rounds of recursive doubling, but fewer than 2P messages in all.
//
// Source:   Sanders and Träff 2006, section 2 (up and down phase); Brent and Kung 1982.
// Requires: nothing. Keeps the order.
// Cost:     2⌈log₂P⌉ − 1 rounds of the whole vector, for an exscan 1 + 2⌈log₂(P − 1)⌉ − 1; up to three
//           vectors of extra memory.
//
//            before         round 0          round 1            round 2
//   rank     0  1  2  3     0  1  2  3       0  1  2  3         0  1  2   3
//   vector   0  1  2  3     0  01 2  23      0  01 2  0123      0  01 012 0123
//
// With P = 5 rank 4 takes 0123 of rank 3 in round 4.
#include <bit>

#include "collective/scan/prefix.hpp"

namespace convene::collective {
namespace {

void generate_scan_binomial(const Call& call, Builder& builder) {
  Prefix prefix(call, builder);
  const Rank size = prefix.size(), count = prefix.number() + 1;  // the number of ranks in a full sum
  if (prefix.number() >= size) return;
  const auto levels = static_cast<std::uint32_t>(std::bit_width(size - 1));
  for (std::uint32_t level = 0; level < levels; ++level) {
    const Rank distance = Rank{1} << level, group = 2 * distance;
    builder.round(prefix.first_round() + level);
    if (count % group == 0) prefix.take_from_below(distance);
    if (count % group == distance && count + distance <= size) prefix.send_up(distance);
  }
  for (std::uint32_t level = levels; level-- > 0;) {
    const Rank distance = Rank{1} << level, group = 2 * distance;
    builder.round(prefix.first_round() + 2 * levels - 2 - level);
    if (count % group == distance && count > distance) prefix.take_from_below(distance);
    if (count % group == 0 && count + distance <= size) prefix.send_up(distance);
  }
}

}  // namespace

extern constinit const Algorithm scan_binomial = {
    .name = "binomial",
    .summary = "Partial results of 2, 4, 8, … neighbours travel up a tree; prefixes travel down.",
    .source = "Sanders and Träff 2006, section 2",
    .collectives = scans,
    .rounds = "2⌈log₂P⌉ − 1; exscan 2⌈log₂(P − 1)⌉",
    .generate = generate_scan_binomial,
};

}  // namespace convene::collective
