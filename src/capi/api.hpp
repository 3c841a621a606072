// SPDX-License-Identifier: BSD-3-Clause
// What the public C functions share.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/call/arguments.hpp"
#include "runtime/call/caller.hpp"

#define CONVENE_API extern "C" __attribute__((visibility("default")))

namespace convene::capi {

/// Where the program's MPI is another one than this library's: the function of that name in a library that follows, as
/// libconvene follows a drop-in library that steps aside. Null where this library is to do it.
void* next_function(const char* name);

/// Every collective's first line: the MPI is looked up once. Without a fitting one nothing can be done.
void need_mpi();

/// What convene_error() tells this thread.
std::string& last_error();

/// Runs `body`; MPI_ERR_ARG where it throws Error, whose text convene_error() tells then.
template <class Body>
int guarded(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    last_error() = error.what();
    return MPI_ERR_ARG;
  }
}

/// convene_start, of a caller that has been noted (runtime/call/caller.hpp).
int start_operation(convene_operation operation, MPI_Request* request);

/// The form of a convene_*_init.
inline Form init_form(convene_operation* operation) {
  return {.operation = reinterpret_cast<Persistent**>(operation)};
}

/// What a call needs was null.
inline int lacks(const char* function, const char* what) {
  last_error() = std::string(function) + " needs " + what + ", and was given a null pointer";
  return MPI_ERR_ARG;
}

/// A handle in the parameters of a public function, as wide as a register: where this library steps aside, the MPI's handles
/// may be wider than its own.
template <class MpiHandle>
struct PublicHandle {
  std::uintptr_t word;
  operator MpiHandle() const { return (MpiHandle)word; }  // NOLINT: to a pointer, or to an int
};
using PublicComm = PublicHandle<MPI_Comm>;
using PublicType = PublicHandle<MPI_Datatype>;
using PublicOp = PublicHandle<MPI_Op>;

}  // namespace convene::capi

#define CONVENE_LIST(...) __VA_ARGS__

/// Begins the definition of convene_<name>, whose handles are PublicHandles: by an assembler label, since convene.h declares that
/// name with the MPI's own types. `parameters` in parentheses.
#define CONVENE_PUBLIC(name, parameters)                                      \
  CONVENE_API int convene_public_##name parameters __asm__("convene_" #name); \
  CONVENE_API int convene_public_##name parameters

/// The first line of every public function, convene_<name>: the drop-in library exports them too, so that one runtime serves a
/// program that is linked with libconvene. `arguments` in parentheses; `function`: as it is called here.
#define CONVENE_STEP_ASIDE(function, name, arguments)                    \
  if (void* const next = convene::capi::next_function("convene_" #name)) \
  return reinterpret_cast<decltype(&function)>(next) arguments

/// Defines a collective's three functions, each with the suffix (_c or nothing): convene_<name>, convene_i<name> and
/// convene_<name>_init. `arguments` in parentheses are the blocking one's; its parameters come last.
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
    if (!request) return convene::capi::lacks("convene_i" #name #suffix, "a place for a request");          \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                                   \
    return convene::capi::name(CONVENE_LIST arguments, convene::capi::Form{request});                       \
  }                                                                                                         \
  CONVENE_PUBLIC(name##_init##suffix, (__VA_ARGS__, convene_operation * operation)) {                       \
    CONVENE_STEP_ASIDE(convene_public_##name##_init##suffix, name##_init##suffix,                           \
                       (CONVENE_LIST arguments, operation));                                                \
    convene::capi::need_mpi();                                                                              \
    if (!operation)                                                                                         \
      return convene::capi::lacks("convene_" #name "_init" #suffix, "a place for an operation");            \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                                   \
    return convene::capi::name(CONVENE_LIST arguments, convene::capi::init_form(operation));                \
  }

/// Likewise in both widths; `PARAMETERS(Count, Displacement)` are the parameters.
#define CONVENE_API_COLLECTIVE(name, PARAMETERS, arguments)  \
  CONVENE_API_FORMS(name, , arguments, PARAMETERS(int, int)) \
  CONVENE_API_FORMS(name, _c, arguments, PARAMETERS(MPI_Count, MPI_Aint))
