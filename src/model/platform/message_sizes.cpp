// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/message_sizes.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"

namespace convene::model {

MessageSizes MessageSizes::uniform(double bytes_per_place) {
  MessageSizes sizes;
  sizes.each_ = bytes_per_place;
  return sizes;
}

MessageSizes MessageSizes::by_place(std::vector<double> bytes) {
  MessageSizes sizes;
  sizes.bytes_ = std::move(bytes);
  return sizes;
}

double MessageSizes::of(const Schedule& schedule, const Range& range) const {
  if (is_uniform()) return each_ * range.count();
  const std::uint32_t places = schedule.places(range.buffer());
  if (range.buffer() == Buffer::input && places == 1 && schedule.rank() < bytes_.size())
    return bytes_[schedule.rank()];
  if (index(range.buffer()) > index(Buffer::output) || places != bytes_.size())
    throw Error(
        fmt::format("sizes are known for {} places of the output, but rank {} has a message of other places; "
                    "use blocks of equal size",
                    bytes_.size(), schedule.rank()));
  double sum = 0;
  for_each_place(range, places, [&](Place place) { sum += bytes_[place]; });
  return sum;
}

double MessageSizes::bytes(const Schedule& schedule, StepId step) const {
  if (schedule[step].is_shm_signal()) return 0;
  const bool is_message = schedule[step].is_message();
  double sum = 0;
  for (const Range& range : is_message ? schedule.ranges(step) : schedule.to(step))
    sum += of(schedule, range);
  return sum;
}

}  // namespace convene::model
