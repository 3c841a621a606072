// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of a communicator's nodes: allocated when a schedule first needs it, and enlarged on demand.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/node_topology.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

class NodeSharedMemory {
 public:
  NodeSharedMemory(const CommInfo& info, const NodeTopology& nodes) : info_(info), nodes_(nodes) {}

  /// At least this many bytes shared by the ranks of this node; null if not available, then on all ranks.
  /// Collective if there is no such memory yet, or less: bindings to the previous memory become invalid.
  SharedMemory* at_least(std::uint64_t bytes);
  /// The existing memory; null before at_least().
  SharedMemory* current() const { return memory_.get(); }

 private:
  const CommInfo& info_;
  const NodeTopology& nodes_;
  std::unique_ptr<SharedMemory> memory_;
  bool is_refused_ = false;  // equal on all ranks
};

}  // namespace convene::runtime
