// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_lanes.hpp"

#include <utility>

namespace convene::transport {
namespace {

std::size_t lane_bytes(std::size_t ranks, std::size_t data) {
  return SharedMemory::bytes(ranks, data, SharedMemory::Runs::one);
}

}  // namespace

std::size_t SharedLanes::bytes(std::size_t ranks, std::size_t data) {
  return number * lane_bytes(ranks, data);
}

SharedLanes::SharedLanes(const std::shared_ptr<std::byte>& memory, const std::vector<Rank>& ranks, Rank own,
                         std::size_t data) {
  std::byte* at = memory.get();
  for (auto& lane : lanes_) {
    lane.reset(new Lane{{std::shared_ptr<std::byte>(memory, at), ranks, own, data, SharedMemory::Runs::one}});
    at += lane_bytes(ranks.size(), data);
  }
}

LaneTurn::LaneTurn(std::shared_ptr<SharedLanes> lanes)
    : lanes_(std::move(lanes)),
      turn_(lanes_->taken_ / SharedLanes::number),
      lane_(*lanes_->lanes_[lanes_->taken_++ % SharedLanes::number]) {}

}  // namespace convene::transport
