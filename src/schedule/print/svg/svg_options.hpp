// SPDX-License-Identifier: BSD-3-Clause
// Options of pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/slots.hpp"

namespace convene::schedule {

struct SvgOptions {
  bool rings = false;  ///< colour the arrows by ring
  std::vector<std::uint32_t> node_of_rank =
      {};                                  ///< draw nodes and the messages between them; empty: no mapping
  std::vector<std::uint32_t> rounds = {};  ///< the rounds to draw; empty: all
  double width = 0;  ///< the most of a row of rounds and of a line of text; 0: as wide as looks well
};

/// The most processes of a picture. With more, columns are too narrow to be read.
inline constexpr Rank most_drawn_procs = 64;

}  // namespace convene::schedule
