// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init: where progress in the background was asked for, the MPI is initialised for several threads, whatever the
// program asked for. (That has a price, so it is done only then.) A program that is told of a higher level than it asked
// for may take no notice: MPI says that the level provided can be higher.
#include <cstdlib>
#include <cstring>

#include "interpose/interposition.hpp"

/// The settings themselves are read after MPI_Init: what is wrong in them is said through the MPI.
bool convene::interpose::wants_threads() {
  const char* value = std::getenv("CONVENE_PROGRESS_THREAD");
  return value && std::strcmp(value, "1") == 0 && find_mpi() == MpiFit::fits;
}

namespace {

using convene::interpose::wants_threads;

template <class Function>
Function beyond(const char* name) {
  return reinterpret_cast<Function>(convene::interpose::mpi_symbol(name));
}

using Init = int (*)(int*, char***);
using InitThread = int (*)(int*, char***, int, int*);

int init(int* argc, char*** argv) {
  int provided = 0;
  return wants_threads() ? beyond<InitThread>("PMPI_Init_thread")(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                         : beyond<Init>("PMPI_Init")(argc, argv);
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  return beyond<InitThread>("PMPI_Init_thread")(argc, argv, wants_threads() ? MPI_THREAD_MULTIPLE : required,
                                                provided);
}

}  // namespace

#define CONVENE_EXPORT __attribute__((visibility("default")))

extern "C" int convene_entry_Init(int* argc, char*** argv) __asm__("MPI_Init") CONVENE_EXPORT;
extern "C" int convene_entry_Init(int* argc, char*** argv) { return init(argc, argv); }

extern "C" int convene_entry_Init_thread(int* argc, char*** argv, int required,
                                         int* provided) __asm__("MPI_Init_thread") CONVENE_EXPORT;
extern "C" int convene_entry_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return init_thread(argc, argv, required, provided);
}

#ifdef OPEN_MPI  // its Fortran forms call PMPI_Init; the newest forms may come without an error argument
#define CONVENE_FORTRAN_INIT(name)                  \
  extern "C" CONVENE_EXPORT void name(int* error) { \
    const int code = init(nullptr, nullptr);        \
    if (error) *error = code;                       \
  }                                                 \
  static_assert(true)
#define CONVENE_FORTRAN_INIT_THREAD(name)                                               \
  extern "C" CONVENE_EXPORT void name(const int* required, int* provided, int* error) { \
    const int code = init_thread(nullptr, nullptr, *required, provided);                \
    if (error) *error = code;                                                           \
  }                                                                                     \
  static_assert(true)
CONVENE_FORTRAN_INIT(mpi_init_);
CONVENE_FORTRAN_INIT(mpi_init_f08_);
CONVENE_FORTRAN_INIT_THREAD(mpi_init_thread_);
CONVENE_FORTRAN_INIT_THREAD(mpi_init_thread_f08_);
#endif
