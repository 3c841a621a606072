// SPDX-License-Identifier: BSD-3-Clause
// The door between a program and its MPI: whether calls go through Convene, or straight on.
#pragma once

#include <atomic>
#include <cstdint>

#include "execute/mpi.hpp"

namespace convene {

/// A handle as it comes in a register. The library may have been loaded over another MPI than it was built for, whose
/// handles are of another width: only at its full width can a handle be passed on unharmed.
using HandleWord = std::uintptr_t;

template <class Handle>
Handle from_word(HandleWord word) {
  return (Handle)(word);  // to a pointer, or to an int: a stack has the one or the other
}

/// Whether calls go through Convene. Decided in the first call after MPI_Init: no if the MPI is not the one that this
/// library was built for, which is said in one sentence.
inline std::atomic<int> door_state{0};  // 0: not decided; 1: open; 2: closed
bool decide_door();

inline bool door_is_open() {
  const int state = door_state.load(std::memory_order_relaxed);
  return state == 1 || (state == 0 && decide_door());
}

}  // namespace convene
