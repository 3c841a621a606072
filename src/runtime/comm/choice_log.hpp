// SPDX-License-Identifier: BSD-3-Clause
// Choices on standard error: which algorithm runs a call signature, and what decided it (CONVENE_LOG=info).
#pragma once

#include <string_view>

#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/decision.hpp"

namespace convene::runtime {

/// Prints a choice once per process, on rank 0 of the communicator and with CONVENE_LOG=info only. Not for
/// the fast path. Trials are not printed. Local.
void log_choice(const Decision& decision, const CommInfo& info);

/// The same for a verdict of learning: `reason` is its text.
void log_choice(const Decision& decision, std::string_view algorithm, std::string_view reason,
                const CommInfo& info);

}  // namespace convene::runtime
