// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init: if progress in the background was requested, the MPI is initialised for several threads, whatever
// the program requested. (That costs time in every call, so it is done only then. MPI allows a higher level
// than the requested one.)
//
// All ranks then agree on how results return, share wisdom, and make the internal communicator of
// MPI_COMM_WORLD (interpose/creation.cpp explains why).
//
// The call goes to the next definition: a profiling tool behind Convene initialises itself there.
#include "interpose/init.hpp"

#include <cstdlib>
#include <cstring>

#include "runtime/call/caller.hpp"
#include "runtime/comm/world.hpp"

/// The settings themselves are read after MPI_Init: errors in them are reported through the MPI.
bool convene::interpose::wants_threads() {
  const char* value = std::getenv("CONVENE_PROGRESS_THREAD");
  const char* off = std::getenv("CONVENE");
  return value && std::strcmp(value, "1") == 0 && !(off && std::strcmp(off, "off") == 0) &&
         find_mpi() == MpiFit::fits;
}

int convene::interpose::prepare_world(int code, const void* caller) {
  if (code == MPI_SUCCESS && is_active()) {
    recorder::note_caller(caller);
    runtime::prepare_world();
  }
  return code;
}

int convene::interpose::init_thread(int* argc, char*** argv, int required, int* provided,
                                    const void* caller) {
  static constinit NextFunction<int (*)(int*, char***, int, int*)> next("MPI_Init_thread");
  return prepare_world(
      next.get(caller)(argc, argv, wants_threads() ? MPI_THREAD_MULTIPLE : required, provided), caller);
}

int convene::interpose::init(int* argc, char*** argv, const void* caller) {
  static constinit NextFunction<int (*)(int*, char***)> next("MPI_Init");
  int provided = 0;
  return wants_threads() ? init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided, caller)
                         : prepare_world(next.get(caller)(argc, argv), caller);
}

#define CONVENE_EXPORT __attribute__((visibility("default")))

extern "C" int convene_entry_Init(int* argc, char*** argv) __asm__("MPI_Init") CONVENE_EXPORT;
extern "C" int convene_entry_Init(int* argc, char*** argv) {
  return convene::interpose::init(argc, argv, __builtin_return_address(0));
}

extern "C" int convene_entry_Init_thread(int* argc, char*** argv, int required,
                                         int* provided) __asm__("MPI_Init_thread") CONVENE_EXPORT;
extern "C" int convene_entry_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return convene::interpose::init_thread(argc, argv, required, provided, __builtin_return_address(0));
}
