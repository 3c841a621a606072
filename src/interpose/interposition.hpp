// SPDX-License-Identifier: BSD-3-Clause
// Interposition: whether the calls of a program are handled by Convene, or pass through to the next
// definition.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/functions.hpp"
#include "mpi/next_symbol.hpp"

namespace convene::interpose {

/// A handle as it arrives in a register. The library may be loaded with another MPI than it was built for,
/// whose handles have another width: only at full width is a handle passed through unchanged.
using HandleWord = std::uintptr_t;

template <class Handle>
Handle from_word(HandleWord word) {
  return (Handle)(word);  // to a pointer or to an int, by stack
}

/// 0: not decided; 1: active; 2: inactive.
inline std::atomic<int> interposition_state{0};
/// Decides in the first call after MPI_Init: inactive if the MPI is not the one that this library was built
/// for, which is reported in one sentence. If memory for that is lacking: true, and the call itself reports
/// it. Does not throw.
bool decide_interposition() noexcept;

/// True if Convene handles calls, and this was decided before. (Without a call: the entry needs no frame.)
inline bool is_known_active() { return interposition_state.load(std::memory_order_relaxed) == 1; }

/// True if Convene handles calls.
inline bool is_active() {
  const int state = interposition_state.load(std::memory_order_relaxed);
  return state == 1 || (state == 0 && decide_interposition());
}

/// True if the MPI must be initialised for several threads, because background progress was requested.
bool wants_threads();

/// What follows MPI_Init, which has returned `code`: makes the internal communicator of MPI_COMM_WORLD.
/// Returns the code.
int prepare_world(int code, const void* caller);

}  // namespace convene::interpose
