// SPDX-License-Identifier: BSD-3-Clause
// Rabenseifner's algorithm: recursive halving leaves each rank with a part of the sum (reduce-scatter), and
// recursive doubling in the reverse order distributes all parts (allgather). Each part is summed on one rank,
// so all ranks get the same bits.
//
// Source:   Rabenseifner 2004, section 4; Thakur, Rabenseifner, Gropp 2005, section 4.5.
// Requires: nothing. Keeps the order: partners at distance 1 are first, so sums are over runs of consecutive
//           ranks.
// Cost:     2⌊log₂P⌋ rounds (two more if P is no power of two), 2(P − 1)/P vectors sent and (P − 1)/P
//           combined; up to two vectors of extra memory.
//
//            before         round 0          round 1              round 2            round 3
//   rank     0  1  2  3     0  1  2  3       0   1   2   3        0   1   2   3      0   1   2   3
//   part 0   0  1  2  3     01 .  23 .       all .   .   .        all .   all .      all all all all
//   part 1   0  1  2  3     01 .  23 .       .   .   all .        all .   all .      all all all all
//   part 2   0  1  2  3     .  01 .  23      .   all .   .        .   all .   all    all all all all
//   part 3   0  1  2  3     .  01 .  23      .   .   .   all      .   all .   all    all all all all
//
// With P = 5, rank 1 sends its vector to rank 0 first and receives the sum from it at the end.
#include <bit>

#include "collective/parts/slicing.hpp"

namespace convene::collective {
namespace {

std::uint64_t rabenseifner_parts(Rank procs, std::span<const Value>) { return std::bit_floor(procs); }

void generate_allreduce_rabenseifner(const Call& call, Builder& builder) {
  const Folding folding{call.procs, std::bit_floor(call.procs)};
  const std::vector<Place> all = run_of_places(0, folding.cores);
  Slicing slicing(call, builder, folding, radices(folding.cores, 2));
  Partial partial(call, builder, folding.cores,
                  {.at_output = true, .keeps_order = !call.commutative, .above = slicing.above()});
  folding.fold(call.rank, partial, all);
  if (folding.is_core(call.rank)) {
    slicing.reduce_scatter(partial);
    slicing.allgather(partial);
    partial.settle(all);
  }
  builder.round(2 * static_cast<std::uint32_t>(std::bit_width(folding.cores) - 1) + 1);
  folding.unfold(call.rank, partial, all);
}

}  // namespace

extern constinit const Algorithm allreduce_rabenseifner = {
    .name = "rabenseifner",
    .summary = "Reduce-scatter by recursive halving, followed by an allgather by recursive doubling.",
    .source = "Rabenseifner 2004, section 4",
    .collectives = {Collective::allreduce},
    .rounds = "2⌊log₂P⌋, two more if P is no power of two",
    .pieces = rabenseifner_parts,
    .generate = generate_allreduce_rabenseifner,
};

}  // namespace convene::collective
