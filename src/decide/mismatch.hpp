// SPDX-License-Identifier: BSD-3-Clause
// Mismatch: the conditions of a rule or of an entry of wisdom that a call does not meet, also as text. Trace:
// what Selection::choose() passed over.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/layers.hpp"

namespace convene::decide {

struct CallContext;
struct MachineKey;
struct Rule;
struct WisdomEntry;

struct Mismatch {
  bool collective = false, procs = false, bytes = false, nodes = false, ranks_per_node = false;
  bool shares_cores = false;

  bool any() const { return collective || procs || bytes || nodes || ranks_per_node || shares_cores; }
};

/// A rule or an entry of wisdom that was considered for a call.
struct Considered {
  std::size_t index = 0;      ///< in the list of rules, or of entries
  std::string obstacle = "";  ///< why it does not decide, as a clause; empty: it decides
};

/// In the order of precedence, up to the one that decides.
struct Trace {
  std::vector<Considered> rules, wisdom;
};

/// The conditions that a call does not meet, as a clause: "needs 8 ranks, this call has 6".
std::string mismatch_text(const Rule& rule, const CallContext& context);
std::string mismatch_text(const WisdomEntry& entry, const CallContext& context);
/// The difference of the machines, as a clause: "measured with MPICH 5.0.2, this is Open MPI 4.1.4".
std::string machine_mismatch_text(const WisdomEntry& entry, const MachineKey& here);

}  // namespace convene::decide
