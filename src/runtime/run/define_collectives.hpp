// SPDX-License-Identifier: BSD-3-Clause
// Definitions of the runtime's collectives from the table's lines. For collectives.cpp and reductions.cpp
// only: each defines CONVENE_RUN_<PATTERN>(name, SEND, RECV) for its patterns, which runs a call of that
// pattern.
#pragma once

#include "runtime/call/arguments.hpp"
#include "runtime/run/native_call.hpp"
#include "runtime/run/run_collective.hpp"

namespace convene::runtime {

/// Number of blocks of one side of a call on this rank. The neighbour counts are those of the process
/// topology.
enum class Number : std::uint8_t {
  none,
  one,
  each,  ///< one per rank
  one_at_root,
  each_at_root,
  one_if_targets,  ///< one if this rank has a target
  per_source,      ///< one per source
  per_target,      ///< one per target
};

/// The program's buffer of one side.
inline BufferArgument side(const void* buffer, Blocks blocks, MPI_Datatype type) {
  return {const_cast<void*>(buffer), blocks, type};
}

}  // namespace convene::runtime

#define CONVENE_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(Count, DisplacementOf<Count>, MpiHandles, name)
#define CONVENE_NARROW_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(int, int, MpiHandles, name)
#define CONVENE_LARGE_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(MPI_Count, MPI_Aint, MpiHandles, name)

/// Defines the functions of one line, for both widths of counts: of all forms, and of blocking calls.
#define CONVENE_DEFINE(Name, name, NAME, PATTERN, SEND, RECV)                                              \
  template <class Count>                                                                                   \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER), const Form& form) {                             \
    const auto native = CONVENE_NATIVE(Name, name, PATTERN);                                               \
    return CONVENE_RUN_##PATTERN(name, SEND, RECV);                                                        \
  }                                                                                                        \
  template <class Count>                                                                                   \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER)) {                                               \
    const auto native = CONVENE_NATIVE(Name, name, PATTERN);                                               \
    const RepeatedOr form{[=]() CONVENE_INLINE { return name<Count>(CONVENE_NAMES(PATTERN), blocking); }}; \
    return CONVENE_RUN_##PATTERN(name, SEND, RECV);                                                        \
  }                                                                                                        \
  template int name<int>(CONVENE_ARGUMENTS_##PATTERN(CONVENE_NARROW_PARAMETER));                           \
  template int name<MPI_Count>(CONVENE_ARGUMENTS_##PATTERN(CONVENE_LARGE_PARAMETER));                      \
  template int name<int>(CONVENE_ARGUMENTS_##PATTERN(CONVENE_NARROW_PARAMETER), const Form&);              \
  template int name<MPI_Count>(CONVENE_ARGUMENTS_##PATTERN(CONVENE_LARGE_PARAMETER), const Form&);
