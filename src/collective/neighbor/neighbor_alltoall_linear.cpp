// SPDX-License-Identifier: BSD-3-Clause
// Linear neighborhood alltoall: a block to every target, a block from every source, all at once. Blocks
// between the same two ranks match in their order; on a grid what is sent down arrives from above.
//
// Source:   MPI 4.1, section 8.6: what the standard defines as the call's meaning, example 8.10 for grids.
// Cost:     1 round of as many messages as a rank has targets.
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

void generate_neighbor_alltoall_linear(const Call& call, Builder& builder) {
  const auto &sources = call.graph->sources[call.rank], &targets = call.graph->targets[call.rank];
  std::vector<Place> to_itself;
  for (Place place = 0; place < targets.size(); ++place)
    if (targets[place] == call.rank) to_itself.push_back(place);
  std::size_t copied = 0;
  for (const Place place : call.graph->receive_order(call.rank)) {
    if (sources[place] == Graph::no_rank) continue;
    const Range block(Buffer::output, place);
    if (sources[place] != call.rank)
      builder.recv(sources[place], block);
    else if (copied < to_itself.size())
      builder.copy(Range(Buffer::input, to_itself[copied++]), block);
  }
  for (Place place = 0; place < targets.size(); ++place)
    if (targets[place] != Graph::no_rank && targets[place] != call.rank)
      builder.send(targets[place], Range(Buffer::input, place));
}

}  // namespace

extern constinit const Algorithm neighbor_alltoall_linear = {
    .name = "linear",
    .summary = "Every rank sends each target its block and receives a block from each source, all at once.",
    .source = "MPI 4.1, section 8.6",
    .collectives = {Collective::neighbor_alltoall, Collective::neighbor_alltoallv},
    .rounds = "1",
    .generate = generate_neighbor_alltoall_linear,
};

}  // namespace convene::collective
