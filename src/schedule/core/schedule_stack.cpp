// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/schedule_stack.hpp"

#include <algorithm>
#include <stdexcept>

namespace convene::schedule {
namespace {

constexpr std::uint32_t any_places = 0xffffffffu;  // a number of places beyond the end of every range

}  // namespace

void ScheduleStack::clear() {
  inner_.clear();
  like_.clear();
  scratches_ = 0;
  common_ = Buffer::input;
  first_sharer_ = 0;
  shares_on_node_ = false;
  next_shared_ = 0;
  shared_from_.clear();
}

std::uint32_t ScheduleStack::first_round() const {
  std::uint32_t first = 0;
  for (const SubSchedule& inner : inner_) first += inner.embedding().first_round;
  return first;
}

Buffer ScheduleStack::add_outermost_scratch(std::span<const Place> like) {
  const Buffer added = scratch(scratches_++);
  if (index(added) >= max_buffers) throw std::logic_error("more scratch buffers than a range can name");
  accesses_.declare(added, static_cast<std::uint32_t>(like.size()));
  like_.insert(like_.end(), like.begin(), like.end());
  return added;
}

/// Adds scratch of an inner schedule to the buffer that they share: there may be more of them than a range
/// can name. Returns the buffer and the first place. The buffer grows as long as no other one is declared
/// after it.
std::pair<Buffer, Place> ScheduleStack::add_common_scratch(std::span<const Place> like) {
  if (common_ == Buffer::input || index(common_) + 1 != index(scratch(scratches_)))
    return {common_ = add_outermost_scratch(like), 0};
  const Place first = accesses_.places(common_);
  accesses_.grow(common_, static_cast<std::uint32_t>(like.size()));
  like_.insert(like_.end(), like.begin(), like.end());
  return {common_, first};
}

Buffer ScheduleStack::add_scratch(std::size_t level, std::span<const Place> like) {
  if (level == 0) return add_outermost_scratch(like);
  SubSchedule& around = inner_[level - 1];
  std::vector<Embedding::Places> where = around.sized_like(like);
  if (!around.embedding().scratch_in_blocks) {
    std::vector<Place> outer;
    for (const Embedding::Places& block : where)
      for (const Range& range : block)
        for_each_place(range, any_places, [&](Place place) { outer.push_back(place); });
    auto [buffer, next] =
        level == 1 ? add_common_scratch(outer) : std::pair{add_scratch(level - 1, outer), Place{0}};
    for (Embedding::Places& block : where) {
      std::uint32_t count = 0;
      for (const Range& range : block) count += range.count();
      block.assign(1, Range(buffer, next, count));
      next += count;
    }
  }
  return around.add_scratch(std::move(where));
}

void ScheduleStack::share_on_node(Rank first, std::uint32_t places) {
  shares_on_node_ = true;
  first_sharer_ = first;
  accesses_.declare(Buffer::shared, places);
}

void ScheduleStack::share_from(std::uint64_t first) {
  for (const SubSchedule& inner : inner_) first *= inner.places_of_a_block();
  next_shared_ = (inner_.empty() ? 0 : shared_from_.back()) + first;
}

void ScheduleStack::add_shared(std::uint32_t places) {
  if (!shares_on_node_) note_sharers();
  add_shared(inner_.size(), places);
}

/// Finds the lowest of the ranks that share the innermost schedule's places. Ranks are compared by their
/// numbers in the outermost schedule.
void ScheduleStack::note_sharers() {
  Rank first = 0;
  if (!inner_.empty()) {
    std::vector<Rank> ranks = inner_.back().embedding().ranks;
    for (std::size_t level = inner_.size() - 1; level > 0; --level)
      for (Rank& each : ranks) each = inner_[level - 1].embedding().ranks[each];
    first = *std::min_element(ranks.begin(), ranks.end());
  }
  if (accesses_.places(Buffer::shared) > 0 && first_sharer_ != first)
    throw std::logic_error("a rank shares places with different groups");
  first_sharer_ = first;
}

/// Returns the first place in the schedule at this level. An inner place is as many outer ones as an inner
/// block.
Place ScheduleStack::add_shared(std::size_t level, std::uint32_t places) {
  if (level > 0) {
    SubSchedule& around = inner_[level - 1];
    const std::uint32_t each = around.places_of_a_block();
    return around.add_shared(add_shared(level - 1, places * each), places, each);
  }
  if (shares_on_node_) {
    const auto taken = static_cast<Place>(next_shared_);
    next_shared_ += places;
    if (next_shared_ > accesses_.places(Buffer::shared))
      throw std::logic_error("a schedule takes more shared places than its node has");
    return taken;
  }
  const Place first = accesses_.places(Buffer::shared);
  if (first > 0)
    accesses_.grow(Buffer::shared, places);
  else
    accesses_.declare(Buffer::shared, places);
  return first;
}

void ScheduleStack::lower(StepKind kind, Rank& peer, Embedding::Places& from, Embedding::Places& to) const {
  const bool sends = kind == StepKind::send, receives = kind == StepKind::recv;
  for (std::size_t level = inner_.size(); level > 0; --level) {
    const SubSchedule& around = inner_[level - 1];
    const Rank* receiver = sends ? &peer : receives ? &around.embedding().rank : nullptr;
    from = around.lowered(from, receiver);
    to = around.lowered(to, receiver);
    if (sends || receives) peer = around.embedding().ranks[peer];
  }
}

Embedding::Places ScheduleStack::outermost(std::span<const Range> slots) const {
  Embedding::Places outer(slots.begin(), slots.end());
  for (std::size_t level = inner_.size(); level > 0; --level)
    outer = inner_[level - 1].lowered(outer, nullptr);
  std::erase_if(outer, [](const Range& range) { return range.count() == 0; });
  for (Range& range : outer) range = accesses_.normalised(range);
  return outer;
}

}  // namespace convene::schedule
