// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/comm_info.hpp"

#include <numeric>

namespace convene::runtime {

std::vector<int> ranks_in_world(const CommInfo& info) {
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  pmpi.Comm_group(info.comm, &here);
  pmpi.Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(info.procs), in_world(info.procs);
  std::iota(ranks.begin(), ranks.end(), 0);
  pmpi.Group_translate_ranks(here, static_cast<int>(info.procs), ranks.data(), world, in_world.data());
  pmpi.Group_free(&here);
  pmpi.Group_free(&world);
  return in_world;
}

}  // namespace convene::runtime
