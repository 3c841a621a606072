// SPDX-License-Identifier: BSD-3-Clause
// Programs of tokens: nothing but empty messages, each over when its call returns.
#pragma once

#include "mpi/functions.hpp"
#include "execute/program.hpp"
#include "mpi/tags.hpp"

namespace convene::execute {

/// Runs such a program. Returns MPI_SUCCESS or the first error of the MPI. (Inline, for what a barrier costs beside its
/// messages shows.)
[[gnu::always_inline]] inline int run_tokens(const Program& program, MPI_Comm comm, Tags tags) {
  const MPI_Datatype byte = program.byte();
  int code = MPI_SUCCESS;
  const Entry* const end = program.entries().data() + program.entries().size();
  for (const Entry* entry = program.entries().data(); code == MPI_SUCCESS && entry != end; ++entry) {
    const int peer = entry->message.peer, tag = tags.of_number(entry->match);
    if (entry->act == Act::exchange) {
      const Entry& to = *++entry;
      code = pmpi.Sendrecv(nullptr, 0, byte, to.message.peer, tags.of_number(to.match), nullptr, 0, byte, peer,
                          tag, comm, MPI_STATUS_IGNORE);
    } else if (entry->act == Act::send_now) {
      code = pmpi.Send(nullptr, 0, byte, peer, tag, comm);
    } else {
      code = pmpi.Recv(nullptr, 0, byte, peer, tag, comm, MPI_STATUS_IGNORE);
    }
  }
  return code;
}

}  // namespace convene::execute
