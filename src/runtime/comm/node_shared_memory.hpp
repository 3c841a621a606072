// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of a communicator's nodes: mapped when a schedule first needs it, and enlarged on demand.
// Blocking calls, non-blocking calls and each persistent operation have a memory of their own: see
// transport/shared_lanes.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/node_topology.hpp"
#include "transport/shared_lanes.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

class NodeSharedMemory {
 public:
  NodeSharedMemory(const CommInfo& info, const NodeTopology& nodes) : info_(info), nodes_(nodes) {}
  ~NodeSharedMemory();
  NodeSharedMemory(const NodeSharedMemory&) = delete;
  NodeSharedMemory& operator=(const NodeSharedMemory&) = delete;

  /// At least this many bytes shared by the ranks of this node; null if not available, then on all ranks.
  /// Collective if there is no such memory yet, or less: bindings to the previous memory become invalid.
  SharedMemory* at_least(std::uint64_t bytes);
  /// The existing memory; null before at_least().
  SharedMemory* current() const { return memory_.get(); }

  /// Bytes that a non-blocking call may share, at most.
  static std::uint64_t most_in_a_lane();
  /// The memory of non-blocking calls; null if less than this many bytes are mapped for a call. Then, if more
  /// can be, map_lanes() is to be called. Equal on all ranks.
  std::shared_ptr<SharedLanes> lanes(std::uint64_t bytes);
  bool wants_lanes() const { return wanted_in_lanes_ > 0; }
  /// Maps memory for non-blocking calls of as many bytes as were wanted, and of `bytes` at least. Operations
  /// that are pending keep the previous one. Collective, may wait.
  void map_lanes(std::uint64_t bytes = 0);
  /// Maps such memory before it is wanted, unless other communicators of a rank have much of it. Collective,
  /// may wait.
  void map_ahead();

  /// Memory of a persistent operation with this many bytes; null if not available, then on all ranks.
  /// Collective, may wait.
  std::shared_ptr<SharedMemory> for_operation(std::uint64_t bytes);

 private:
  bool has_room(std::uint64_t bytes) noexcept;
  template <class Shared, class... Runs>
  std::unique_ptr<Shared> map(std::uint64_t data, Runs... runs) noexcept;

  const CommInfo& info_;
  const NodeTopology& nodes_;
  std::unique_ptr<SharedMemory> memory_;
  std::shared_ptr<SharedLanes> lanes_;
  std::uint64_t wanted_in_lanes_ = 0;                    // equal on all ranks
  std::uint32_t mapped_ahead_ = 0;                       // bytes
  bool is_refused_ = false, are_lanes_refused_ = false;  // equal on all ranks
  bool ranks_must_sleep_ = false;                        // equal on the ranks of a node
  /// Bytes that persistent operations hold on this rank; null before the first one.
  std::shared_ptr<std::atomic<std::uint64_t>> held_by_operations_;
};

}  // namespace convene::runtime
