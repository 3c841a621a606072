// SPDX-License-Identifier: BSD-3-Clause
// Public C functions of the collectives: convene_<name>, convene_i<name>, convene_<name>_init, each also with
// _c.
//
// No exception barrier here: the runtime's functions do not throw (runtime/call/failure.hpp).
#include "capi/api.hpp"
#include "mpi/collective_table.hpp"
#include "runtime/run/collectives.hpp"

#define CONVENE_LIST(...) __VA_ARGS__
#define CONVENE_API_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(int, int, convene::capi::PublicHandles, name)
#define CONVENE_API_LARGE_PARAMETER(KIND, name) \
  CONVENE_DECLARE_##KIND(MPI_Count, MPI_Aint, convene::capi::PublicHandles, name)

/// Defines a collective's three functions, each with the suffix (_c or nothing). `arguments` in parentheses
/// are the blocking one's; its parameters are last.
#define CONVENE_API_FORMS(name, suffix, arguments, ...)                                                     \
  CONVENE_PUBLIC(name##suffix, (__VA_ARGS__)) {                                                             \
    CONVENE_STEP_ASIDE(convene_public_##name##suffix, name##suffix, arguments);                             \
    convene::capi::need_mpi();                                                                              \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                                   \
    return convene::capi::name arguments;                                                                   \
  }                                                                                                         \
  CONVENE_PUBLIC(i##name##suffix, (__VA_ARGS__, MPI_Request * request)) {                                   \
    CONVENE_STEP_ASIDE(convene_public_i##name##suffix, i##name##suffix, (CONVENE_LIST arguments, request)); \
    convene::capi::need_mpi();                                                                              \
    if (!request) return convene::capi::refuse_null("convene_i" #name #suffix, "a pointer to a request");   \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                                   \
    return convene::capi::name(CONVENE_LIST arguments, convene::capi::Form{request});                       \
  }                                                                                                         \
  CONVENE_PUBLIC(name##_init##suffix, (__VA_ARGS__, convene_operation * operation)) {                       \
    CONVENE_STEP_ASIDE(convene_public_##name##_init##suffix, name##_init##suffix,                           \
                       (CONVENE_LIST arguments, operation));                                                \
    convene::capi::need_mpi();                                                                              \
    if (!operation)                                                                                         \
      return convene::capi::refuse_null("convene_" #name "_init" #suffix, "a pointer to an operation");     \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                                   \
    return convene::capi::name(CONVENE_LIST arguments, convene::capi::init_form(operation));                \
  }
#define CONVENE_API_NARROW(Name, name, NAME, PATTERN, ...) \
  CONVENE_API_FORMS(name, , (CONVENE_NAMES(PATTERN)), CONVENE_ARGUMENTS_##PATTERN(CONVENE_API_PARAMETER))
#define CONVENE_API_LARGE(Name, name, NAME, PATTERN, ...) \
  CONVENE_API_FORMS(name, _c, (CONVENE_NAMES(PATTERN)),   \
                    CONVENE_ARGUMENTS_##PATTERN(CONVENE_API_LARGE_PARAMETER))

CONVENE_COLLECTIVES(CONVENE_API_NARROW, CONVENE_API_NARROW, CONVENE_API_NARROW)
CONVENE_COLLECTIVES(CONVENE_API_LARGE, CONVENE_API_LARGE, CONVENE_NO_COLLECTIVE)
