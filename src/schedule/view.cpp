// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/view.hpp"

#include <stdexcept>
#include <utility>

namespace convene {
namespace {

/// Puts a range behind others, as a part of the last one where it goes on with it.
void append(View::Places& places, const Range& next) {
  if (!places.empty() && places.back().buffer() == next.buffer()) {
    Range& last = places.back();
    const Place distance = next.first - last.first;
    const bool upwards = next.first > last.first;
    if (upwards && last.count() == 1 && next.count() == 1) {
      last = Range(last.buffer(), last.first, 2, distance);
      return;
    }
    const std::uint32_t stride = last.count() == 1 ? next.stride : last.stride;
    if (upwards && distance == last.count() * stride && (next.count() == 1 || next.stride == stride)) {
      last = Range(last.buffer(), last.first, last.count() + next.count(), stride);
      return;
    }
  }
  places.push_back(next);
}

}  // namespace

std::vector<View::Places> Inner::like(std::span<const Place> blocks) const {
  std::vector<View::Places> where;
  for (const Place block : blocks) where.push_back(view_.blocks[block]);
  return where;
}

Buffer Inner::add_scratch(std::vector<View::Places> where) {
  scratch_.push_back(std::move(where));
  return convene::scratch(static_cast<unsigned>(scratch_.size()) - 1);
}

View::Places Inner::lowered(std::span<const Range> given, const Rank* receiver) const {
  View::Places result;
  for (const Range& range : given) {
    const bool is_scratch = index(range.buffer()) >= index(Buffer::scratch);
    const auto& map = is_scratch ? scratch_[index(range.buffer()) - index(Buffer::scratch)]
                      : range.buffer() == Buffer::input ? view_.input
                                                        : view_.output;
    const auto n = static_cast<std::uint32_t>(map.size());
    if (n == 0) throw std::logic_error("an inner schedule names a buffer that its view does not have");
    const Range within(range.buffer(), range.first % n, range.count(), range.stride % n);
    for_each_place(within, n, [&](Place place) {
      for (const Range& outer : map[place])
        if (!receiver || !view_.has || !view_.has(*receiver, outer)) append(result, outer);
    });
  }
  return result;
}

}  // namespace convene
