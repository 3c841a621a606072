// SPDX-License-Identifier: BSD-3-Clause
// Butterfly: recursive halving, then a gather. Partners at distance 1, 2, 4, … halve their common slice, and
// each receives the other's contribution to one half; the root then gathers the results in the reverse order.
// If the number of processes is no power of two, each excess rank first combines with a neighbour.
//
// Source:   Marendic et al. 2016, section 5.5.3 and appendix A; pairs of neighbours as in Rabenseifner 2004,
//           section 4.
// Requires: nothing. Keeps the order: partners' sums are over adjacent runs of ranks.
// Cost:     2⌊log₂P⌋ rounds (one more if P is no power of two), 2(P − 1)/P vectors sent by the busiest rank,
//           (P − 1)/P combined; up to two vectors of extra memory.
//
//            before         round 0          round 1              round 2          round 3        (root 0)
//   rank     0  1  2  3     0  1  2  3       0   1   2   3        0    1  2  3     0
//   part 0   0  1  2  3     01 .  23 .       all .   .   .        all  .  .  .     all
//   part 1   0  1  2  3     01 .  23 .       .   .   all .        all  .  -  .     all
//   part 2   0  1  2  3     .  01 .  23      .   all .   .        .  all  .  .     all
//   part 3   0  1  2  3     .  01 .  23      .   .   .   all      .  all  .  -     all
//
// With P = 5, rank 1 sends its whole vector to rank 0 first, and ranks 0, 2, 3, 4 continue as above.
#include <bit>

#include "collective/parts/reduction.hpp"
#include "collective/parts/slicing.hpp"

namespace convene::collective {
namespace {

std::uint64_t butterfly_parts(Rank procs, std::span<const Value>) { return std::bit_floor(procs); }

void generate_reduce_butterfly(const Call& call, Builder& builder) {
  const Folding folding{call.procs, std::bit_floor(call.procs), call.root};
  const std::vector<Place> all = run_of_places(0, folding.cores);
  Slicing slicing(call, builder, folding, radices(folding.cores, 2));
  Partial partial(call, builder, folding.cores, to_root(call, slicing.above()));
  folding.fold(call.rank, partial, all);
  if (!folding.is_core(call.rank)) return;
  slicing.reduce_scatter(partial);
  slicing.gather(partial, folding.core(call.root));
  if (call.is_root()) partial.settle(all);
}

}  // namespace

extern constinit const Algorithm reduce_butterfly = {
    .name = "butterfly",
    .summary = "Reduce-scatter by recursive halving, followed by a gather to the root.",
    .source = "Marendic et al. 2016, section 5.5.3 and appendix A",
    .collectives = {Collective::reduce},
    .rounds = "2⌊log₂P⌋, one more if P is no power of two",
    .pieces = butterfly_parts,
    .generate = generate_reduce_butterfly,
};

}  // namespace convene::collective
