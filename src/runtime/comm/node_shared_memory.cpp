// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/node_shared_memory.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/sizes.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/node_memory.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {
namespace {

/// Says that calls are native, unless there is no memory for that: the other ranks continue.
void declare_refusal(Rank procs, std::uint64_t bytes) noexcept try {
  ProfileRegistry::instance().declare(
      "a communicator of " + std::to_string(procs) +
      " processes uses algorithms with messages: the ranks of a node could not share " + format_size(bytes) +
      " of memory");
} catch (const std::bad_alloc&) {
}

}  // namespace

SharedMemory* NodeSharedMemory::at_least(std::uint64_t bytes) {
  if (memory_ && memory_->capacity() >= bytes) return memory_.get();
  if (is_refused_) return nullptr;
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  constexpr std::uint64_t least = 32 * 1024;
  const std::uint64_t before = memory_ ? memory_->capacity() : 0;
  const ErrorsReturned scope(info_.comm);
  progressing_barrier(info_.comm);
  const std::uint64_t ample = std::min<std::uint64_t>(std::max(2 * before, least), settings().shared_bytes);
  for (const std::uint64_t wanted : {std::max(bytes, ample), bytes}) {
    auto made = share_memory(info_.comm, info_.rank, nodes_.node_of_rank(), wanted);
    if (!on_all_ranks(made != nullptr, info_.comm)) continue;
    memory_ = std::move(made);
    return memory_.get();
  }
  is_refused_ = true;  // the existing memory stays in use
  declare_refusal(info_.procs, bytes);
  return nullptr;
}

}  // namespace convene::runtime
