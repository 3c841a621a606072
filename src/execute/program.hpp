// SPDX-License-Identifier: BSD-3-Clause
// Programs: the compiled order of a schedule, bound to the sizes of one call. Each message is reduced to its
// offset from a buffer's start, a count, a peer and a tag. A call with other buffers of the same sizes reruns
// the program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.hpp"
#include "execute/memory.hpp"
#include "execute/message.hpp"
#include "schedule/core/order.hpp"

namespace convene::execute {

/// Operation of an instruction.
enum class Opcode : std::uint8_t {
  send,                ///< post a send of `bytes` bytes at `offset` from `base` to `peer`
  send_now,            ///< the same, and wait for it
  recv,                ///< post a receive of `bytes` bytes at `offset` from `base` from `peer`
  recv_now,            ///< the same, and wait for it
  exchange,            ///< receive, while the next instruction's message is sent
  exchange_send_half,  ///< the send of that exchange
  copy,                ///< `bytes` bytes at `offset` from `base` to `target` from `target_base`
  share,               ///< the same, into memory that other ranks read
  combine,             ///< `bytes` bytes: target = offset ∘ target
  scattered,           ///< post the message of step `step`, whose slots are not one run of bytes
  general,             ///< execute the copy or combine of step `step`, whose slots are not one run of bytes
  wait,                ///< for the message in `slot`, of step `step`
  signal,              ///< signal number `slot` to `peer`
  await,               ///< signal number `slot` from `peer`
  signal_with,         ///< the signal to `peer` that carries the data at `offset` from `base`
  take,                ///< the signal from `peer`, and its data to `offset` from `base`
};

struct Instruction {
  std::ptrdiff_t offset = 0;
  union {
    struct {
      std::int32_t peer;
      std::uint32_t slot;
    } message;
    std::ptrdiff_t target;
  };
  std::uint32_t bytes_or_step = 0;
  std::uint8_t match = 0;
  Opcode opcode = Opcode::wait;
  Buffer base = Buffer::input, target_base = Buffer::input;

  Instruction() : target(0) {}
};

class Program {
 public:
  /// True if the program was bound to this layout: then it can run unchanged.
  bool fits(const Buffers& buffers, bool signals_carry = false) const {
    return bound_ && signals_carry == signals_carry_ && buffers.input.same_layout(input_) &&
           buffers.output.same_layout(output_) && (!has_scratch_ || buffers.blocks.same_layout(blocks_)) &&
           (!has_shared_ || buffers.shared.same_layout(shared_));
  }

  /// Binds the order to the sizes of the buffers; `blocks` is the number of places of the buffers' `blocks`;
  /// `signals_carry`: see Binding.
  /// Copies the data that fits() compares. The arena is used during the call only.
  void bind(const Schedule& schedule, const Order& order, const Buffers& buffers, std::uint32_t blocks,
            Arena& arena, bool signals_carry = false);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::uint32_t slots() const { return slots_; }
  /// True if it consists of zero-byte messages, each complete when its call returns: see
  /// run_zero_byte_messages().
  bool has_only_empty_messages() const { return has_only_empty_messages_; }

  std::size_t memory() const;

 private:
  void join_blocking_calls();
  bool awaits_others(std::size_t instruction) const;
  void drop_blocking_waits(Arena& arena);
  void add(const Schedule& schedule, Op op, const Buffers& buffers, std::uint32_t* slot_of);
  void add_signal(const Schedule& schedule, Op op, const Buffers& buffers);
  void add_local(const Schedule& schedule, StepId step, const Buffers& buffers);
  void add_message(const Schedule& schedule, StepId step, const Buffers& buffers, std::uint32_t slot);

  std::vector<Instruction> instructions_;
  std::uint32_t slots_ = 0;  // number of messages with a stored handle
  bool bound_ = false, has_only_empty_messages_ = false, has_scratch_ = false, has_shared_ = false;
  bool signals_carry_ = false;
  KeptLayout input_, output_, blocks_, shared_;
};

}  // namespace convene::execute
