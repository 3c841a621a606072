// SPDX-License-Identifier: BSD-3-Clause
// Programs of tokens: nothing but empty messages, each over when its call returns.
#pragma once

#include "execute/program.hpp"
#include "mpi/functions.hpp"
#include "mpi/tags.hpp"

namespace convene::execute {

/// Runs such a program. Returns MPI_SUCCESS or the first error of the MPI. (Inline, for what a barrier costs beside its
/// messages shows.)
[[gnu::always_inline]] inline int run_zero_byte_messages(const Program& program, MPI_Comm comm, Tags tags) {
  const MPI_Datatype byte = program.byte();
  int code = MPI_SUCCESS;
  const Instruction* const end = program.instructions().data() + program.instructions().size();
  for (const Instruction* instruction = program.instructions().data();
       code == MPI_SUCCESS && instruction != end; ++instruction) {
    const int peer = instruction->message.peer, tag = tags.of_number(instruction->match);
    if (instruction->act == Opcode::exchange) {
      const Instruction& to = *++instruction;
      code = pmpi.Sendrecv(nullptr, 0, byte, to.message.peer, tags.of_number(to.match), nullptr, 0, byte,
                           peer, tag, comm, MPI_STATUS_IGNORE);
    } else if (instruction->act == Opcode::send_now) {
      code = pmpi.Send(nullptr, 0, byte, peer, tag, comm);
    } else {
      code = pmpi.Recv(nullptr, 0, byte, peer, tag, comm, MPI_STATUS_IGNORE);
    }
  }
  return code;
}

}  // namespace convene::execute
