// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the reduce-scatter algorithms.
#pragma once

#include "collective/parts/partial.hpp"

namespace convene::collective {

inline constexpr CollectiveSet reduce_scatters = {Collective::reduce_scatter_block,
                                                  Collective::reduce_scatter};

/// The own block of the result.
constexpr Range own_result() { return Range(Buffer::output, 0); }

/// Block b of the own contribution.
constexpr Range contribution(Rank block) { return Range(Buffer::input, block); }

}  // namespace convene::collective
