// SPDX-License-Identifier: BSD-3-Clause
// Interpreter of programs: executes the instructions in order.
#include "execute/program_run.hpp"

#include <algorithm>

#include "base/stream_copy.hpp"
#include "execute/step_run.hpp"

namespace convene::execute {
namespace {

template <MessageTransport T>
class ProgramRun {
 public:
  using Handle = typename T::Handle;

  ProgramRun(const Binding& binding, const Program& program, Arena& arena)
      : binding_(binding), program_(program), messages_(binding, arena), tags_(binding.tags()) {
    if (program.slots() == 0) return;
    handles_ = arena.take_array<Handle>(program.slots());
    std::fill_n(handles_, program.slots(), transport().none());
  }

  int run() {
    int code = messages_.code();
    if (code != MPI_SUCCESS) return code;
    for (const Instruction& instruction : program_.instructions())
      if ((code = execute(instruction)) != MPI_SUCCESS) break;
    if (code == MPI_SUCCESS) code = wait_for_all();
    if (code != MPI_SUCCESS) transport().abandon(handles_, program_.slots());
    messages_.finish_all();
    return code;
  }

 private:
  T& transport() const { return transport_of<T>(binding_); }

  [[gnu::always_inline]] int execute(const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::send:
        return transport().post_send(at(instruction.base, instruction.offset), instruction.bytes_or_step,
                                     instruction.message.peer, tags_.of(instruction.match),
                                     handle_of(instruction));
      case Opcode::send_now:
        return send(instruction);
      case Opcode::recv:
        return transport().post_receive(at(instruction.base, instruction.offset), instruction.bytes_or_step,
                                        instruction.message.peer, tags_.of(instruction.match),
                                        handle_of(instruction));
      case Opcode::recv_now:
        return receive(instruction);
      case Opcode::exchange:
        return exchange(instruction, (&instruction)[1]);
      case Opcode::exchange_send_half:
        return MPI_SUCCESS;
      case Opcode::wait:
        if (*handle_of(instruction) != transport().none())
          if (const int code = wait(handle_of(instruction), instruction.message.slot); code != MPI_SUCCESS)
            return code;
        messages_.finish(instruction.bytes_or_step);
        return MPI_SUCCESS;
      case Opcode::copy:
        copy_bytes(at(instruction.target_base, instruction.target), at(instruction.base, instruction.offset),
                   instruction.bytes_or_step);
        return MPI_SUCCESS;
      case Opcode::share:
        copy_into_shared(at(instruction.target_base, instruction.target),
                         at(instruction.base, instruction.offset), instruction.bytes_or_step,
                         binding_.shared_memory->streams());
        return MPI_SUCCESS;
      case Opcode::combine:
        return binding_.op(at(instruction.base, instruction.offset),
                           at(instruction.target_base, instruction.target), instruction.bytes_or_step);
      case Opcode::signal:
        binding_.shared_memory->signal(static_cast<Rank>(instruction.message.peer), instruction.message.slot);
        return MPI_SUCCESS;
      case Opcode::await:
        return await(instruction);
      case Opcode::signal_with:
        binding_.shared_memory->signal_with(static_cast<Rank>(instruction.message.peer),
                                            at(instruction.base, instruction.offset));
        return MPI_SUCCESS;
      case Opcode::take:
        return take(instruction);
      case Opcode::scattered:
        return messages_.post(instruction.bytes_or_step, handle_of(instruction));
      case Opcode::general:
        return messages_.do_local(instruction.bytes_or_step);
    }
    return MPI_SUCCESS;
  }

  Handle* handle_of(const Instruction& instruction) const { return handles_ + instruction.message.slot; }

  Outgoing outgoing(const Instruction& to) const {
    return {at(to.base, to.offset), to.bytes_or_step, to.message.peer, tags_.of(to.match)};
  }
  Incoming incoming(const Instruction& from) const {
    return {at(from.base, from.offset), from.bytes_or_step, from.message.peer, tags_.of(from.match)};
  }

  int send(const Instruction& to) {
    if (!warns_) return transport().send(outgoing(to));
    Handle handle = transport().none();
    const int code = post(outgoing(to), &handle);
    return code == MPI_SUCCESS ? complete(&handle, to) : code;
  }

  int receive(const Instruction& from) {
    if (!warns_) return transport().receive(incoming(from));
    const Incoming message = incoming(from);
    Handle handle = transport().none();
    const int code = transport().post_receive(message.at, message.bytes, message.peer, message.tag, &handle);
    return code == MPI_SUCCESS ? complete(&handle, from) : code;
  }

