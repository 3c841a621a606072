// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/node_shared_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/sizes.hpp"
#include "decide/rules.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/node_memory.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {
namespace {

constexpr std::uint64_t least = 32 * 1024;       // bytes that are mapped for a run
std::atomic<std::uint64_t> all_mapped_ahead{0};  // bytes of this process's communicators

/// Once per process, with CONVENE_LOG=info.
void log_sleep(const CommInfo& info) {
  static std::atomic<bool> is_logged{false};
  if (settings().log != LogLevel::info || info.rank != 0 || is_logged.exchange(true)) return;
  std::fputs("convene: ranks share cores: they sleep while they wait in shared memory\n", stderr);
}

/// Says that calls are native, unless there is no memory for that: the other ranks continue.
void declare_refusal(Rank procs, std::uint64_t bytes) noexcept try {
  ProfileRegistry::instance().declare(
      "a communicator of " + std::to_string(procs) +
      " processes uses algorithms with messages: the ranks of a node could not share " + format_size(bytes) +
      " of memory");
} catch (const std::bad_alloc&) {
}

}  // namespace

/// Null if there is no memory on this rank: the others take part until the end.
template <class Shared, class... Runs>
std::unique_ptr<Shared> NodeSharedMemory::map(std::uint64_t data, Runs... runs) noexcept {
  const std::vector<Rank>& node_of_rank = nodes_.node_of_rank();
  const auto ranks = static_cast<std::size_t>(std::ranges::count(node_of_rank, node_of_rank[info_.rank]));
  const NodeBytes bytes{Shared::bytes(ranks, data, runs...),
                        Shared::bytes(ranks, data, Shared::of_sleepers(runs)...)};
  NodeMemory memory = map_on_node(info_.comm, info_.rank, node_of_rank, bytes);
  ranks_must_sleep_ = memory.must_sleep;
  if (!memory.bytes) return nullptr;
  try {
    return std::make_unique<Shared>(std::move(memory.bytes), ranks_beside(info_.rank, node_of_rank),
                                    info_.rank, data,
                                    (ranks_must_sleep_ ? Shared::of_sleepers(runs) : runs)...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

SharedMemory* NodeSharedMemory::at_least(std::uint64_t bytes) {
  if (memory_ && memory_->capacity() >= bytes) return memory_.get();
  if (is_refused_) return nullptr;
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  const std::uint64_t before = memory_ ? memory_->capacity() : 0;
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  const std::uint64_t ample = std::min<std::uint64_t>(std::max(2 * before, least), settings().shared_bytes);
  for (const std::uint64_t wanted : {std::max(bytes, ample), bytes}) {
    auto made = map<SharedMemory>(wanted, SharedMemory::Runs::many);
    if (!on_all_ranks(made != nullptr, info_.comm)) continue;
    memory_ = std::move(made);
    if (ranks_must_sleep_) {
      memory_->use_bells();
      log_sleep(info_);
    }
    return memory_.get();
  }
  is_refused_ = true;  // the existing memory stays in use
  declare_refusal(info_.procs, bytes);
  return nullptr;
}

std::uint64_t NodeSharedMemory::most_in_a_lane() { return settings().shared_bytes / non_blocking_parts; }
static_assert(SharedLanes::number == non_blocking_parts);

std::shared_ptr<SharedLanes> NodeSharedMemory::lanes(std::uint64_t bytes) {
  if (lanes_ && lanes_->capacity() >= bytes) return lanes_;
  if (!are_lanes_refused_ && bytes <= most_in_a_lane())
    wanted_in_lanes_ = std::max({wanted_in_lanes_, bytes, std::uint64_t{1}});
  return nullptr;
}

void NodeSharedMemory::map_lanes(std::uint64_t bytes) {
  const std::uint64_t needed = std::max(std::exchange(wanted_in_lanes_, 0), bytes);
  if (are_lanes_refused_ || (lanes_ && lanes_->capacity() >= needed)) return;
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  const std::uint64_t before = lanes_ ? lanes_->capacity() : 0;
  const std::uint64_t ample = std::min(std::max(2 * before, least), most_in_a_lane());
  for (const std::uint64_t wanted : {std::max(needed, ample), needed}) {
    auto made = map<SharedLanes>(wanted);
    if (!on_all_ranks(made != nullptr, info_.comm)) continue;
    lanes_ = std::move(made);
    return;
  }
  are_lanes_refused_ = true;  // the existing ones stay in use
  declare_refusal(info_.procs, needed);
}

void NodeSharedMemory::map_ahead() {
  constexpr std::uint64_t of_a_run = 512 * 1024, of_all = 2 * SharedLanes::number * of_a_run;
  const bool may_map = all_mapped_ahead + of_all <= settings().shared_bytes;
  {
    const ErrorsReturned scope(info_.comm);
    progressing_barrier(info_.comm);
    if (!on_all_ranks(may_map, info_.comm)) return;
  }
  map_lanes(of_a_run);
  if (!lanes_) return;
  mapped_ahead_ = of_all;
  all_mapped_ahead += of_all;
}

NodeSharedMemory::~NodeSharedMemory() { all_mapped_ahead -= mapped_ahead_; }

/// Whether the operations of this rank leave as much. (Ranks may have freed operations at different times.)
bool NodeSharedMemory::has_room(std::uint64_t bytes) noexcept try {
  if (!held_by_operations_) held_by_operations_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  return *held_by_operations_ + bytes <= settings().shared_bytes;
} catch (const std::bad_alloc&) {
  return false;  // the others wait for the answer
}

std::shared_ptr<SharedMemory> NodeSharedMemory::for_operation(std::uint64_t bytes) {
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  if (on_all_ranks(has_room(bytes), info_.comm)) {
    auto made = map<SharedMemory>(bytes, SharedMemory::Runs::one);
    if (on_all_ranks(made != nullptr, info_.comm)) {
      *held_by_operations_ += bytes;
      return {made.release(), [held = held_by_operations_, bytes](const SharedMemory* memory) {
                *held -= bytes;
                delete memory;
              }};
    }
  }
  declare_refusal(info_.procs, bytes);
  return nullptr;
}

}  // namespace convene::runtime
