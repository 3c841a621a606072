// SPDX-License-Identifier: BSD-3-Clause
// How a function is defined that a program calls instead of its MPI. It carries the MPI's name by an assembler label, since
// mpi.h declares the same name with other types (HandleWord says why they differ).
#pragma once

#include "interpose/door.hpp"
#include "runtime/arguments.hpp"

namespace convene {

inline MPI_Datatype type_of(HandleWord word) { return from_word<MPI_Datatype>(word); }
inline MPI_Comm comm_of(HandleWord word) { return from_word<MPI_Comm>(word); }
inline MPI_Op op_of(HandleWord word) { return from_word<MPI_Op>(word); }

}  // namespace convene

/// Defines one MPI function: its name, its parameters, its arguments as they came (for an MPI that passes by; it exists
/// there, since the program is linked with it), and the call of Convene's.
#define CONVENE_ENTRY(name, parameters, as_they_came, call)                                        \
  extern "C" int convene_entry_##name parameters __asm__("MPI_" #name)                             \
      __attribute__((visibility("default")));                                                      \
  extern "C" int convene_entry_##name parameters {                                                 \
    if (!convene::door_is_open())                                                                  \
      return reinterpret_cast<int(*) parameters>(convene::mpi_symbol("PMPI_" #name)) as_they_came; \
    return convene::call;                                                                          \
  }
