// SPDX-License-Identifier: BSD-3-Clause
// Programs: one instruction after the other.
#include <algorithm>

#include "base/stream_copy.hpp"
#include "execute/program.hpp"
#include "execute/step_run.hpp"

namespace convene::execute {
namespace {

class ProgramRun {
 public:
  ProgramRun(const Binding& binding, const Program& program, Arena& arena)
      : binding_(binding), program_(program), messages_(binding, arena), tags_(binding.tags()) {
    if (program.slots() == 0) return;
    requests_ = arena.take_array<MPI_Request>(program.slots());
    std::fill_n(requests_, program.slots(), program_.no_request());
  }

  int run() {
    int code = MPI_SUCCESS;
    for (const Instruction& instruction : program_.instructions())
      if ((code = act(instruction)) != MPI_SUCCESS) break;
    // One by one: what is complete costs next to nothing, and all must come anyway.
    for (std::uint32_t slot = 0; slot < program_.slots() && code == MPI_SUCCESS; ++slot)
      if (requests_[slot] != program_.no_request()) code = wait(&requests_[slot], slot);
    if (code != MPI_SUCCESS) abandon(requests_, program_.slots());
    messages_.finish_all();
    return code;
  }

 private:
  [[gnu::always_inline]] int act(const Instruction& instruction) {
    switch (instruction.act) {
      case Opcode::send:
        return pmpi.Isend(at(instruction.base, instruction.offset),
                          static_cast<int>(instruction.bytes_or_step), program_.byte(),
                          instruction.message.peer, tags_.of(instruction.match), binding_.comm,
                          request_of(instruction));
      case Opcode::send_now:
        return send(instruction);
      case Opcode::recv:
        return pmpi.Irecv(at(instruction.base, instruction.offset),
                          static_cast<int>(instruction.bytes_or_step), program_.byte(),
                          instruction.message.peer, tags_.of(instruction.match), binding_.comm,
                          request_of(instruction));
      case Opcode::recv_now:
        return receive(instruction);
      case Opcode::exchange:
        return exchange(instruction, (&instruction)[1]);
      case Opcode::exchange_send_half:
        return MPI_SUCCESS;
      case Opcode::wait:
        if (*request_of(instruction) != program_.no_request())
          if (const int code = wait(request_of(instruction), instruction.message.slot); code != MPI_SUCCESS)
            return code;
        messages_.finish(instruction.bytes_or_step);
        return MPI_SUCCESS;
      case Opcode::copy:
        copy_bytes(at(instruction.target_base, instruction.target), at(instruction.base, instruction.offset),
                   instruction.bytes_or_step);
        return MPI_SUCCESS;
      case Opcode::share:
        copy_into_shared(at(instruction.target_base, instruction.target),
                         at(instruction.base, instruction.offset), instruction.bytes_or_step);
        return MPI_SUCCESS;
      case Opcode::combine:
        return binding_.op(at(instruction.base, instruction.offset),
                           at(instruction.target_base, instruction.target), instruction.bytes_or_step);
      case Opcode::signal:
        binding_.shared_memory->signal(static_cast<Rank>(instruction.message.peer), instruction.message.slot);
        return MPI_SUCCESS;
      case Opcode::await:
        return await(instruction);
      case Opcode::scattered:
        return messages_.start(instruction.bytes_or_step, request_of(instruction));
      case Opcode::general:
        return messages_.do_local(instruction.bytes_or_step);
    }
    return MPI_SUCCESS;
  }

  MPI_Request* request_of(const Instruction& instruction) const {
    return requests_ + instruction.message.slot;
  }

  int send(const Instruction& to) {
    const auto bytes = static_cast<int>(to.bytes_or_step);
    const std::byte* const sent = at(to.base, to.offset);
    const int tag = tags_.of(to.match);
    if (!tells_) return pmpi.Send(sent, bytes, program_.byte(), to.message.peer, tag, binding_.comm);
    MPI_Request request = program_.no_request();
    const int code = pmpi.Isend(sent, bytes, program_.byte(), to.message.peer, tag, binding_.comm, &request);
    return code == MPI_SUCCESS ? end(&request, to) : code;
  }

