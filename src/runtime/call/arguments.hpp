// SPDX-License-Identifier: BSD-3-Clause
// Arguments of a collective call, in one form for all collectives.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/call/buffer_argument.hpp"

namespace convene::runtime {

/// Key of the fast path and of recorded call sites: the arguments of a call but for its buffers, as the
/// program gave them, those included that do not count on this rank. Local to a rank, unlike a CallSignature.
/// Only collective and root are set where blocks may differ.
struct CallKey {
  Collective collective = Collective::allgather;
  bool in_place = false;
  bool any_root = false;  ///< stands for calls with every root
  int root = 0;
  MPI_Count sendcount = 0;
  MPI_Datatype sendtype = {};
  MPI_Count recvcount = 0;
  MPI_Datatype recvtype = {};
  MPI_Op op = {};

  bool operator==(const CallKey&) const = default;
  /// True if this key, which was kept, stands for a call. Without branches: every repeated call makes this
  /// comparison, and predictions are cold after a wait.
  [[gnu::always_inline]] bool stands_for(const CallKey& call) const {
    const auto differ = [](auto one, auto another) { return word(one) ^ word(another); };
    const std::uint64_t roots = word(any_root) - 1;  // 0: all are alike
    return (differ(collective, call.collective) | differ(in_place, call.in_place) |
            (differ(root, call.root) & roots) | differ(sendcount, call.sendcount) |
            differ(sendtype, call.sendtype) | differ(recvcount, call.recvcount) |
            differ(recvtype, call.recvtype) | differ(op, call.op)) == 0;
  }

 private:
  /// Handles are pointers or numbers, by stack.
  template <class Value>
  [[gnu::always_inline]] static std::uint64_t word(Value value) {
    if constexpr (std::is_pointer_v<Value>)
      return reinterpret_cast<std::uintptr_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
};

struct Arguments {
  Collective collective = Collective::allgather;
  MPI_Comm comm = MPI_COMM_NULL;
  Rank procs = 1, rank = 0;
  int root = 0;
  bool in_place = false;    ///< MPI_IN_PLACE for the send side; in scatter for the root's receive side
  bool is_refused = false;  ///< arrays are missing, or there is no process topology: native reports the error
  CallKey key = {};         ///< if all blocks are equal
  BufferArgument send = {},
                 recv = {};  ///< the sides used by this rank; a bcast's vector is `recv`, at the root too
  MPI_Op op = {};            ///< of a reduction
  /// Type of a reduction's items as passed by the program, for its operator. Null: that of the sides.
  MPI_Datatype given_type = MPI_DATATYPE_NULL;

  /// The type of a reduction's items.
  MPI_Datatype item_type() const {
    if (given_type != MPI_DATATYPE_NULL) return given_type;
    return send.is_used() ? send.type : recv.type;
  }
  bool is_root() const { return static_cast<int>(rank) == root; }

  /// True if they contain nothing that an MPI would reject: errors are left to the MPI to report.
  bool are_sound() const;

  /// Bytes of all blocks together (of the vector in bcast and in reductions): equal on all ranks. 0 if MPI
  /// does not make such a number equal. Only for sound arguments.
  std::uint64_t total_bytes() const;

  /// Bytes of a block if all are equal; of the mean block in allgatherv; of the own block in a neighborhood.
  std::uint64_t block_bytes(std::uint64_t total) const {
    if (is_neighborhood(collective)) return own_block_bytes();
    return has_one_vector(collective) ? total : total / procs;
  }
  std::uint64_t own_block_bytes() const;
};

/// True if it calls no code of the program: no user-defined operator. Then any thread may run it.
bool runs_anywhere(const Arguments& call);

/// True if both sides have equal blocks, given by a count and a type: no arrays.
bool has_equal_blocks(Collective collective);
/// The same, or equal counts given as one (see reduce_scatter() in runtime/run/reductions.cpp).
bool may_have_equal_blocks(Collective collective);

/// The handles in the runtime's parameters (mpi/collective_table.hpp).
struct MpiHandles {
  using Type = MPI_Datatype;
  using Op = MPI_Op;
  using Comm = MPI_Comm;
};

class Persistent;

/// Form of a call: blocking (all null); non-blocking (a request); persistent, with an MPI request (a request
/// and an info) or with an object of Convene's (an operation).
struct Form {
  MPI_Request* request = nullptr;
  const MPI_Info* info = nullptr;
  Persistent** operation = nullptr;
  /// A blocking call of the program that Convene runs as a non-blocking native one: it completes the request
  /// itself.
  bool is_internal = false;

  bool is_blocking() const { return !request && !operation; }
  bool is_persistent() const { return info || operation; }
};

/// Form of all blocking calls. (A static object: a tail call may outlive any stack frame.)
inline constexpr Form blocking;

/// Of a lambda on the fast path (before its body, where attributes of C++ do not reach the function).
#define CONVENE_INLINE __attribute__((always_inline))

}  // namespace convene::runtime
