// SPDX-License-Identifier: BSD-3-Clause
// Radix-k: as the butterfly, with groups of k ranks instead of pairs: each member receives the k − 1 others'
// contributions to one k-th of their common slice. The groups' sizes multiply to P. The size at a level is
// the largest divisor of what remains of P that does not exceed the radix of that level. If that is 1, it is
// the smallest divisor above the radix. The last radix applies to all further levels.
//
// Source:   Marendic et al. 2016, section 5.5.4 and appendix A. (It takes a vector of sizes that was found by
//           measuring, {4, 4, 8} for P = 128: here radix=4x4x8.)
// Requires: nothing; for a prime number of processes the only group is all of them. Keeps the order.
// Cost:     the sum of (k − 1) rounds, (P − 1)/P vectors sent and combined, then a gather; up to two vectors
//           of extra memory, with groups of more than two up to five.
//
//   P = 4, radix 4: every rank sends each other rank its quarter, receives three for its own, and sends the
//   sum to the root. P = 6, radix 4: groups of three (0 1 2, 3 4 5), then of two (0 3, 1 4, 2 5).
#include <algorithm>

#include "collective/parts/reduction.hpp"
#include "collective/parts/slicing.hpp"

namespace convene::collective {
namespace {

constexpr std::uint32_t most_inboxes = 4;

void generate_reduce_radix_k(const Call& call, Builder& builder) {
  const Folding none{call.procs, call.procs};
  const Value& radix = call.parameters[0];
  std::vector<Rank> wanted;
  for (std::size_t i = 0; i < radix.size(); ++i) wanted.push_back(static_cast<Rank>(radix[i]));
  const std::vector<Rank> sizes = radices(call.procs, wanted);
  Slicing slicing(call, builder, none, sizes);
  Partial::Options options = to_root(call, slicing.above());
  for (const Rank size : sizes) options.inboxes = std::clamp(size - 1, options.inboxes, most_inboxes);
  Partial partial(call, builder, call.procs, options);
  slicing.reduce_scatter(partial);
  slicing.gather(partial, call.root);
  if (call.is_root()) partial.settle(run_of_places(0, call.procs));
}

constexpr Parameter reduce_radix_k_parameters[] = {
    {.name = "radix",
     .summary =
         "maximum group size at each level, as in 4x4x8 (the last one repeats); lowered to a divisor of the "
         "remaining P, or raised to one if there is none below",
     .fallback = 4,
     .least = 2,
     .most = 1024,
     .samples = {2, 3, 4, 8, {4, 2}, {2, 3, 5}},
     .is_list = true}};

}  // namespace

extern constinit const Algorithm reduce_radix_k = {
    .name = "radix_k",
    .summary = "A butterfly with groups of k ranks instead of pairs.",
    .source = "Marendic et al. 2016, section 5.5.4 and appendix A",
    .collectives = {Collective::reduce},
    .rounds = "the sum of (k − 1) over the group sizes, plus one per group size for the gather",
    .parameters = reduce_radix_k_parameters,
    .cuts_by_procs = true,
    .generate = generate_reduce_radix_k,
};

}  // namespace convene::collective
