// SPDX-License-Identifier: BSD-3-Clause
// For tests: an allgather ring and its contract, so that tests of this layer need no algorithms.
#pragma once

#include <numeric>

#include "schedule/check/checker.hpp"
#include "schedule/core/builder.hpp"

namespace convene::schedule {

inline Schedule build_ring(Rank procs, Rank rank, bool in_place = false) {
  Builder builder;
  builder.begin(procs, rank);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, procs);
  if (in_place) builder.alias(Buffer::input, Buffer::output, rank);
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, rank));
  for (Rank round = 0; round + 1 < procs; ++round) {
    builder.round(round);
    builder.send((rank + 1) % procs, Range(Buffer::output, rank + procs - round));
    builder.recv((rank + procs - 1) % procs, Range(Buffer::output, rank + procs - round - 1));
  }
  return builder.finish();
}

inline Plan ring_plan(Rank procs, bool in_place = false) {
  Plan plan;
  for (Rank rank = 0; rank < procs; ++rank) plan.push_back(build_ring(procs, rank, in_place));
  return plan;
}

inline Contract ring_contract(Rank procs, bool in_place = false) {
  Contract contract(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    const auto own = static_cast<Content>(rank);
    contract[rank].input.assign(1, in_place ? nothing : own);
    contract[rank].output.assign(procs, nothing);
    if (in_place) contract[rank].output[rank] = own;
    contract[rank].wanted.resize(procs);
    std::iota(contract[rank].wanted.begin(), contract[rank].wanted.end(), 0);
  }
  return contract;
}

}  // namespace convene::schedule
