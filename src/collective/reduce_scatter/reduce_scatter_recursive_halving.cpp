// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: in each round partners halve their common blocks, and each receives the other's
// contribution to its half. With a commutative operator the farthest partners are first, so that halves are
// runs of blocks; otherwise the nearest, so that sums are over adjacent ranks, and a half is every second,
// fourth, … block. If the number of processes is no power of two, each excess rank first combines with a
// neighbour.
//
// Source:   Thakur, Rabenseifner, Gropp 2005, section 4.4.
// Requires: nothing. Keeps the order.
// Cost:     ⌊log₂P⌋ rounds (two more if P is no power of two), P − 1 blocks sent and combined; up to two
//           vectors of extra memory.
//
//            before         round 0           round 1                (commutative)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   block 0  0  1  2  3     02 13 .  .        all .   .   .
//   block 1  0  1  2  3     02 13 .  .        .   all .   .
//   block 2  0  1  2  3     .  .  02 13       .   .   all .
//   block 3  0  1  2  3     .  .  02 13       .   .   .   all
//
// With P = 5, rank 1 sends its vector to rank 0 first, which finally has blocks 0 and 1 and sends rank 1 its
// own.
#include <bit>

#include "collective/parts/folding.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

/// The blocks of the cores whose numbers agree with a given one in some bits.
std::vector<Place> blocks_of(const Folding& folding, Rank number, Rank bits) {
  std::vector<Place> blocks;
  for (Rank core = 0; core < folding.cores; ++core) {
    if (((core ^ number) & bits) != 0) continue;
    const Rank rank = folding.rank(core);
    blocks.push_back(rank);
    if (folding.has_partner(rank)) blocks.push_back(folding.partner(rank));
  }
  return blocks;
}

void generate_reduce_scatter_recursive_halving(const Call& call, Builder& builder) {
  const Folding folding{call.procs, std::bit_floor(call.procs)};
  const Rank own = folding.core(call.rank);
  Partial partial(call, builder, call.procs,
                  {.keeps_order = !call.commutative, .above = folding.above(call.rank)});
  folding.fold(call.rank, partial, run_of_places(0, call.procs));

  std::uint32_t round = folding.pairs() > 0 ? 1 : 0;
  Rank settled = 0;  // the bits of the numbers that are equal in all cores that still share blocks
  for (Rank i = 1; i < folding.cores; i *= 2, ++round) {
    if (!folding.is_core(call.rank)) continue;
    const Rank distance = call.commutative ? folding.cores / 2 / i : i;
    settled |= distance;
    const Rank partner = own ^ distance;
    builder.round(round);
    partial.send(folding.rank(partner), blocks_of(folding, partner, settled));
    partial.take(folding.rank(partner), blocks_of(folding, own, settled),
                 partner > own ? OperandOrder::above : OperandOrder::below);
  }
  builder.round(round);
  if (!folding.is_core(call.rank)) return builder.recv(folding.partner(call.rank), own_result());
  if (folding.has_partner(call.rank)) partial.send(folding.partner(call.rank), folding.partner(call.rank));
  const Range own_block[] = {own_result()};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_recursive_halving = {
    .name = "recursive_halving",
    .summary =
        "Partners halve the blocks that they share; each receives the other's contribution to its half.",
    .source = "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    .collectives = reduce_scatters,
    .rounds = "⌊log₂P⌋, two more if P is no power of two",
    .generate = generate_reduce_scatter_recursive_halving,
};

}  // namespace convene::collective
