// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/neighbors.hpp"

#include <numeric>

namespace convene::runtime {
namespace {

using Ranks = std::vector<Rank>;

Rank as_neighbor(int rank) { return rank < 0 ? Graph::no_rank : static_cast<Rank>(rank); }

Ranks as_neighbors(const std::vector<int>& ranks) {
  Ranks result;
  for (const int rank : ranks) result.push_back(as_neighbor(rank));
  return result;
}

/// In each dimension the neighbour below and the one above.
bool read_grid(MPI_Comm comm, Ranks& sources, Ranks& targets) {
  int dims = 0;
  if (pmpi.Cartdim_get(comm, &dims) != MPI_SUCCESS) return false;
  for (int i = 0; i < dims; ++i) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    if (pmpi.Cart_shift(comm, i, 1, &below, &above) != MPI_SUCCESS) return false;
    sources.insert(sources.end(), {as_neighbor(below), as_neighbor(above)});
  }
  targets = sources;
  return true;
}

bool read_graph(MPI_Comm comm, int rank, Ranks& sources, Ranks& targets) {
  int number = 0;
  if (pmpi.Graph_neighbors_count(comm, rank, &number) != MPI_SUCCESS) return false;
  std::vector<int> ranks(static_cast<std::size_t>(number));
  if (pmpi.Graph_neighbors(comm, rank, number, ranks.data()) != MPI_SUCCESS) return false;
  sources = targets = as_neighbors(ranks);
  return true;
}

bool read_distributed_graph(MPI_Comm comm, Ranks& sources, Ranks& targets) {
  int in = 0, out = 0, weighted = 0;
  if (pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return false;
  // Some MPIs write weights even if there are none: so MPI_UNWEIGHTED is not used.
  const auto ins = static_cast<std::size_t>(in), outs = static_cast<std::size_t>(out);
  std::vector<int> from(ins + 1), to(outs + 1), from_weights(ins + 1), to_weights(outs + 1);
  if (pmpi.Dist_graph_neighbors(comm, in, from.data(), from_weights.data(), out, to.data(),
                                to_weights.data()) != MPI_SUCCESS)
    return false;
  from.resize(ins);
  to.resize(outs);
  sources = as_neighbors(from);
  targets = as_neighbors(to);
  return true;
}

}  // namespace

std::shared_ptr<const Graph> own_neighbors(MPI_Comm comm, Rank rank, Rank procs) {
  int kind = MPI_UNDEFINED;
  if (pmpi.Topo_test(comm, &kind) != MPI_SUCCESS) return nullptr;
  auto graph = std::make_shared<Graph>(procs);
  Ranks &sources = graph->sources[rank], &targets = graph->targets[rank];
  bool found = false;
  graph->is_grid = kind == MPI_CART;
  if (kind == MPI_CART) found = read_grid(comm, sources, targets);
  if (kind == MPI_GRAPH) found = read_graph(comm, static_cast<int>(rank), sources, targets);
  if (kind == MPI_DIST_GRAPH) found = read_distributed_graph(comm, sources, targets);
  return found ? graph : nullptr;
}

std::shared_ptr<const Graph> all_neighbors(MPI_Comm comm, const Graph& own, Rank rank) {
  const Rank procs = own.procs();
  const Ranks &sources = own.sources[rank], &targets = own.targets[rank];
  const unsigned mine[2] = {static_cast<unsigned>(sources.size()), static_cast<unsigned>(targets.size())};
  std::vector<unsigned> degrees(2 * std::size_t{procs});
  if (pmpi.Allgather(mine, 2, MPI_UNSIGNED, degrees.data(), 2, MPI_UNSIGNED, comm) != MPI_SUCCESS)
    return nullptr;
  Ranks list = sources;
  list.insert(list.end(), targets.begin(), targets.end());
  std::vector<int> counts(procs), at(procs);
  for (Rank each = 0; each < procs; ++each)
    counts[each] = static_cast<int>(degrees[2 * each] + degrees[2 * each + 1]);
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
  Ranks lists(static_cast<std::size_t>(at.back() + counts.back()));
  if (pmpi.Allgatherv(list.data(), static_cast<int>(list.size()), MPI_UNSIGNED, lists.data(), counts.data(),
                      at.data(), MPI_UNSIGNED, comm) != MPI_SUCCESS)
    return nullptr;
  auto graph = std::make_shared<Graph>(procs);
  graph->is_grid = own.is_grid;
  for (Rank each = 0; each < procs; ++each) {
    const auto begin = lists.begin() + at[each], middle = begin + degrees[2 * each];
    graph->sources[each].assign(begin, middle);
    graph->targets[each].assign(middle, begin + counts[each]);
  }
  return graph;
}

}  // namespace convene::runtime
