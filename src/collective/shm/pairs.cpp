// SPDX-License-Identifier: BSD-3-Clause
#include "collective/shm/pairs.hpp"

#include <algorithm>

namespace convene::collective {
namespace {

std::uint32_t places_of_a_pair(std::uint64_t segments) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(turns, segments));
}

}  // namespace

void SharedPairs::put(std::uint32_t segment) const {
  const Rank own = call_.rank;
  const auto for_each_other = [&](auto&& visit) {
    for (Rank above = 1; above < call_.procs; ++above) visit(call_.up(above));
  };
  if (segment >= turns) {
    for_each_other([&](Rank peer) { builder_.send(peer, place(peer, own, segment)); });
    for_each_other([&](Rank peer) { builder_.recv(peer, place(own, peer, segment)); });
  }
  for_each_other([&](Rank peer) {
    builder_.copy(input(peer, segment), place(own, peer, segment));
    builder_.send(peer, place(own, peer, segment));
  });
}

Range SharedPairs::take(Rank from, std::uint32_t segment) const {
  builder_.recv(from, place(from, call_.rank, segment));
  return place(from, call_.rank, segment);
}

Range SharedPairs::place(Rank from, Rank to, std::uint32_t segment) const {
  const std::uint32_t each = places_of_a_pair(segments_);
  return Range(Buffer::shared, pair_number(from, to, call_.procs) * each + segment % each);
}

std::uint64_t SharedPairs::places(Rank procs, std::span<const Value> parameters) {
  return std::uint64_t{procs} * (procs - 1) * places_of_a_pair(static_cast<std::uint64_t>(parameters[0]));
}

}  // namespace convene::collective
