// SPDX-License-Identifier: BSD-3-Clause
// One message: the slots of a send or receive step, as MPI is to see them.
#pragma once

#include <optional>
#include <span>

#include "base/arena.hpp"
#include "base/combine.hpp"
#include "execute/memory.hpp"
#include "mpi/functions.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::execute {

/// The memory of all of a schedule's buffers.
struct Buffers {
  Memory input, output;
  Memory shared;  ///< as large as the largest place of the collective, each; of the node, for this run
  Memory blocks;  ///< where scratch is used: how large the collective's blocks are (its base means nothing)
  const Memory* scratch = nullptr;  ///< of scratch 0, 1, …: as many as the schedule names

  const Memory& operator[](Buffer buffer) const {
    switch (buffer) {
      case Buffer::input:
        return input;
      case Buffer::output:
        return output;
      case Buffer::shared:
        return shared;
      default:
        return scratch[index(buffer) - index(Buffer::scratch)];
    }
  }
};

/// So much memory a run may take before it packs no further message (unless a schedule asks for it).
inline constexpr std::size_t most_packed = 64 * 1024 * 1024;

/// Scattered slots smaller than this are packed; larger ones are described to the MPI by a datatype, which costs one or
/// two microseconds to make and saves both copies: under Open MPI. MPICH then packs by itself, but two to ten times as slow
/// (5.0.2, within a node): there all are packed for which a run has memory left.
#if defined(MPICH_VERSION) || defined(MPI_ABI_VERSION)
inline constexpr std::size_t pack_below = most_packed;
#else
inline constexpr std::size_t pack_below = 32 * 1024;
#endif

/// What MPI gets for one message, and what is to be done when it is complete.
struct Message {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::byte* staging = nullptr;  ///< where scattered slots were packed, or are to be unpacked from
  bool owns_type = false;

  bool is_empty() const { return count == 0; }  ///< such a message is left out, unless it is a signal
};

/// Gives a schedule's scratch buffers memory from the arena: each place as large as the block that it is declared like.
void bind_scratch(const Schedule& schedule, Buffers& buffers, Arena& arena);

/// The number of bytes in the slots of some ranges.
std::size_t bytes_of(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers);

/// The bytes of some ranges, where they are one run; nothing where they are scattered.
std::optional<Piece> one_run(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers);

/// The message of a send or receive step. Staging comes from the arena; the slots of a send are packed already.
Message make_message(const Schedule& schedule, StepId step, const Buffers& buffers, Arena& arena);

/// Starts the send or receive of a step. An empty message is left out, on the other side too, unless they are signals:
/// its request is null. `staging`: where a receive that has to be unpacked is put, else null. Returns MPI_SUCCESS or the
/// MPI's error.
int start_message(const Schedule& schedule, StepId step, const Buffers& buffers, MPI_Comm comm, int tag,
                  Arena& arena, MPI_Request* request, std::byte** staging);

/// What MPI_Waitsome or MPI_Testsome returned, or, where it says only that a message failed, the error of that message:
/// one of the `count` statuses has it, if their MPI_ERROR was MPI_SUCCESS before.
int error_in(const MPI_Status* statuses, int count, int code);

/// After an error nobody may touch the buffers any more: receives are cancelled, sends let go.
void abandon(MPI_Request* requests, std::size_t count);

/// Unpacks a received message's staging into its slots.
void unpack(const Schedule& schedule, StepId step, const Buffers& buffers, const std::byte* staging);

/// Does a copy step.
void copy_slots(const Schedule& schedule, StepId step, const Buffers& buffers);

/// Does a combine step. Returns MPI_SUCCESS or the operation's first error.
int combine_slots(const Schedule& schedule, StepId step, const Buffers& buffers, const Operator& op);

}  // namespace convene::execute
