// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/node_topology.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {

void NodeTopology::find() {
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  MPI_Comm node = MPI_COMM_NULL;
  const bool made = pmpi.Comm_split_type(info_.comm, MPI_COMM_TYPE_SHARED, static_cast<int>(info_.rank),
                                         MPI_INFO_NULL, &node) == MPI_SUCCESS &&
                    node != MPI_COMM_NULL;
  if (!on_all_ranks(made, info_.comm)) {
    is_refused_ = true;  // otherwise a rank that decides again would query the others again, which do not
                         // take part
    if (made) pmpi.Comm_free(&node);
    return ProfileRegistry::instance().declare(
        "rules with nodes do not match a communicator of " + std::to_string(info_.procs) +
        " processes: the MPI could not create a communicator to count the nodes");
  }
  int first = static_cast<int>(info_.rank);  // the first rank of the node, which represents it
  pmpi.Bcast(&first, 1, MPI_INT, 0, node);
  pmpi.Comm_free(&node);
  std::vector<int> firsts(info_.procs);
  pmpi.Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, info_.comm);
  set({firsts.begin(), firsts.end()});
}

void NodeTopology::read_declared() {
  int world_procs = 0;
  pmpi.Comm_size(MPI_COMM_WORLD, &world_procs);
  std::vector<Rank> nodes;
  try {
    nodes = settings().declared_nodes(static_cast<Rank>(world_procs));
  } catch (const Error& error) {
    refuse(error.what(), info_.rank == 0);
  }
  if (!read_from_world(nodes))
    ProfileRegistry::instance().declare(
        "CONVENE_MAPPING and CONVENE_MACHINE define the nodes of MPI_COMM_WORLD; the nodes of a "
        "communicator with other processes are unknown");
}

bool NodeTopology::read_from_world(const std::vector<Rank>& node_of_world_rank) {
  std::vector<Rank> node_of_rank;
  for (const int rank : ranks_in_world(info_)) {
    if (rank == MPI_UNDEFINED) return false;
    node_of_rank.push_back(node_of_world_rank.at(static_cast<std::size_t>(rank)));
  }
  set(std::move(node_of_rank));
  return true;
}

void NodeTopology::set(std::vector<Rank> node_of_rank) {
  node_of_rank_ = std::move(node_of_rank);
  std::map<Rank, Rank> ranks_of;
  for (const Rank node : node_of_rank_) ++ranks_of[node];
  nodes_ = static_cast<Rank>(ranks_of.size());
  for (const auto& [node, ranks] : ranks_of) ranks_per_node_ = std::max(ranks_per_node_, ranks);
}

}  // namespace convene::runtime
