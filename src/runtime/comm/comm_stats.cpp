// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/comm_stats.hpp"

#include <bit>

#include "runtime/call/failure.hpp"

namespace convene::runtime {

/// If memory is lacking its counts are lost: it is freed inside the MPI, where nothing can be reported.
LiveProfile::~LiveProfile() {
  try {
    ProfileRegistry::instance().retire(*this);
  } catch (...) {
    code_of_exception();
  }
}

CallStats& CommStats::of(Decision& decision, std::uint64_t block_bytes, bool ends_later) {
  const auto size_class = static_cast<unsigned>(std::bit_width(block_bytes));
  if (!decision.record || decision.record->size_class != size_class ||
      decision.record->ends_later != ends_later)
    decision.record =
        &profile_->find_or_add(decision.signature.collective, decision.algorithm(),
                               reason_text(decision.reason, decision.reason_detail), size_class, ends_later);
  note_last(*decision.record, block_bytes);
  return *decision.record;
}

}  // namespace convene::runtime
