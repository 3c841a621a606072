// SPDX-License-Identifier: BSD-3-Clause
// Plan reader: reads the JSON of to_json() back, also if it was written or changed by hand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "schedule/core/schedule.hpp"
#include "schedule/print/print.hpp"

namespace convene::schedule {

/// Number of places of a rank's input and output.
struct CallBuffers {
  std::uint32_t input = 0, output = 0;
};

/// Reads in two steps: first the description, from which the caller derives the buffers of all ranks, then
/// the schedules. Optional in the file: "algorithm", "root", "parameters", "rounds", "messages", "blocks"; of
/// a message "match" (default: in the order of the steps); of a step "round" (0) and "after" (none); of a
/// rank with scratch buffers "places" and "sized_like". Errors begin with "FILE:LINE: ".
class PlanReader {
 public:
  /// Throws Error if the text is not JSON, or its description is incomplete or out of range.
  PlanReader(std::string_view text, std::string file);

  /// The description. `naming` and `peers` are the caller's to set.
  const PlanInfo& info() const { return info_; }

  /// All ranks' schedules. Every message has one send and one receive of equal size, and all peers, places
  /// and dependencies exist; the checker finds what else is wrong. Throws Error. `buffers`: by rank.
  Plan read(std::span<const CallBuffers> buffers, bool sends_empty_messages) const;

 private:
  base::JsonValue root_;
  std::string file_;
  PlanInfo info_;
};

}  // namespace convene::schedule
