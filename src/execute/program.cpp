// SPDX-License-Identifier: BSD-3-Clause
#include "execute/program.hpp"

#include <algorithm>
#include <climits>
#include <optional>

#include "schedule/core/describe.hpp"

namespace convene::execute {
namespace {

/// A run of bytes, relative to the beginning of its buffer.
struct Run {
  Buffer base = Buffer::input;
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
};

/// The ranges as one run of bytes, if they are contiguous for any addresses of the buffers. (Buffers that are
/// adjacent in this call need not be in the next.)
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

/// True if a message is omitted, on the other side too: an empty one that does not synchronise.
bool is_omitted(const Schedule& schedule, StepId step, const Buffers& buffers) {
  return !schedule.sends_empty_messages() && bytes_of(schedule.ranges(step), schedule, buffers) == 0;
}

}  // namespace

void Program::bind(const Schedule& schedule, const Order& order, const Buffers& buffers, std::uint32_t blocks,
                   Arena& arena, bool signals_carry) {
  instructions_.clear();
  signals_carry_ = signals_carry;
  slots_ = 0;
  input_.keep(buffers.input, schedule.places(Buffer::input));
  output_.keep(buffers.output, schedule.places(Buffer::output));
  has_scratch_ = schedule.buffers() > index(Buffer::scratch);
  if (has_scratch_) blocks_.keep(buffers.blocks, blocks);
  has_shared_ = schedule.places(Buffer::shared) > 0;
  if (has_shared_) shared_.keep(buffers.shared, schedule.places(Buffer::shared));
  auto* slot_of = arena.take_array<std::uint32_t>(schedule.size());
  for (const Op op : order) add(schedule, op, buffers, slot_of);
  join_blocking_calls();
  drop_blocking_waits(arena);
  has_only_empty_messages_ =
      std::all_of(instructions_.begin(), instructions_.end(), [](const Instruction& instruction) {
        const bool is_over =
            instruction.opcode == Opcode::send_now || instruction.opcode == Opcode::recv_now ||
            instruction.opcode == Opcode::exchange || instruction.opcode == Opcode::exchange_send_half;
        return is_over && instruction.bytes_or_step == 0;
      });
  bound_ = true;
}

/// Joins posts and waits into blocking calls, which saves the MPI a request: a message that is waited for at
/// once; a receive and a send that are both waited for before anything else; the last messages, after which
/// nothing is posted, if they are short (copies after long ones would have to wait).
void Program::join_blocking_calls() {
  constexpr std::uint64_t short_bytes = 4096;
  const auto waits_for = [&](std::size_t i, std::size_t message) {
    return instructions_[i].opcode == Opcode::wait &&
           instructions_[i].message.slot == instructions_[message].message.slot;
  };
  for (std::size_t i = 0; i + 3 < instructions_.size(); ++i) {
    if (instructions_[i].opcode != Opcode::recv || instructions_[i + 1].opcode != Opcode::send) continue;
    if (!(waits_for(i + 2, i) && waits_for(i + 3, i + 1)) &&
        !(waits_for(i + 2, i + 1) && waits_for(i + 3, i)))
      continue;
    instructions_[i].opcode = Opcode::exchange;
    instructions_[i + 1].opcode = Opcode::exchange_send_half;
  }
  for (std::size_t i = 0; i + 1 < instructions_.size(); ++i) {
    Opcode& opcode = instructions_[i].opcode;
    if ((opcode != Opcode::recv && opcode != Opcode::send) || !waits_for(i + 1, i)) continue;
    opcode = opcode == Opcode::recv ? Opcode::recv_now : Opcode::send_now;
  }
  std::size_t end = instructions_.size();
  std::uint64_t local_bytes = 0;
  for (; end > 0; --end) {
    const Instruction& instruction = instructions_[end - 1];
    if (instruction.opcode == Opcode::copy || instruction.opcode == Opcode::share ||
        instruction.opcode == Opcode::combine)
      local_bytes += instruction.bytes_or_step;
    else if (instruction.opcode == Opcode::general)
      local_bytes = UINT_MAX;
    else if (instruction.opcode != Opcode::wait)
      break;
  }
  const auto is_short = [&](std::size_t i, Opcode opcode) {
    return i < end && instructions_[i].opcode == opcode && instructions_[i].bytes_or_step <= short_bytes;
  };
  const std::size_t last = end - 1;
  if (is_short(last, Opcode::send) || is_short(last, Opcode::send_now)) {
    instructions_[last].opcode = Opcode::send_now;
    if (local_bytes <= short_bytes && is_short(last - 1, Opcode::recv) && !awaits_others(last - 1)) {
      instructions_[last - 1].opcode = Opcode::exchange;
      instructions_[last].opcode = Opcode::exchange_send_half;
    }
  } else if (is_short(last, Opcode::recv) && local_bytes <= short_bytes && !awaits_others(last)) {
    instructions_[last].opcode = Opcode::recv_now;
  }
}

/// Drops the waits of messages that are complete when their call returns. If there are no others, no handle
/// is stored.
void Program::drop_blocking_waits(Arena& arena) {
  bool* const has_request = arena.take_array<bool>(slots_);
  std::fill_n(has_request, slots_, false);
  for (const Instruction& instruction : instructions_)
    if (instruction.opcode == Opcode::send || instruction.opcode == Opcode::recv ||
        instruction.opcode == Opcode::scattered)
      has_request[instruction.message.slot] = true;
  std::erase_if(instructions_, [&](const Instruction& instruction) {
    return instruction.opcode == Opcode::wait && !has_request[instruction.message.slot];
  });
  if (std::find(has_request, has_request + slots_, true) == has_request + slots_) slots_ = 0;
}

/// True if an earlier instruction posts a receive that is waited for after this one.
bool Program::awaits_others(std::size_t instruction) const {
  for (std::size_t i = 0; i < instruction; ++i) {
    if (instructions_[i].opcode != Opcode::recv && instructions_[i].opcode != Opcode::scattered) continue;
    const auto is_its_wait = [&](const Instruction& other) {
      return other.opcode == Opcode::wait && other.message.slot == instructions_[i].message.slot;
    };
    const auto from = instructions_.begin();
    if (std::none_of(from + static_cast<std::ptrdiff_t>(i), from + static_cast<std::ptrdiff_t>(instruction),
                     is_its_wait))
      return true;
  }
  return false;
}

void Program::add(const Schedule& schedule, Op op, const Buffers& buffers, std::uint32_t* slot_of) {
  const StepId step = op.step();
  if (op.action() != Action::wait_all && schedule[step].is_shm_signal())
    return add_signal(schedule, op, buffers);
  if (op.action() == Action::issue) {
    if (!schedule[step].is_message()) return add_local(schedule, step, buffers);
    if (is_omitted(schedule, step, buffers)) return;
    slot_of[step] = slots_++;
    return add_message(schedule, step, buffers, slot_of[step]);
  }
  if (op.action() == Action::wait_all) return;  // every run of the program waits for all at its end
  if (is_omitted(schedule, step, buffers)) return;
  Instruction instruction;
  instruction.opcode = Opcode::wait;
  instruction.bytes_or_step = step;
  instruction.message = {0, slot_of[step]};
  instructions_.push_back(instruction);
}

/// Adds a signal at its issue, or its other end at the wait.
void Program::add_signal(const Schedule& schedule, Op op, const Buffers& buffers) {
  const Step& step = schedule[op.step()];
  const bool gives = step.kind == StepKind::send;
  if (gives != (op.action() == Action::issue)) return;
  Instruction instruction;
  instruction.opcode = gives ? Opcode::signal : Opcode::await;
  instruction.message = {static_cast<std::int32_t>(step.peer), step.match};
  if (signals_carry_) {
    instruction.opcode = gives ? Opcode::signal_with : Opcode::take;
    instruction.base = Buffer::shared;
    const Piece place = buffers.shared.place(schedule.ranges(op.step()).front().first);
    instruction.offset = place.at - buffers.shared.base();
  }
  instructions_.push_back(instruction);
}

void Program::add_local(const Schedule& schedule, StepId step, const Buffers& buffers) {
  const auto from = one_run_of(schedule.from(step), schedule, buffers);
  const auto to = one_run_of(schedule.to(step), schedule, buffers);
  Instruction instruction;
  instruction.opcode = Opcode::general;
  instruction.bytes_or_step = step;
  // Single places may differ: a shared place is as large as the largest.
  const bool is_single = places(schedule.from(step)) == 1;
  if (from && to && from->bytes <= UINT_MAX && (from->bytes == to->bytes || is_single)) {
    if (from->bytes == 0) return;  // for example in a barrier
    instruction.opcode = schedule[step].kind == StepKind::combine ? Opcode::combine
                         : to->base == Buffer::shared             ? Opcode::share
                                                                  : Opcode::copy;
    instruction.base = from->base;
    instruction.target_base = to->base;
    instruction.offset = from->offset;
    instruction.target = to->offset;
    instruction.bytes_or_step = static_cast<std::uint32_t>(std::min(from->bytes, to->bytes));
  }
  instructions_.push_back(instruction);
}

void Program::add_message(const Schedule& schedule, StepId id, const Buffers& buffers, std::uint32_t slot) {
  const Step& step = schedule[id];
  Instruction instruction;
  instruction.message = {static_cast<std::int32_t>(step.peer), slot};
  instruction.opcode = Opcode::scattered;
  instruction.bytes_or_step = id;
  const auto run = one_run_of(schedule.ranges(id), schedule, buffers);
  if (run && run->bytes <= INT_MAX) {
    instruction.opcode = step.kind == StepKind::send ? Opcode::send : Opcode::recv;
    instruction.base = run->base;
    instruction.offset = run->offset;
    instruction.bytes_or_step = static_cast<std::uint32_t>(run->bytes);
    instruction.match = static_cast<std::uint8_t>(step.match % match_window);
  }
  instructions_.push_back(instruction);
}

std::size_t Program::memory() const {
  return sizeof *this + instructions_.capacity() * sizeof(Instruction) + input_.memory() + output_.memory() +
         blocks_.memory() + shared_.memory();
}

}  // namespace convene::execute
