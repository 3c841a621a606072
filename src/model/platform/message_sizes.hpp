// SPDX-License-Identifier: BSD-3-Clause
// Message sizes: the bytes of the messages and copies of a plan. Schedules name places; models need bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::model {

class MessageSizes {
 public:
  /// Every place holds this many bytes.
  static MessageSizes uniform(double bytes_per_place);

  /// Place i of the output holds bytes[i] (allgatherv). An input of one place holds the rank's own block; an
  /// input with the output's number of places has the same sizes. bytes() throws for messages and copies of
  /// other places.
  static MessageSizes by_place(std::vector<double> bytes);

  bool is_uniform() const { return bytes_.empty(); }

  /// The bytes that a step sends, receives, copies or combines. Throws Error if a size is not known.
  double bytes(const Schedule& schedule, StepId step) const;
  /// The bytes of a range of places of a rank. Throws Error if a size is not known.
  double of(const Schedule& schedule, const Range& range) const;

 private:
  double each_ = 0;
  std::vector<double> bytes_;
};

}  // namespace convene::model
