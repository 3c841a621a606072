// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include "schedule/core/schedule_stack.hpp"
#include "schedule/core/step_recorder.hpp"

namespace convene::schedule {

struct Builder::Work {
  Rank procs = 0, rank = 0;
  bool sends_empty_messages = false;
  StepRecorder recorder;                     // of the outermost schedule
  ScheduleStack stack{recorder.accesses()};  // the inner schedules

  /// A step of the innermost schedule.
  void step(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
            Transfer transfer) {
    if (stack.is_flat()) return recorder.add(kind, peer, from, to, transfer);
    Embedding::Places outer_from(from.begin(), from.end()), outer_to(to.begin(), to.end());
    stack.lower(kind, peer, outer_from, outer_to);
    recorder.add(kind, peer, outer_from, outer_to, transfer);
  }
};

Builder::Builder() : work_(std::make_unique<Work>()) {}
Builder::~Builder() = default;

void Builder::begin(Rank procs, Rank rank) {
  work_->procs = procs;
  work_->rank = rank;
  work_->sends_empty_messages = false;
  work_->recorder.begin(procs, rank);
  work_->stack.clear();
}

void Builder::buffer(Buffer buffer, std::uint32_t places) {
  work_->recorder.accesses().declare(buffer, places);
}

Buffer Builder::scratch(std::span<const Place> like) { return work_->stack.add_scratch(like); }

void Builder::share(std::uint32_t places) { work_->stack.add_shared(places); }

void Builder::share_on_node(Rank first, std::uint32_t places) { work_->stack.share_on_node(first, places); }

bool Builder::shares_on_node() const { return work_->stack.shares_on_node(); }

void Builder::share_from(std::uint64_t first) { work_->stack.share_from(first); }

void Builder::alias(Buffer alias, Buffer of, Place first) {
  work_->recorder.accesses().alias(alias, of, first);
}

void Builder::sends_empty_messages() { work_->sends_empty_messages = true; }

void Builder::round(std::uint32_t label) { work_->recorder.set_round(work_->stack.first_round() + label); }

std::uint32_t Builder::rounds() const {
  const std::uint32_t first = work_->stack.first_round();
  return std::max(work_->recorder.rounds(), first) - first;
}

void Builder::pace_rounds() { work_->recorder.pace(true); }

void Builder::enter(Embedding embedding) {
  if (work_->recorder.is_paced()) throw std::logic_error("a paced schedule embeds another one");
  work_->stack.enter(std::move(embedding));
  round(0);
}

void Builder::leave() {
  work_->recorder.pace(false);
  work_->stack.leave();
}

bool Builder::are_same(std::span<const Range> one, std::span<const Range> other) const {
  return work_->stack.outermost(one) == work_->stack.outermost(other);
}

void Builder::send(Rank peer, Range what, Transfer transfer) {
  if (work_->stack.is_flat())
    work_->recorder.add_message(StepKind::send, peer, what, transfer);
  else
    work_->step(StepKind::send, peer, std::span(&what, 1), {}, transfer);
}

void Builder::recv(Rank peer, Range where, Transfer transfer) {
  if (work_->stack.is_flat())
    work_->recorder.add_message(StepKind::recv, peer, where, transfer);
  else
    work_->step(StepKind::recv, peer, {}, std::span(&where, 1), transfer);
}

void Builder::send(Rank peer, std::span<const Range> what, Transfer transfer) {
  work_->step(StepKind::send, peer, what, {}, transfer);
}

void Builder::recv(Rank peer, std::span<const Range> where, Transfer transfer) {
  work_->step(StepKind::recv, peer, {}, where, transfer);
}

void Builder::copy(std::span<const Range> from, std::span<const Range> to) {
  work_->step(StepKind::copy, 0, from, to, Transfer::automatic);
}

void Builder::copy(Range from, Range to) {
  work_->step(StepKind::copy, 0, std::span(&from, 1), std::span(&to, 1), Transfer::automatic);
}

void Builder::combine(std::span<const Range> left, std::span<const Range> right) {
  work_->step(StepKind::combine, 0, left, right, Transfer::automatic);
}

void Builder::combine(Range left, Range right) {
  work_->step(StepKind::combine, 0, std::span(&left, 1), std::span(&right, 1), Transfer::automatic);
}

void Builder::join(std::span<const Range> written) {
  // Several ranges may become one in the outermost schedule; the step is a join even then.
  work_->recorder.join(work_->stack.outermost(written), written.size() > 1);
}

Schedule Builder::finish() {
  const StepRecorder& recorder = work_->recorder;
  Schedule schedule;
  schedule.procs_ = work_->procs;
  schedule.rank_ = work_->rank;
  schedule.first_sharer_ = work_->stack.first_sharer();
  schedule.rounds_ = recorder.rounds();
  schedule.sends_empty_messages_ = work_->sends_empty_messages;
  schedule.like_ = work_->stack.sized_like();
  for (unsigned b = 0; b < max_buffers; ++b) {
    schedule.places_[b] = recorder.accesses().places(static_cast<Buffer>(b));
    if (schedule.places_[b] > 0) schedule.buffers_ = b + 1;
  }
  recorder.write_graph(schedule);
  return schedule;
}

}  // namespace convene::schedule