  int receive(const Instruction& from) {
    const auto bytes = static_cast<int>(from.bytes_or_step);
    std::byte* const to = at(from.base, from.offset);
    const int tag = tags_.of(from.match);
    if (!tells_)
      return pmpi.Recv(to, bytes, program_.byte(), from.message.peer, tag, binding_.comm, MPI_STATUS_IGNORE);
    MPI_Request request = program_.no_request();
    const int code = pmpi.Irecv(to, bytes, program_.byte(), from.message.peer, tag, binding_.comm, &request);
    return code == MPI_SUCCESS ? end(&request, from) : code;
  }

  int exchange(const Instruction& from, const Instruction& to) {
    if (!tells_)
      return pmpi.Sendrecv(at(to.base, to.offset), static_cast<int>(to.bytes_or_step), program_.byte(),
                           to.message.peer, tags_.of(to.match), at(from.base, from.offset),
                           static_cast<int>(from.bytes_or_step), program_.byte(), from.message.peer,
                           tags_.of(from.match), binding_.comm, MPI_STATUS_IGNORE);
    MPI_Request request = program_.no_request();
    int code = pmpi.Isend(at(to.base, to.offset), static_cast<int>(to.bytes_or_step), program_.byte(),
                          to.message.peer, tags_.of(to.match), binding_.comm, &request);
    if (code != MPI_SUCCESS) return code;
    code = receive(from);
    return code == MPI_SUCCESS ? end(&request, to) : abandoned(&request, code);
  }

  /// Waits for a message that has no slot's request, and tells for whom where that takes long.
  int end(MPI_Request* request, const Instruction& instruction) {
    const int code = wait_and_tell(request, instruction.message.slot);
    return code == MPI_SUCCESS ? code : abandoned(request, code);
  }

  static int abandoned(MPI_Request* request, int code) {
    abandon(request, 1);
    return code;
  }

  int await(const Instruction& instruction) {
    const auto is_signalled = [&] {
      return binding_.shared_memory->is_signalled(static_cast<Rank>(instruction.message.peer),
                                                  instruction.message.slot);
    };
    return is_signalled() ? MPI_SUCCESS : poll(binding_, instruction.message.peer, is_signalled);
  }

  int wait(MPI_Request* request, std::uint32_t slot) {
    return tells_ ? wait_and_tell(request, slot) : pmpi.Wait(request, MPI_STATUS_IGNORE);
  }

  /// Likewise, but says for whom, where that takes long.
  [[gnu::noinline]] int wait_and_tell(MPI_Request* request, std::uint32_t slot) {
    PolledWait wait;
    for (;;) {
      int done = 0;
      if (const int code = pmpi.Test(request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS || done)
        return code;
      if (!wait.has_become_long()) continue;
      const int peer = peer_of(slot);
      wait_warning.say(binding_.comm, &peer, peer < 0 ? 0 : 1, false);
    }
  }

  /// Who is at the other end of the message in a slot; -1 where that is not found.
  int peer_of(std::uint32_t slot) const {
    for (const Instruction& instruction : program_.instructions()) {
      if (instruction.act == Opcode::wait && instruction.message.slot == slot)
        return static_cast<int>((*binding_.schedule)[instruction.bytes_or_step].peer);
      const bool is_message = instruction.act == Opcode::send || instruction.act == Opcode::recv ||
                              instruction.act == Opcode::recv_now || instruction.act == Opcode::send_now ||
                              instruction.act == Opcode::exchange ||
                              instruction.act == Opcode::exchange_send_half;
      if (is_message && instruction.message.slot == slot) return instruction.message.peer;
    }
    return -1;
  }

  std::byte* at(Buffer buffer, std::ptrdiff_t offset) const { return binding_.at(buffer, offset); }

  const Binding& binding_;
  const Program& program_;
  StepMessages messages_;
  const Tags tags_;
  const bool tells_ = wait_warning.is_on();  // for whom it waits
  MPI_Request* requests_ = nullptr;          // by slot
};

}  // namespace

int run_program(const Binding& binding, const Program& program, Arena& arena) {
  if (!binding.shared_memory) return ProgramRun(binding, program, arena).run();
  const SharedRun shared(binding);
  const int code = await_memory(binding);
  return code == MPI_SUCCESS ? ProgramRun(binding, program, arena).run() : code;
}

}  // namespace convene::execute
