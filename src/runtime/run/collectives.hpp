// SPDX-License-Identifier: BSD-3-Clause
// The collectives of the runtime: one function per line of mpi/collective_table.hpp.
//
// Each function takes the arguments of the MPI function of its name. A form may follow: blocking,
// non-blocking or persistent; without one the call is blocking, and takes the fast path if it repeats an
// earlier one. Count is int or MPI_Count: if the native algorithm is chosen, the function of that width is
// called. Errors go to the communicator's error handler and are returned. No function throws.
#pragma once

#include "mpi/collective_table.hpp"
#include "runtime/call/arguments.hpp"

namespace convene::runtime {

#define CONVENE_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(Count, DisplacementOf<Count>, MpiHandles, name)
#define CONVENE_FUNCTION(Name, name, NAME, PATTERN, ...)    \
  template <class Count>                                    \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER)); \
  template <class Count>                                    \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER), const Form& form);
#define CONVENE_PLAIN_FUNCTION(Name, name, NAME, PATTERN, ...) \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER));    \
  int name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_PARAMETER), const Form& form);
CONVENE_COLLECTIVES(CONVENE_FUNCTION, CONVENE_FUNCTION, CONVENE_PLAIN_FUNCTION)
#undef CONVENE_PLAIN_FUNCTION
#undef CONVENE_FUNCTION
#undef CONVENE_PARAMETER

}  // namespace convene::runtime
