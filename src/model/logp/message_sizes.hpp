// SPDX-License-Identifier: BSD-3-Clause
// How many bytes the messages and copies of a plan have. Schedules speak of places; a model needs bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::model {

class MessageSizes {
 public:
  /// Every place holds so many bytes.
  static MessageSizes uniform(double bytes_per_place);

  /// Place i of the output holds bytes[i] (allgatherv); an input of one place holds the rank's own block, one of as
  /// many places as the output the same as the output. Messages and copies of other places are refused by bytes().
  static MessageSizes by_place(std::vector<double> bytes);

  bool is_uniform() const { return bytes_.empty(); }

  /// Bytes that a step sends, receives, copies or combines. Throws Error where a size is not known.
  double bytes(const Schedule& schedule, StepId step) const;
  /// Bytes of a range of places of a rank's. Throws likewise.
  double of(const Schedule& schedule, const Range& range) const;

 private:
  double each_ = 0;
  std::vector<double> bytes_;
};

}  // namespace convene::model
