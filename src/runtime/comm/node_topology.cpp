// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/node_topology.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"
#include "topology/sysfs_domains.hpp"

namespace convene::runtime {
namespace {

/// What a rank tells the others.
struct RankPlace {
  std::uint32_t node;
  Domains domains;
};
static_assert(sizeof(RankPlace) == sizeof(std::uint32_t) * (1 + domain_levels.size()));

/// This process's domains, read once. Does not throw: the other ranks wait.
Domains own_domains() noexcept {
  static const Domains once = [] {
    try {
      FoundDomains found = find_domains(settings().sysfs, affinity());
      if (!found.complaint.empty()) ProfileRegistry::instance().declare(found.complaint);
      return found.domains;
    } catch (const std::exception&) {
      Domains none;
      none.fill(no_domain(NoDomain::absent));
      return none;
    }
  }();
  return once;
}

}  // namespace

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
  const RankPlace mine{static_cast<std::uint32_t>(first), own_domains()};
  std::vector<RankPlace> all(info_.procs);
  constexpr int bytes = sizeof(RankPlace);
  pmpi.Allgather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, info_.comm);
  RankPlaces places;
  for (const RankPlace& each : all) {
    places.nodes.push_back(each.node);
    places.domains.push_back(each.domains);
  }
  AgreedDomains agreed = agree_on_domains(places.nodes, places.domains);
  places.domains = std::move(agreed.of_rank);
  places.levels = std::move(agreed.remark);
  set(std::move(places));
}

void NodeTopology::read_declared() {
  int world_procs = 0;
  pmpi.Comm_size(MPI_COMM_WORLD, &world_procs);
  RankPlaces world;
  try {
    const Mapping declared = settings().declared_places(static_cast<Rank>(world_procs));
    world.nodes = declared.node_of_rank();
    world.domains = declared.domains_of_rank();
    world.levels = agree_on_domains(world.nodes, world.domains).remark;
  } catch (const Error& error) {
    refuse(error.what(), info_.rank == 0);
  }
  if (!read_from_world(world))
    ProfileRegistry::instance().declare(
        "CONVENE_MAPPING and CONVENE_MACHINE define the nodes of MPI_COMM_WORLD; the nodes of a "
        "communicator with other processes are unknown");
}

bool NodeTopology::read_from_world(const RankPlaces& world) {
  RankPlaces places{.nodes = {}, .domains = {}, .levels = world.levels};
  for (const int rank : ranks_in_world(info_)) {
    if (rank == MPI_UNDEFINED) return false;
    places.nodes.push_back(world.nodes.at(static_cast<std::size_t>(rank)));
    if (!world.domains.empty()) places.domains.push_back(world.domains[static_cast<std::size_t>(rank)]);
  }
  set(std::move(places));
  return true;
}

void NodeTopology::set(RankPlaces places) {
  places_ = std::move(places);
  std::map<Rank, Rank> ranks_of;
  for (const Rank node : places_.nodes) ++ranks_of[node];
  nodes_ = static_cast<Rank>(ranks_of.size());
  for (const auto& [node, ranks] : ranks_of) ranks_per_node_ = std::max(ranks_per_node_, ranks);
}

}  // namespace convene::runtime
