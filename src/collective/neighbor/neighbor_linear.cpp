// SPDX-License-Identifier: BSD-3-Clause
// Linear neighborhood allgather: the own block to every target, a block from every source, all at once.
//
// Source:   MPI 4.1, section 8.6: the definition of the call in the standard.
// Cost:     1 round of as many messages as a rank has targets.
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

void generate_neighbor_linear(const Call& call, Builder& builder) {
  const Graph& graph = *call.graph;
  const auto& sources = graph.sources[call.rank];
  const Range own(Buffer::input, 0);
  for (Place place = 0; place < sources.size(); ++place) {
    if (sources[place] == Graph::no_rank) continue;
    const Range block(Buffer::output, place);
    if (sources[place] == call.rank)
      builder.copy(own, block);
    else
      builder.recv(sources[place], block);
  }
  for (const Rank target : graph.targets[call.rank])
    if (target != Graph::no_rank && target != call.rank) builder.send(target, own);
}

}  // namespace

extern constinit const Algorithm neighbor_linear = {
    .name = "linear",
    .summary = "Every rank sends its block to all targets and receives from all sources at once.",
    .source = "MPI 4.1, section 8.6",
    .collectives = {Collective::neighbor_allgather, Collective::neighbor_allgatherv},
    .rounds = "1",
    .generate = generate_neighbor_linear,
};

}  // namespace convene::collective
