// SPDX-License-Identifier: BSD-3-Clause
#include "execute/program.hpp"

#include <algorithm>
#include <climits>
#include <optional>

#include "schedule/core/describe.hpp"

namespace convene::execute {
namespace {

/// A run of bytes, from where its buffer begins.
struct Run {
  Buffer base = Buffer::input;
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
};

/// The ranges as one run of bytes, if they are that wherever the buffers are: buffers that follow each other in this call
/// need not do so in the next.
std::optional<Run> one_run_of(std::span<const Range> ranges, const Schedule& schedule,
                              const Buffers& buffers) {
  const auto piece = one_run(ranges, schedule, buffers);
  if (!piece) return std::nullopt;
  if (piece->bytes == 0) return Run{};
  std::optional<Buffer> base;
  for (const Range& range : ranges) {
    if (range.buffer() == base || bytes_of(std::span(&range, 1), schedule, buffers) == 0) continue;
    if (base) return std::nullopt;
    base = range.buffer();
  }
  return Run{*base, piece->at - buffers[*base].base(), piece->bytes};
}

/// An empty message is left out, on the other side too; but not a signal.
bool is_left_out(const Schedule& schedule, StepId step, const Buffers& buffers) {
  return !schedule.signals() && bytes_of(schedule.ranges(step), schedule, buffers) == 0;
}

}  // namespace

void Program::bind(const Schedule& schedule, const Order& order, const Buffers& buffers, std::uint32_t blocks,
                   Arena& arena) {
  entries_.clear();
  slots_ = 0;
  input_.keep(buffers.input, schedule.places(Buffer::input));
  output_.keep(buffers.output, schedule.places(Buffer::output));
  has_scratch_ = schedule.buffers() > index(Buffer::scratch);
  if (has_scratch_) blocks_.keep(buffers.blocks, blocks);
  has_shared_ = schedule.places(Buffer::shared) > 0;
  if (has_shared_) shared_.keep(buffers.shared, schedule.places(Buffer::shared));
  auto* slot_of = arena.take_array<std::uint32_t>(schedule.size());
  for (const Op op : order) add(schedule, op, buffers, slot_of);
  join_calls();
  forget_blocking(arena);
  is_of_tokens_ = std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    const bool is_over = entry.act == Act::send_now || entry.act == Act::recv_now ||
                         entry.act == Act::exchange || entry.act == Act::joined;
    return is_over && entry.bytes_or_step == 0;
  });
  byte_ = MPI_BYTE;
  no_request_ = MPI_REQUEST_NULL;
  bound_ = true;
}

/// A message that is waited for at once goes by a call that does both: that saves the MPI a request; and so do a receive and a
/// send that are both waited for before anything else. Likewise the last ones, behind which nothing is issued, where they
/// are short; where they are long, copies behind them would have to wait.
void Program::join_calls() {
  constexpr std::uint64_t short_bytes = 4096;
  const auto waits_for = [&](std::size_t i, std::size_t message) {
    return entries_[i].act == Act::wait && entries_[i].message.slot == entries_[message].message.slot;
  };
  for (std::size_t i = 0; i + 3 < entries_.size(); ++i) {
    if (entries_[i].act != Act::recv || entries_[i + 1].act != Act::send) continue;
    if (!(waits_for(i + 2, i) && waits_for(i + 3, i + 1)) &&
        !(waits_for(i + 2, i + 1) && waits_for(i + 3, i)))
      continue;
    entries_[i].act = Act::exchange;
    entries_[i + 1].act = Act::joined;
  }
  for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
    Act& act = entries_[i].act;
    if ((act != Act::recv && act != Act::send) || !waits_for(i + 1, i)) continue;
    act = act == Act::recv ? Act::recv_now : Act::send_now;
  }
  std::size_t end = entries_.size();
  std::uint64_t local_bytes = 0;
  for (; end > 0; --end) {
    const Entry& entry = entries_[end - 1];
    if (entry.act == Act::copy || entry.act == Act::share || entry.act == Act::combine)
      local_bytes += entry.bytes_or_step;
    else if (entry.act == Act::general)
      local_bytes = UINT_MAX;
    else if (entry.act != Act::wait)
      break;
  }
  const auto is_short = [&](std::size_t i, Act act) {
    return i < end && entries_[i].act == act && entries_[i].bytes_or_step <= short_bytes;
  };
  const std::size_t last = end - 1;
  if (is_short(last, Act::send) || is_short(last, Act::send_now)) {
    entries_[last].act = Act::send_now;
    if (local_bytes <= short_bytes && is_short(last - 1, Act::recv) && !awaits_others(last - 1)) {
      entries_[last - 1].act = Act::exchange;
      entries_[last].act = Act::joined;
    }
  } else if (is_short(last, Act::recv) && local_bytes <= short_bytes && !awaits_others(last)) {
    entries_[last].act = Act::recv_now;
  }
}

