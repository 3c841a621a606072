// SPDX-License-Identifier: BSD-3-Clause
// A call of a collective as a generator sees it, and its contract: the contents of all buffers before and
// after.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collective/core/collective.hpp"
#include "collective/core/spec_tree.hpp"
#include "schedule/check/checker.hpp"
#include "topology/domains.hpp"
#include "topology/graph.hpp"

namespace convene::collective {

/// A call as a generator sees it. All but `rank` is equal on all ranks.
struct Call {
  Collective collective = Collective::allgather;
  Rank procs = 1, rank = 0, root = 0;
  bool in_place = false;               ///< of a rooted collective: the root's
  std::vector<Value> parameters = {};  ///< in the order of the descriptor's parameters
  std::vector<Spec> parts = {};        ///< of a composed algorithm, in the order of its slots
  /// Forecast: the arrival of each rank, in ticks of a round's duration (one block sent and received) after
  /// the earliest. Empty: all at once. The forecast affects speed only: a schedule is correct for any
  /// arrivals.
  std::vector<std::int32_t> arrivals = {};
  /// Each rank's node, by rank: any numbers, the same for ranks that share a node. Empty: not known.
  std::vector<Rank> nodes = {};
  /// Each rank's domains within its node, by rank. Empty: no level divides a node.
  std::vector<Domains> domains = {};
  /// Of a neighborhood collective: the ranks' neighbours. Lists of other ranks may be missing if the
  /// algorithm does not need them. Null: the graph of with_graph().
  std::shared_ptr<const Graph> graph = nullptr;
  /// Of a reduction's operator; if false, contributions are combined in rank order.
  bool commutative = true;

  // The ranks `distance` above and below, modulo P. Distances are at most the number of processes.
  Rank up(Rank distance = 1) const {
    return rank + distance < procs ? rank + distance : rank + distance - procs;
  }
  Rank down(Rank distance = 1) const { return rank >= distance ? rank - distance : rank + procs - distance; }

  bool is_root() const { return rank == root; }
  // Ranks relative to the root, which is 0, and the inverse.
  Rank relative() const { return rank >= root ? rank - root : rank + procs - root; }
  Rank absolute(Rank relative) const {
    return relative + root < procs ? relative + root : relative + root - procs;
  }
};

/// The call, with a graph if it needs one and has none: a plane of ranks with eight neighbours each.
Call with_graph(Call call);

/// Number of places of this rank's input and output when a block is cut into `segments` places.
///
/// allgather: the own block; all blocks, by rank.   gather: the own block; at the root all blocks, else none.
/// scatter: at the root all, else none; the own.    alltoall: the blocks by target; the blocks by source.
/// bcast: none; the vector, at the root too.              barrier: as allgather, of zero-byte blocks.
/// reduce: the vector; at the root the vector, else none. allreduce, scan, exscan: the vector; the vector.
/// reduce_scatter, reduce_scatter_block: the vector, which is a block for each rank; the own block.
/// neighbor_allgather, neighbor_allgatherv: the own block; a block for each of the rank's sources.
/// neighbor_alltoall, neighbor_alltoallv: a block for each of the rank's targets; a block for each of its
/// sources.
struct Places {
  std::uint32_t input, output;
};
Places places(const Call& call, std::uint32_t segments);

/// Under MPI_IN_PLACE: place i of `alias` is place `first` + i of `of`. Empty if there are two buffers
/// nevertheless (alltoall, reduce_scatter: the input is then a copy).
struct Alias {
  Buffer alias, of;
  Place first;
};
std::optional<Alias> in_place_alias(const Call& call, std::uint32_t segments);

/// What every rank's buffers hold before and must hold afterwards. Content b * segments + s is segment s of
/// block b: of rank b's block in allgather, gather, barrier and neighborhood allgathers, the block for rank
/// b in scatter, the segment b of the vector in bcast, the one from rank b / P to rank b % P in alltoall, and
/// the one from rank b / T to its target b % T in neighborhood alltoalls (T: Graph::most_targets()).
/// Of a reduction: see Reduction. In reduce_scatter, place b * segments + s of the vector is segment s of
/// rank b's block. Allreduce requires the same expression on all ranks, so that their results are bitwise
/// equal.
Contract contract(Call call, std::uint32_t segments);

}  // namespace convene::collective
