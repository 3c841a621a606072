// SPDX-License-Identifier: BSD-3-Clause
// Macros that define the MPI functions of a collective. Each function gets its MPI name by an assembler
// label, since mpi.h declares that name with other types (see HandleWord).
//
// No entry has an exception barrier of its own: the runtime's functions do not throw
// (runtime/call/failure.hpp), so that the fast path ends in a jump.
#pragma once

#include "interpose/interposition.hpp"
#include "mpi/collective_table.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/caller.hpp"

namespace convene::interpose {

/// Handles of an entry's parameters.
struct HandleWords {
  using Type = HandleWord;
  using Op = HandleWord;
  using Comm = HandleWord;
};

/// The form of a persistent call, for the duration of the call.
class Init {
 public:
  Init(HandleWord info, MPI_Request* request) : info_(from_word<MPI_Info>(info)), request_(request) {}
  Form form() const { return {.request = request_, .info = &info_}; }

 private:
  const MPI_Info info_;
  MPI_Request* request_;
};

}  // namespace convene::interpose

// An entry's argument in the runtime's type.
#define CONVENE_TAKE_INPUT(name) name
#define CONVENE_TAKE_OUTPUT(name) name
#define CONVENE_TAKE_COUNT(name) name
#define CONVENE_TAKE_COUNTS(name) name
#define CONVENE_TAKE_DISPLACEMENTS(name) name
#define CONVENE_TAKE_ROOT_COUNT(name) name
#define CONVENE_TAKE_ROOT_COUNTS(name) name
#define CONVENE_TAKE_ROOT_DISPLACEMENTS(name) name
#define CONVENE_TAKE_TYPE(name) convene::interpose::from_word<MPI_Datatype>(name)
#define CONVENE_TAKE_TYPES(name) name
#define CONVENE_TAKE_SEND_TYPES(name) name
#define CONVENE_TAKE_OP(name) convene::interpose::from_word<MPI_Op>(name)
#define CONVENE_TAKE_ROOT(name) name
#define CONVENE_TAKE_COMM(name) convene::interpose::from_word<MPI_Comm>(name)
#define CONVENE_TAKE(KIND, name) CONVENE_TAKE_##KIND(name)

#define CONVENE_ENTRY_PARAMETER(KIND, name) \
  CONVENE_DECLARE_##KIND(int, int, convene::interpose::HandleWords, name)
#define CONVENE_ENTRY_LARGE_PARAMETER(KIND, name) \
  CONVENE_DECLARE_##KIND(MPI_Count, MPI_Aint, convene::interpose::HandleWords, name)

/// Defines one MPI function: its name, its parameters, their names, and the call of Convene's. If Convene is
/// inactive the call passes through.
#define CONVENE_ENTRY(name, parameters, names, call) CONVENE_ENTRY_IF(true, name, parameters, names, call)

/// An entry with a condition: if it does not hold, native reports the error. What is rare is a function of
/// its own, so that the entry is a store and two jumps.
#define CONVENE_ENTRY_IF(condition, name, parameters, names, call)                       \
  extern "C" int convene_entry_##name parameters __asm__("MPI_" #name)                   \
      __attribute__((visibility("default")));                                            \
  [[gnu::noinline]] static int convene_undecided_##name parameters {                     \
    if (convene::interpose::is_active() && (condition)) return convene::interpose::call; \
    static constinit convene::mpi::NextFunction<int(*) parameters> next("MPI_" #name);   \
    return next.get(convene::runtime::recorder::caller) names;                           \
  }                                                                                      \
  extern "C" int convene_entry_##name parameters {                                       \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                \
    if (!convene::interpose::is_known_active() || !(condition)) [[unlikely]]             \
      return convene_undecided_##name names;                                             \
    return convene::interpose::call;                                                     \
  }

#define CONVENE_LIST(...) __VA_ARGS__

/// Defines a collective's three forms: MPI_<Name>, MPI_I<name> and MPI_<Name>_init, each with the suffix (_c
/// or nothing). `names` and `arguments` in parentheses are the blocking form's: as received, and in the
/// runtime's types.
#define CONVENE_FORMS(Name, name, suffix, names, arguments, ...)                              \
  CONVENE_ENTRY(Name##suffix, (__VA_ARGS__), names, name arguments)                           \
  CONVENE_ENTRY_IF(request != nullptr, I##name##suffix, (__VA_ARGS__, MPI_Request * request), \
                   (CONVENE_LIST names, request),                                             \
                   name(CONVENE_LIST arguments, convene::interpose::Form{request}))           \
  CONVENE_ENTRY_IF(request != nullptr, Name##_init##suffix,                                   \
                   (__VA_ARGS__, convene::interpose::HandleWord info, MPI_Request * request), \
                   (CONVENE_LIST names, info, request),                                       \
                   name(CONVENE_LIST arguments, convene::interpose::Init(info, request).form()))

#define CONVENE_NARROW_FORMS(Name, name, NAME, PATTERN, ...)                                         \
  CONVENE_FORMS(Name, name, , (CONVENE_NAMES(PATTERN)), (CONVENE_ARGUMENTS_##PATTERN(CONVENE_TAKE)), \
                CONVENE_ARGUMENTS_##PATTERN(CONVENE_ENTRY_PARAMETER))
#define CONVENE_LARGE_FORMS(Name, name, NAME, PATTERN, ...)                                            \
  CONVENE_FORMS(Name, name, _c, (CONVENE_NAMES(PATTERN)), (CONVENE_ARGUMENTS_##PATTERN(CONVENE_TAKE)), \
                CONVENE_ARGUMENTS_##PATTERN(CONVENE_ENTRY_LARGE_PARAMETER))
