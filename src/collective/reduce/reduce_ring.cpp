// SPDX-License-Identifier: BSD-3-Clause
// Parallel ring: each P-th of the vector travels once around the ring to collect all contributions; the root
// gathers the sums by a binomial tree.
//
// Source:   Marendic et al. 2016, section 5.5.2 and appendix A (there called parallel ring, elsewhere bucket
//           algorithm).
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     P − 1 + ⌈log₂P⌉ rounds, (P − 1)/P vectors sent and combined, and at most half a vector more to
//           gather; up to two vectors of extra memory.
//
//            before         round 0           round 1             round 2     (then parts 1 to 3 to the root)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3       0    1    2    3
//   part 0   0  1  2  3     0  .  12 3        0   .   .   123     all  .    .    .
//   part 1   0  1  2  3     0  1  .  23       023 1   .   .       .    all  .    .
//   part 2   0  1  2  3     03 1  2  .        .   013 2   .       .    .    all  .
//   part 3   0  1  2  3     .  01 2  3        .   .   012 3       .    .    .    all
#include <algorithm>
#include <bit>

#include "collective/parts/reduction.hpp"
#include "collective/parts/ring_reduce.hpp"

namespace convene::collective {
namespace {

void generate_reduce_ring(const Call& call, Builder& builder) {
  const Rank own = call.relative();
  Partial partial(call, builder, call.procs, to_root(call, 0));
  ring_reduce_scatter({call.procs, own, call.up(), call.down()}, builder, partial);

  const auto levels = static_cast<Rank>(std::bit_width(call.procs - 1));
  const Rank level = own == 0 ? levels : static_cast<Rank>(std::countr_zero(own));
  const auto size = [&](Rank number, Rank of_level) {
    return std::min(Rank{1} << of_level, call.procs - number);
  };
  for (Rank child = 0; child < level && own + (Rank{1} << child) < call.procs; ++child) {
    const Rank number = own + (Rank{1} << child);
    builder.round(call.procs - 1 + child);
    partial.replace(call.absolute(number), run_of_places(number, size(number, child)));
  }
  builder.round(call.procs - 1 + level);
  if (own != 0)
    partial.send(call.absolute(own - (Rank{1} << level)), run_of_places(own, size(own, level)));
  else
    partial.settle(run_of_places(0, call.procs));
}

}  // namespace

extern constinit const Algorithm reduce_ring = {
    .name = "ring",
    .summary =
        "Every part of the vector travels around a ring to collect contributions; the root gathers the "
        "parts.",
    .source = "Marendic et al. 2016, section 5.5.2 and appendix A (parallel ring)",
    .collectives = {Collective::reduce},
    .rounds = "P − 1 + ⌈log₂P⌉",
    .cuts_by_procs = true,
    .commutative_only = true,
    .generate = generate_reduce_ring,
};

}  // namespace convene::collective
