// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/step_recorder.hpp"

namespace convene::schedule {

void StepRecorder::begin(Rank procs, Rank rank) {
  forget_traffic();
  procs_ = procs;
  rank_ = rank;
  sent_.resize(procs);
  received_.resize(procs);
  round_ = rounds_ = 0;
  pace(false);
  accesses_.clear();
  steps_.clear();
  ranges_.clear();
  predecessors_.clear();
  last_large_.clear();
  last_join_ = none;
  next_of_kind_.clear();
}

void StepRecorder::forget_traffic() {
  for (const Rank peer : peers_) sent_[peer] = received_[peer] = {};
  peers_.clear();
}

void StepRecorder::pace(bool on) {
  is_paced_ = on;
  gate_ = none;
  in_round_.clear();
}

/// Makes the gate of the next round. The messages of this one depend on the gate before.
void StepRecorder::close_round(std::uint32_t next) {
  if (next < round_) throw std::logic_error("a paced schedule returns to an earlier round");
  if (in_round_.empty()) return;
  gate_ = in_round_.front();
  if (in_round_.size() > 1) {
    accesses_.start();
    for (const StepId each : in_round_) accesses_.depend(each);
    gate_ = add_join(static_cast<std::uint32_t>(ranges_.size()));
  }
  in_round_.clear();
}

/// Replaces a large set of predecessors that the step before had, too, by one join.
void StepRecorder::share_large_set(std::uint32_t first_range) {
  std::vector<StepId>& depends = accesses_.depends();
  if (depends != last_large_) {
    last_large_ = depends;
    last_join_ = none;
    return;
  }
  if (last_join_ == none) last_join_ = add_join(first_range);
  depends.assign(1, last_join_);
}

StepId StepRecorder::add_join(std::uint32_t first_range) {
  add_step(first_range);
  return static_cast<StepId>(steps_.size() - 1);
}

void StepRecorder::add(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
                       Transfer transfer) {
  if (is_local(kind) && from.size() > most_from_ranges) return add_in_parts(kind, from, to);
  add_one(kind, is_local(kind) ? rank_ : peer, from, to, transfer);
}

/// Copies and combines go place by place, so several steps have the effect of one (unless it moves places
/// within one set).
void StepRecorder::add_in_parts(StepKind kind, std::span<const Range> from, std::span<const Range> to) {
  std::size_t next = 0;
  std::uint32_t taken = 0;  // of to[next]
  while (!from.empty()) {
    const auto part = from.first(std::min(from.size(), most_from_ranges));
    std::uint32_t wanted = 0;
    for (const Range& range : part) wanted += range.count();
    std::vector<Range> target;
    while (wanted > 0 && next < to.size()) {
      const Range& whole = to[next];
      const std::uint32_t count = std::min(wanted, whole.count() - taken);
      const std::uint32_t n = std::max(accesses_.places(whole.buffer()), 1u);
      const auto first = static_cast<Place>((whole.first + std::uint64_t{taken} * whole.stride) % n);
      target.emplace_back(whole.buffer(), first, count, whole.stride);
      wanted -= count;
      taken += count;
      if (taken == whole.count()) {
        ++next;
        taken = 0;
      }
    }
    add_one(kind, rank_, part, target, Transfer::automatic);
    from = from.subspan(part.size());
  }
}

/// Appends the ranges that are not empty, normalised; returns their number.
std::size_t StepRecorder::take_ranges(std::span<const Range> given, std::uint32_t& places,
                                      std::uint8_t& touches) {
  std::size_t taken = 0;
  for (const Range& range : given) {
    if (range.count() == 0) continue;
    ranges_.push_back(accesses_.normalised(range));
    places += range.count();
    touches |= touch_bit(ranges_.back());
    ++taken;
  }
  return taken;
}

/// True if the source of the current step is its target.
bool StepRecorder::is_onto_itself(std::uint32_t first_range, std::size_t from_ranges) const {
  const auto begin = ranges_.begin() + first_range;
  const auto middle = begin + static_cast<std::ptrdiff_t>(from_ranges);
  return std::equal(begin, middle, middle, ranges_.end());
}

void StepRecorder::add_one(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
                           Transfer transfer) {
  const auto first_range = static_cast<std::uint32_t>(ranges_.size());
  std::uint32_t from_places = 0, to_places = 0;
  std::uint8_t touches = 0;
  const std::size_t from_ranges = take_ranges(from, from_places, touches);
  take_ranges(to, to_places, touches);
  if (from_places + to_places == 0) return;
  if (is_local(kind)) {
    if (from_places != to_places)
      throw std::logic_error("the source and the target of a copy or combine differ in size");
    if (is_onto_itself(first_range, from_ranges)) {
      if (kind == StepKind::combine) throw std::logic_error("places are combined with themselves");
      ranges_.resize(first_range);
      return;
    }
  } else {
    require_other_rank(peer);
    if ((touches & shared_bit) != 0 && touches != shared_bit)
      throw std::logic_error("a message of shared places and of others");
  }

  const std::span<const Range> mine(ranges_.data() + first_range, ranges_.size() - first_range);
  // A signal passes its places on: neither end may touch them meanwhile, as if both wrote them.
  const bool is_shm_signal = !is_local(kind) && touches == shared_bit;
  const std::size_t only_read = is_shm_signal ? 0 : from_ranges;
  accesses_.start();
  for (const Range& range : mine.first(only_read)) accesses_.read(range);
  for (const Range& range : mine.subspan(only_read)) accesses_.write(range);
  const std::uint32_t match = is_local(kind) ? 0 : number_message(kind, peer);
  if (is_shm_signal && match + 1 >= 1u << signal_bits)
    throw std::logic_error("more messages between two ranks than a signal can count");
  if (is_shm_signal && kind == StepKind::send) accesses_.depend(sent_[peer].last_signal);
  if (accesses_.depends().size() >= join_from) share_large_set(first_range);

  const StepId id = commit(kind, peer, transfer, match, first_range, from_ranges, touches);
  if (is_shm_signal && kind == StepKind::send) sent_[peer].last_signal = id;
  for (const Range& range : mine.first(only_read)) accesses_.note_read(range, id);
  for (const Range& range : mine.subspan(only_read)) accesses_.note_write(range, id);
}

void StepRecorder::join(std::span<const Range> written, bool always) {
  accesses_.start();
  for (const Range& range : written) accesses_.read(range);
  const std::size_t writers = accesses_.depends().size();
  if (writers == 0 || (writers == 1 && !always)) return accesses_.forget();
  const StepId join = add_join(static_cast<std::uint32_t>(ranges_.size()));
  for (const Range& range : written) accesses_.note_writer(range, join);
}

void StepRecorder::write_graph(Schedule& schedule) const {
  const std::size_t n = steps_.size();
  schedule.steps_.reserve(n + 1);
  schedule.steps_.assign(steps_.begin(), steps_.end());
  Step& end = schedule.steps_.emplace_back();
  end.ranges = static_cast<std::uint32_t>(ranges_.size());
  schedule.ranges_.assign(ranges_.begin(), ranges_.end());

  // A counting sort of the edges by their first step: count, add up, place.
  std::vector<Step>& steps = schedule.steps_;
  for (const StepId on : predecessors_) ++steps[on].edges;
  std::uint32_t total = 0;
  for (Step& step : steps) {
    const std::uint32_t count = step.edges;
    step.edges = total;
    total += count;
  }
  schedule.edges_.resize(total);
  const StepId* on = predecessors_.data();
  for (StepId id = 0; id < n; ++id)
    for (std::uint32_t k = 0; k < steps_[id].predecessors; ++k) schedule.edges_[steps[*on++].edges++] = id;
  for (std::size_t id = n; id > 0; --id) steps[id].edges = steps[id - 1].edges;
  steps[0].edges = 0;
}

}  // namespace convene::schedule
