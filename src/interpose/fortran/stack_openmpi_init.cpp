// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init in Fortran under Open MPI, whose forms call PMPI_Init. They go to the next definition of the C
// function, since Convene runs Fortran collectives by the C functions, too. The error argument of the f08
// forms is optional.
#include "interpose/init.hpp"

#define CONVENE_FORTRAN_INIT(name)                                                            \
  extern "C" __attribute__((visibility("default"))) void name(int* error) {                   \
    const int code = convene::interpose::init(nullptr, nullptr, __builtin_return_address(0)); \
    if (error) *error = code;                                                                 \
  }                                                                                           \
  static_assert(true)
#define CONVENE_FORTRAN_INIT_THREAD(name)                                                                    \
  extern "C" __attribute__((visibility("default"))) void name(const int* required, int* provided,            \
                                                              int* error) {                                  \
    const int code =                                                                                         \
        convene::interpose::init_thread(nullptr, nullptr, *required, provided, __builtin_return_address(0)); \
    if (error) *error = code;                                                                                \
  }                                                                                                          \
  static_assert(true)
CONVENE_FORTRAN_INIT(mpi_init_);
CONVENE_FORTRAN_INIT(mpi_init_f08_);
CONVENE_FORTRAN_INIT_THREAD(mpi_init_thread_);
CONVENE_FORTRAN_INIT_THREAD(mpi_init_thread_f08_);
