// SPDX-License-Identifier: BSD-3-Clause
// Creation of communicators in Fortran under Open MPI, whose forms call PMPI_ functions: all spellings.
#include "interpose/fortran/fortran_creation.hpp"

using convene::interpose::fortran::Word;

#define CONVENE_FORTRAN_CREATION(name, capitals, parameters, names)               \
  CONVENE_CREATION_SPELLING(name##_plain, "mpi_" #name, parameters, names)        \
  CONVENE_CREATION_SPELLING(name##_one, "mpi_" #name "_", parameters, names)      \
  CONVENE_CREATION_SPELLING(name##_two, "mpi_" #name "__", parameters, names)     \
  CONVENE_CREATION_SPELLING(name##_capitals, "MPI_" #capitals, parameters, names) \
  CONVENE_CREATION_SPELLING(name##_f08, "mpi_" #name "_f08_", parameters, names)

CONVENE_CREATIONS(CONVENE_FORTRAN_CREATION)
