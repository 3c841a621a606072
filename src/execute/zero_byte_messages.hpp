// SPDX-License-Identifier: BSD-3-Clause
// Programs of zero-byte messages, each complete when its call returns: barriers.
#pragma once

#include "execute/program.hpp"
#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace convene::execute {

/// Runs such a program. Returns MPI_SUCCESS or the transport's first error. (Inline: the overhead of a
/// barrier is measurable.)
template <MessageTransport T>
[[gnu::always_inline]] inline int run_zero_byte_messages(const Program& program, T& transport, Tags tags) {
  int code = MPI_SUCCESS;
  const Instruction* const end = program.instructions().data() + program.instructions().size();
  for (const Instruction* instruction = program.instructions().data();
       code == MPI_SUCCESS && instruction != end; ++instruction) {
    const int peer = instruction->message.peer, tag = tags.of_number(instruction->match);
    if (instruction->opcode == Opcode::exchange) {
      const Instruction& to = *++instruction;
      code = transport.exchange({nullptr, 0, to.message.peer, tags.of_number(to.match)},
                                {nullptr, 0, peer, tag});
    } else if (instruction->opcode == Opcode::send_now) {
      code = transport.send({nullptr, 0, peer, tag});
    } else {
      code = transport.receive({nullptr, 0, peer, tag});
    }
  }
  return code;
}

}  // namespace convene::execute
