// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph: the reduce-scatter over the skips P/2, P/4, …, rounded up, leaves each rank with a P-th of
// the sum, and the same skips in the reverse order distribute all parts. Each part is summed on one rank, so
// all ranks get the same bits.
//
// Source:   Träff 2024 (arXiv 2410.14234), Algorithm 2.
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     2⌈log₂P⌉ rounds, 2(P − 1)/P vectors sent and (P − 1)/P combined; up to two vectors of extra memory.
//
//            before         after round 1 (see reduce_scatter_circulant.cpp)    round 2              round 3
//   rank     0  1  2  3     0    1    2    3                                    0   1   2   3        all
//   part 0   0  1  2  3     all  .    .    .                                    all .   .   all      everywhere
//   part 1   0  1  2  3     .    all  .    .                                    all all .   .
//   part 2   0  1  2  3     .    .    all  .                                    .   all all .
//   part 3   0  1  2  3     .    .    .    all                                  .   .   all all
//
// P = 5 takes two rounds more.
#include "collective/parts/circulant_skips.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_circulant(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {.at_output = true});
  std::uint32_t round = circulant_reduce_scatter(call, builder, partial);
  const std::vector<Rank> skips = circulant_skips(call.procs);
  for (std::size_t i = 0; i + 1 < skips.size(); ++i, ++round) {
    const Rank skip = skips[i], count = skips[i + 1] - skip;
    builder.round(round);
    partial.send(call.down(skip), places_upwards(call.rank, count, call.procs));
    partial.replace(call.up(skip), places_upwards(call.up(skip), count, call.procs));
  }
  partial.settle(run_of_places(0, call.procs));
}

}  // namespace

extern constinit const Algorithm allreduce_circulant = {
    .name = "circulant",
    .summary = "Reduce-scatter and allgather on a circulant graph, whose skips are P halved again and again.",
    .source = "Träff 2024 (arXiv 2410.14234), Algorithm 2",
    .collectives = {Collective::allreduce},
    .rounds = "2⌈log₂P⌉",
    .cuts_by_procs = true,
    .commutative_only = true,
    .generate = generate_allreduce_circulant,
};

}  // namespace convene::collective
