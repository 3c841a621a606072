/* SPDX-License-Identifier: BSD-3-Clause */
/* Bridge between the two halves of Open MPI's component: the C half sees Open MPI's internal headers, the C++
 * half enters the runtime. Neither sees the other's headers. */
#pragma once

#include <mpi.h>

#include "mpi/collective_table.hpp"

/* The arguments of a collective in C: CONVENE_IN_C(KIND, name). */
#define CONVENE_IN_C_INPUT(name) const void* name
#define CONVENE_IN_C_OUTPUT(name) void* name
#define CONVENE_IN_C_COUNT(name) int name
#define CONVENE_IN_C_COUNTS(name) const int* name
#define CONVENE_IN_C_DISPLACEMENTS(name) const int* name
#define CONVENE_IN_C_ROOT_COUNT(name) int name
#define CONVENE_IN_C_ROOT_COUNTS(name) const int* name
#define CONVENE_IN_C_ROOT_DISPLACEMENTS(name) const int* name
#define CONVENE_IN_C_TYPE(name) MPI_Datatype name
#define CONVENE_IN_C_TYPES(name) const MPI_Datatype* name
#define CONVENE_IN_C_SEND_TYPES(name) const MPI_Datatype* name
#define CONVENE_IN_C_OP(name) MPI_Op name
#define CONVENE_IN_C_ROOT(name) int name
#define CONVENE_IN_C_COMM(name) MPI_Comm name
#define CONVENE_IN_C(KIND, name) CONVENE_IN_C_##KIND(name)

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's collectives: blocking, non-blocking, persistent. */
#define CONVENE_ENTER(Name, name, NAME, PATTERN, ...)                                         \
  int convene_enter_##name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C));                        \
  int convene_enter_i##name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Request* request); \
  int convene_enter_##name##_init(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Info info,   \
                                  MPI_Request* request);
CONVENE_COLLECTIVES(CONVENE_ENTER, CONVENE_ENTER, CONVENE_ENTER)
#undef CONVENE_ENTER

/* Prepares the runtime. `stand_in` returns the component's definition of an MPI function, or null. Returns
 * null, or why the component cannot be used. */
const char* convene_open(void* (*stand_in)(const char* name));
/* True if the drop-in library for Open MPI is loaded. */
int convene_has_drop_in(void);
/* At the end of MPI_Init, and at the start of MPI_Finalize. */
void convene_after_init(void);
void convene_before_finalize(void);

/* Starts, and forgets, the request of a persistent operation of Convene's. */
int convene_start_persistent(MPI_Request* request);
void convene_forget_persistent(MPI_Request request);

#ifdef __cplusplus
}
#endif