  int exchange(const Instruction& from, const Instruction& to) {
    if (!warns_) return transport().exchange(outgoing(to), incoming(from));
    Handle handle = transport().none();
    int code = post(outgoing(to), &handle);
    if (code != MPI_SUCCESS) return code;
    code = receive(from);
    return code == MPI_SUCCESS ? complete(&handle, to) : abandoned(&handle, code);
  }

  int post(const Outgoing& message, Handle* handle) {
    return transport().post_send(message.at, message.bytes, message.peer, message.tag, handle);
  }

  /// Waits for a message without a slot. Warns if that takes long.
  int complete(Handle* handle, const Instruction& instruction) {
    const int code = wait_or_warn(handle, instruction.message.slot);
    return code == MPI_SUCCESS ? code : abandoned(handle, code);
  }

  int abandoned(Handle* handle, int code) {
    transport().abandon(handle, 1);
    return code;
  }

  int await(const Instruction& instruction) {
    const auto is_signalled = [&] {
      return binding_.shared_memory->is_signalled(static_cast<Rank>(instruction.message.peer),
                                                  instruction.message.slot);
    };
    return is_signalled() ? MPI_SUCCESS : poll_shared<T>(binding_, instruction.message.peer, is_signalled);
  }

  int take(const Instruction& instruction) {
    const auto is_taken = [&, target = at(instruction.base, instruction.offset)] {
      return binding_.shared_memory->take(static_cast<Rank>(instruction.message.peer), target);
    };
    return is_taken() ? MPI_SUCCESS : poll_shared<T>(binding_, instruction.message.peer, is_taken);
  }

  int wait(Handle* handle, std::uint32_t slot) {
    return warns_ ? wait_or_warn(handle, slot) : transport().wait(handle);
  }

  int wait_for_all() {
    if (!warns_) return transport().wait_all(handles_, program_.slots());
    int code = MPI_SUCCESS;
    for (std::uint32_t slot = 0; slot < program_.slots() && code == MPI_SUCCESS; ++slot)
      if (handles_[slot] != transport().none()) code = wait_or_warn(&handles_[slot], slot);
    return code;
  }

  /// Waits, and warns once if that takes long.
  [[gnu::noinline]] int wait_or_warn(Handle* handle, std::uint32_t slot) {
    PolledWait wait;
    for (;;) {
      bool done = false;
      if (const int code = transport().test(handle, &done); code != MPI_SUCCESS || done) return code;
      if (!wait.has_become_long()) continue;
      const int peer = peer_of(slot);
      wait_warning.report(binding_.comm(), &peer, peer < 0 ? 0 : 1, false);
    }
  }

  /// The peer of the message in a slot; -1 if not found.
  int peer_of(std::uint32_t slot) const {
    for (const Instruction& instruction : program_.instructions()) {
      if (instruction.opcode == Opcode::wait && instruction.message.slot == slot)
        return static_cast<int>((*binding_.schedule)[instruction.bytes_or_step].peer);
      const bool is_message =
          instruction.opcode == Opcode::send || instruction.opcode == Opcode::recv ||
          instruction.opcode == Opcode::recv_now || instruction.opcode == Opcode::send_now ||
          instruction.opcode == Opcode::exchange || instruction.opcode == Opcode::exchange_send_half;
      if (is_message && instruction.message.slot == slot) return instruction.message.peer;
    }
    return -1;
  }

  std::byte* at(Buffer buffer, std::ptrdiff_t offset) const { return binding_.at(buffer, offset); }

  const Binding& binding_;
  const Program& program_;
  StepMessages<T> messages_;
  const Tags tags_;
  const bool warns_ = wait_warning.is_on();
  Handle* handles_ = nullptr;  // by slot
};

template <MessageTransport T>
[[gnu::always_inline]] inline int run_over(const Binding& binding, const Program& program, Arena& arena) {
  if (!binding.shared_memory) return ProgramRun<T>(binding, program, arena).run();
  const SharedRun shared(binding);
  const int code = await_memory<T>(binding);
  return code == MPI_SUCCESS ? ProgramRun<T>(binding, program, arena).run() : code;
}

/// Not inlined, so that the usual path has a small stack frame.
[[gnu::noinline, gnu::cold]] int run_over_another(const Binding& binding, const Program& program,
                                                  Arena& arena) {
  return run_over<Transport>(binding, program, arena);
}

}  // namespace

int run_program(const Binding& binding, const Program& program, Arena& arena) {
  if (binding.transport) [[unlikely]]
    return run_over_another(binding, program, arena);
  return run_over<const PointToPoint>(binding, program, arena);
}

}  // namespace convene::execute
