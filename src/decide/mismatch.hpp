// SPDX-License-Identifier: BSD-3-Clause
// Mismatch: the conditions of a rule or of an entry of wisdom that a call does not meet. Trace: what
// Selection::choose() passed over.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/layers.hpp"

namespace convene::decide {

struct Mismatch {
  bool collective = false, procs = false, bytes = false, nodes = false, ranks_per_node = false;
  bool shares_cores = false;

  bool any() const { return collective || procs || bytes || nodes || ranks_per_node || shares_cores; }
};

/// A rule or an entry of wisdom that was considered for a call.
struct Considered {
  std::size_t index = 0;      ///< in the list of rules, or of entries
  bool matches = false;       ///< the call meets its conditions
  std::string obstacle = "";  ///< why one that matches does not decide, as a clause; empty: it decides
};

/// In the order of precedence, up to the one that decides.
struct Trace {
  std::vector<Considered> rules, wisdom;
};

}  // namespace convene::decide
