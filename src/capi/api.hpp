// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the public C functions.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/call/arguments.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/call/failure.hpp"

#define CONVENE_API extern "C" __attribute__((visibility("default")))

namespace convene::capi {

/// The function of this name in the next library, if the program's MPI is another one than this library's:
/// libconvene follows a drop-in library that steps aside. Null if this library handles the call.
void* next_function(const char* name);

/// First line of every collective: the MPI is looked up once. Without a fitting one, calls fail.
void need_mpi();

/// The text that convene_error() returns to this thread.
const char* last_error() noexcept;
/// Sets it; without memory it is empty.
void note_error(const std::string& text) noexcept;

/// Runs `body`, which returns an error code, behind an exception barrier. Error becomes MPI_ERR_ARG, which is
/// only returned; others also go to the error handler of `comm` (runtime/call/failure.hpp). convene_error()
/// has the text.
template <class Body>
int guarded(MPI_Comm comm, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    note_error(error.what());
    return MPI_ERR_ARG;
  } catch (const std::exception& error) {
    note_error(error.what());
    return report_exception(comm);
  }
}
template <class Body>
int guarded(Body&& body) {
  return guarded(MPI_COMM_NULL, std::forward<Body>(body));
}

/// convene_start, after note_caller() (runtime/call/caller.hpp).
int start_operation(convene_operation operation, MPI_Request* request);

/// The form of a convene_*_init.
inline Form init_form(convene_operation* operation) {
  return {.operation = reinterpret_cast<Persistent**>(operation)};
}

/// An argument is null: MPI_ERR_ARG.
int refuse_null(const char* function, const char* what) noexcept;

/// A handle in the parameters of a public function, as wide as a register: if this library steps aside, the
/// MPI's handles may be wider than its own.
template <class MpiHandle>
struct PublicHandle {
  std::uintptr_t word;
  operator MpiHandle() const { return (MpiHandle)word; }  // NOLINT: to a pointer, or to an int
};
using PublicComm = PublicHandle<MPI_Comm>;
using PublicType = PublicHandle<MPI_Datatype>;
using PublicOp = PublicHandle<MPI_Op>;
struct PublicHandles {
  using Type = PublicType;
  using Op = PublicOp;
  using Comm = PublicComm;
};

}  // namespace convene::capi

/// Begins the definition of convene_<name>, whose handles are PublicHandles: by an assembler label, since
/// convene.h declares that name with the types of the MPI. `parameters` in parentheses.
#define CONVENE_PUBLIC(name, parameters)                                      \
  CONVENE_API int convene_public_##name parameters __asm__("convene_" #name); \
  CONVENE_API int convene_public_##name parameters

/// First line of every public function, convene_<name>: the drop-in library exports them too, so that one
/// runtime serves a program that is linked with libconvene. `arguments` in parentheses; `function`: its name
/// in this library.
#define CONVENE_STEP_ASIDE(function, name, arguments)                    \
  if (void* const next = convene::capi::next_function("convene_" #name)) \
  return reinterpret_cast<decltype(&function)>(next) arguments
