// SPDX-License-Identifier: BSD-3-Clause
// Text of mismatches: conditions that a call does not meet, and differences between machines.
#pragma once

#include <string>

#include "decide/rules.hpp"
#include "decide/wisdom.hpp"

namespace convene::decide {

/// The conditions that a call does not meet, as a clause: "needs 8 ranks, this call has 6".
std::string mismatch_text(const Rule& rule, const CallContext& context);
std::string mismatch_text(const WisdomEntry& entry, const CallContext& context);
/// The difference of the machines, as a clause: "measured with MPICH 5.0.2, this is Open MPI 4.1.4".
std::string machine_mismatch_text(const WisdomEntry& entry, const MachineKey& here);

}  // namespace convene::decide
