// SPDX-License-Identifier: BSD-3-Clause
// Blocks of gather and scatter algorithms. The root has all blocks, by rank; every other rank has its own,
// and a tree algorithm keeps the blocks of the ranks below it in scratch.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

inline constexpr CollectiveSet gathers = {Collective::gather, Collective::gatherv};
inline constexpr CollectiveSet scatters = {Collective::scatter, Collective::scatterv};

inline bool is_gather(const Call& call) {
  return traits(call.collective).postcondition == Postcondition::gather;
}

/// This rank's block: gather's input, scatter's output.
inline Range own_block(const Call& call) {
  return Range(is_gather(call) ? Buffer::input : Buffer::output, 0);
}

/// At the root: `count` blocks from rank `first` on, modulo P. Gather's output, scatter's input.
inline Range all_blocks(const Call& call, Rank first, Rank count) {
  return Range(is_gather(call) ? Buffer::output : Buffer::input, first, count);
}

}  // namespace convene::collective
