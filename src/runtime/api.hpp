// SPDX-License-Identifier: BSD-3-Clause
// What the public C functions share.
#pragma once

#include <string>

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/arguments.hpp"
#include "runtime/caller.hpp"

#define CONVENE_API extern "C" __attribute__((visibility("default")))

namespace convene {

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

/// The form of a convene_*_init.
inline Form init_form(convene_operation* operation) {
  return {.operation = reinterpret_cast<Persistent**>(operation)};
}

/// What a call has no place for was null.
inline int lacks_result(const char* function, const char* result) {
  last_error() = std::string(function) + " needs a place for " + result + ", and was given a null pointer";
  return MPI_ERR_ARG;
}

}  // namespace convene

#define CONVENE_LIST(...) __VA_ARGS__

/// Defines a collective's three functions, each with the suffix (_c or nothing): convene_<name>, convene_i<name> and
/// convene_<name>_init. `arguments` in parentheses are the blocking one's; its parameters come last.
#define CONVENE_API_FORMS(name, suffix, arguments, ...)                                             \
  CONVENE_API int convene_##name##suffix(__VA_ARGS__) {                                             \
    convene::need_mpi();                                                                            \
    convene::recorder::note_caller(__builtin_return_address(0));                                    \
    return convene::name arguments;                                                                 \
  }                                                                                                 \
  CONVENE_API int convene_i##name##suffix(__VA_ARGS__, MPI_Request* request) {                      \
    convene::need_mpi();                                                                            \
    if (!request) return convene::lacks_result("convene_i" #name #suffix, "a request");             \
    convene::recorder::note_caller(__builtin_return_address(0));                                    \
    return convene::name(CONVENE_LIST arguments, convene::Form{request});                           \
  }                                                                                                 \
  CONVENE_API int convene_##name##_init##suffix(__VA_ARGS__, convene_operation* operation) {        \
    convene::need_mpi();                                                                            \
    if (!operation) return convene::lacks_result("convene_" #name "_init" #suffix, "an operation"); \
    convene::recorder::note_caller(__builtin_return_address(0));                                    \
    return convene::name(CONVENE_LIST arguments, convene::init_form(operation));                    \
  }

/// Likewise in both widths; `PARAMETERS(Count, Displacement)` are the parameters.
#define CONVENE_API_COLLECTIVE(name, PARAMETERS, arguments)  \
  CONVENE_API_FORMS(name, , arguments, PARAMETERS(int, int)) \
  CONVENE_API_FORMS(name, _c, arguments, PARAMETERS(MPI_Count, MPI_Aint))
