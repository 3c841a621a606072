// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/subschedule.hpp"

#include <stdexcept>
#include <utility>

namespace convene::schedule {
namespace {

/// Appends a range, merged with the last one if it continues it.
void append(Embedding::Places& places, const Range& next) {
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

std::vector<Embedding::Places> SubSchedule::sized_like(std::span<const Place> blocks) const {
  std::vector<Embedding::Places> where;
  for (const Place block : blocks) where.push_back(embedding_.blocks[block]);
  return where;
}

Buffer SubSchedule::add_scratch(std::vector<Embedding::Places> where) {
  scratch_.push_back(std::move(where));
  return convene::schedule::scratch(static_cast<unsigned>(scratch_.size()) - 1);
}

std::uint32_t SubSchedule::places_of_a_block() const {
  const auto number = [](const Embedding::Places& places) {
    std::uint32_t total = 0;
    for (const Range& range : places) total += range.count();
    return total;
  };
  if (embedding_.blocks.empty()) return 1;
  const std::uint32_t each = number(embedding_.blocks.front());
  for (const Embedding::Places& block : embedding_.blocks)
    if (number(block) != each)
      throw std::logic_error("shared places of an embedding whose blocks differ in size");
  return each;
}

Place SubSchedule::add_shared(Place first, std::uint32_t places, std::uint32_t each) {
  const auto inner = static_cast<Place>(shared_.size());
  for (std::uint32_t i = 0; i < places; ++i)
    shared_.push_back({Range(Buffer::shared, first + i * each, each)});
  return inner;
}

const std::vector<Embedding::Places>& SubSchedule::places_of(Buffer buffer) const {
  switch (buffer) {
    case Buffer::input:
      return embedding_.input;
    case Buffer::output:
      return embedding_.output;
    case Buffer::shared:
      return shared_;
    default:
      return scratch_[index(buffer) - index(Buffer::scratch)];
  }
}

Embedding::Places SubSchedule::lowered(std::span<const Range> given, const Rank* receiver) const {
  Embedding::Places result;
  for (const Range& range : given) {
    const auto& map = places_of(range.buffer());
    const bool may_be_present = receiver && embedding_.has && range.buffer() != Buffer::shared;
    const auto n = static_cast<std::uint32_t>(map.size());
    if (n == 0) throw std::logic_error("an inner schedule names a buffer that its embedding does not have");
    const Range within(range.buffer(), range.first % n, range.count(), range.stride % n);
    for_each_place(within, n, [&](Place place) {
      for (const Range& outer : map[place])
        if (!may_be_present || !embedding_.has(*receiver, outer)) append(result, outer);
    });
  }
  return result;
}

}  // namespace convene::schedule
