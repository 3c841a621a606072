// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/core_census.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <numeric>

#include "mpi/stack.hpp"
#include "runtime/settings/settings.hpp"
#include "topology/launched_ranks.hpp"
#include "topology/sysfs_domains.hpp"

namespace convene::runtime {
namespace {

std::atomic<bool> is_known_to_share{false};

/// Of this process, found once; empty if unknown. Does not throw: the other ranks wait.
const CpuMask& own_cpus() noexcept {
  static const CpuMask once = [] {
    try {
      return mask_of(affinity());
    } catch (const std::exception&) {
      return CpuMask{};
    }
  }();
  return once;
}

/// All CPUs of this node.
CpuMask all_cpus() {
  std::vector<std::uint32_t> cpus(static_cast<std::size_t>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF))));
  std::iota(cpus.begin(), cpus.end(), 0);
  return mask_of(cpus);
}

}  // namespace

CoreCensus::CoreCensus(MPI_Comm node) noexcept : node_(node) {
  int rank = 0, size = 0;
  if (node == MPI_COMM_NULL || pmpi.Comm_rank(node, &rank) != MPI_SUCCESS ||
      pmpi.Comm_size(node, &size) != MPI_SUCCESS)
    return;
  try {
    if (rank == 0) entries_.resize(static_cast<std::size_t>(size));
    is_ready_ = true;
  } catch (const std::bad_alloc&) {
  }
}

bool CoreCensus::take() noexcept {
  // Under a simulator ranks are threads of one core, and only its calls let others run.
  if constexpr (stack::is_simulated) return false;
  const Entry mine{own_cpus(), launched_ranks_per_node(), is_known_to_share ? 1u : 0u};
  constexpr int bytes = sizeof(Entry);
  if (pmpi.Gather(&mine, bytes, MPI_BYTE, entries_.data(), bytes, MPI_BYTE, 0, node_) != MPI_SUCCESS)
    return false;
  try {
    return decide();
  } catch (const std::exception&) {
    return false;
  }
}

void CoreCensus::note(bool must_sleep) {
  if (must_sleep && settings().shared_wait == SharedWait::automatic) is_known_to_share = true;
}

bool CoreCensus::decide() const {
  if (settings().shared_wait != SharedWait::automatic) return settings().shared_wait == SharedWait::sleep;
  std::vector<CpuMask> masks;
  std::size_t launched = 0;
  for (const Entry& each : entries_) {
    if (each.shares) return true;
    masks.push_back(each.cpus);
    launched = std::max<std::size_t>(launched, each.launched);
  }
  if (launched > masks.size()) masks.resize(launched, all_cpus());
  return must_share_cores(masks);
}

}  // namespace convene::runtime
