// SPDX-License-Identifier: BSD-3-Clause
// Messages: the slots of a send or receive step as runs of bytes. Local steps: copies and combines of slots.
#pragma once

#include <optional>
#include <span>

#include "base/arena.hpp"
#include "base/combine.hpp"
#include "execute/memory.hpp"
#include "schedule/core/schedule.hpp"
#include "transport/transport.hpp"

namespace convene::execute {

/// The memory of all of a schedule's buffers.
struct Buffers {
  Memory input, output;
  Memory shared;  ///< each as large as the largest place of the collective; of the node, for this run
  Memory blocks;  ///< if scratch is used: the sizes of the collective's blocks (its base is unused)
  const Memory* scratch = nullptr;  ///< of scratch 0, 1, …: as many as the schedule has

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

/// Memory that a run may use for packing, unless a schedule requests more.
inline constexpr std::size_t most_packed = 64 * 1024 * 1024;

/// One message: a contiguous run that one post sends or receives, or several pieces.
struct Message {
  Piece run;                      ///< empty if there are pieces
  std::span<const Piece> pieces;  ///< in the arena
  std::byte* staging = nullptr;   ///< memory into which scattered slots were packed, or from which they are
                                  ///< unpacked

  /// An empty message is omitted on both sides, unless it synchronises.
  bool is_empty() const { return run.bytes == 0 && pieces.empty(); }
};

/// Allocates a schedule's scratch buffers from the arena: each place as large as the block that it is
/// declared like.
void bind_scratch(const Schedule& schedule, Buffers& buffers, Arena& arena);

/// Number of bytes in the slots of some ranges.
std::size_t bytes_of(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers);

/// The bytes of some ranges if they are contiguous; nothing if they are scattered.
std::optional<Piece> one_run(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers);

/// The smallest contiguous run that contains all of a buffer's places.
Piece extent_of(const Memory& memory, std::uint32_t places);

/// The message of a send or receive step. Scattered slots of fewer than `pack_below` bytes go through staging
/// from the arena; those of a send are packed already.
Message make_message(const Schedule& schedule, StepId step, const Buffers& buffers, std::size_t pack_below,
                     Arena& arena);

/// Unpacks a received message's staging into its slots.
void unpack(const Schedule& schedule, StepId step, const Buffers& buffers, const std::byte* staging);

/// Executes a copy step.
void copy_slots(const Schedule& schedule, StepId step, const Buffers& buffers);

/// Executes a combine step. Returns MPI_SUCCESS or the operation's first error.
int combine_slots(const Schedule& schedule, StepId step, const Buffers& buffers, const Operator& op);

}  // namespace convene::execute
