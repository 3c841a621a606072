// SPDX-License-Identifier: BSD-3-Clause
// The door between a program and its MPI: whether calls go through Convene, or straight on.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/functions.hpp"

namespace convene::interpose {

/// A handle as it comes in a register. The library may have been loaded over another MPI than it was built for, whose
/// handles are of another width: only at its full width can a handle be passed on unharmed.
using HandleWord = std::uintptr_t;

template <class Handle>
Handle from_word(HandleWord word) {
  return (Handle)(word);  // to a pointer, or to an int: a stack has the one or the other
}

/// Whether calls go through Convene. Decided in the first call after MPI_Init: no if the MPI is not the one that this
/// library was built for, which is said in one sentence.
inline std::atomic<int> interposition_state{0};  // 0: not decided; 1: open; 2: closed
bool decide_interposition();

inline bool is_active() {
  const int state = interposition_state.load(std::memory_order_relaxed);
  return state == 1 || (state == 0 && decide_interposition());
}

/// What would be called if this library were not there. A program that was loaded privately, as Python loads modules, sees
/// libraries of its own: they are looked for behind its caller's address. Null where there is none.
void* symbol_beyond(const char* name, const void* caller);
/// A symbol as the caller's own module sees it.
void* symbol_seen_by(const void* caller, const char* name);

/// Whether the MPI is to be initialised for several threads, since progress in the background was asked for.
bool wants_threads();

}  // namespace convene::interpose
