// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators by `use mpi_f08` under MPICH and its relatives. The MPI's wrappers of mpif.h and
// `use mpi` call the C functions, which interpose/creation.cpp intercepts.
#include "interpose/fortran/fortran_creation.hpp"

using convene::interpose::fortran::Word;

#define CONVENE_FORTRAN_CREATION(name, capitals, parameters, names) \
  CONVENE_CREATION_SPELLING(name##_f08, "mpi_" #name "_f08_", parameters, names)

CONVENE_CREATIONS(CONVENE_FORTRAN_CREATION)