/// Messages that are over when their call returns are not waited for; where there are no others no request needs a place.
void Program::forget_blocking(Arena& arena) {
  bool* const has_request = arena.take_array<bool>(slots_);
  std::fill_n(has_request, slots_, false);
  for (const Entry& entry : entries_)
    if (entry.act == Act::send || entry.act == Act::recv || entry.act == Act::scattered)
      has_request[entry.message.slot] = true;
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.act == Act::wait && !has_request[entry.message.slot];
  });
  if (std::find(has_request, has_request + slots_, true) == has_request + slots_) slots_ = 0;
}

/// Whether anything is to be received by an entry before this one, and waited for behind it.
bool Program::awaits_others(std::size_t entry) const {
  for (std::size_t i = 0; i < entry; ++i) {
    if (entries_[i].act != Act::recv && entries_[i].act != Act::scattered) continue;
    const auto is_its_wait = [&](const Entry& other) {
      return other.act == Act::wait && other.message.slot == entries_[i].message.slot;
    };
    const auto from = entries_.begin();
    if (std::none_of(from + static_cast<std::ptrdiff_t>(i), from + static_cast<std::ptrdiff_t>(entry),
                     is_its_wait))
      return true;
  }
  return false;
}

void Program::add(const Schedule& schedule, Op op, const Buffers& buffers, std::uint32_t* slot_of) {
  const StepId step = op.step();
  if (op.action() != Action::wait_all && schedule[step].is_signal()) return add_signal(schedule, op);
  if (op.action() == Action::issue) {
    if (!schedule[step].is_message()) return add_local(schedule, step, buffers);
    if (is_left_out(schedule, step, buffers)) return;
    slot_of[step] = slots_++;
    return add_message(schedule, step, buffers, slot_of[step]);
  }
  if (op.action() == Action::wait_all) return;  // whoever runs the program waits for all at its end
  if (is_left_out(schedule, step, buffers)) return;
  Entry entry;
  entry.act = Act::wait;
  entry.bytes_or_step = step;
  entry.message = {0, slot_of[step]};
  entries_.push_back(entry);
}

/// A signal is given when it is issued, and awaited where the order waits for it.
void Program::add_signal(const Schedule& schedule, Op op) {
  const Step& step = schedule[op.step()];
  const bool gives = step.kind == StepKind::send;
  if (gives != (op.action() == Action::issue)) return;
  Entry entry;
  entry.act = gives ? Act::signal : Act::await;
  entry.message = {static_cast<std::int32_t>(step.peer), step.match};
  entries_.push_back(entry);
}

void Program::add_local(const Schedule& schedule, StepId step, const Buffers& buffers) {
  const auto from = one_run_of(schedule.from(step), schedule, buffers);
  const auto to = one_run_of(schedule.to(step), schedule, buffers);
  Entry entry;
  entry.act = Act::general;
  entry.bytes_or_step = step;
  // Single places may differ: a shared one has room for the largest.
  const bool is_single = places(schedule.from(step)) == 1;
  if (from && to && from->bytes <= UINT_MAX && (from->bytes == to->bytes || is_single)) {
    if (from->bytes == 0) return;  // a barrier's, for one
    entry.act = schedule[step].kind == StepKind::combine ? Act::combine
                : to->base == Buffer::shared             ? Act::share
                                                         : Act::copy;
    entry.base = from->base;
    entry.target_base = to->base;
    entry.offset = from->offset;
    entry.target = to->offset;
    entry.bytes_or_step = static_cast<std::uint32_t>(std::min(from->bytes, to->bytes));
  }
  entries_.push_back(entry);
}

void Program::add_message(const Schedule& schedule, StepId id, const Buffers& buffers, std::uint32_t slot) {
  const Step& step = schedule[id];
  Entry entry;
  entry.message = {static_cast<std::int32_t>(step.peer), slot};
  entry.act = Act::scattered;
  entry.bytes_or_step = id;
  const auto run = one_run_of(schedule.ranges(id), schedule, buffers);
  if (run && run->bytes <= INT_MAX) {
    entry.act = step.kind == StepKind::send ? Act::send : Act::recv;
    entry.base = run->base;
    entry.offset = run->offset;
    entry.bytes_or_step = static_cast<std::uint32_t>(run->bytes);
    entry.match = static_cast<std::uint8_t>(step.match % match_window);
  }
  entries_.push_back(entry);
}

std::size_t Program::memory() const {
  return sizeof *this + entries_.capacity() * sizeof(Entry) + input_.memory() + output_.memory() +
         blocks_.memory();
}

}  // namespace convene::execute
