/* SPDX-License-Identifier: BSD-3-Clause */
/* Convene: MPI collectives by an algorithm of your choice.
 *
 * Link with libconvene-<stack> of the MPI that the program is built with (openmpi, mpich, or abi for the standard ABI of
 * MPI 5), or find_package(convene) and link convene::convene-<stack>. An unmodified program needs none of this:
 * `convene run` puts the same algorithms under its MPI calls.
 *
 * Collectives take the arguments of the MPI functions of the same name, mean the same, and return MPI's error codes
 * after they went to the communicator's error handler. They may be called from several threads for different
 * communicators (if the MPI gives MPI_THREAD_MULTIPLE), like MPI's. */
#ifndef CONVENE_CONVENE_H
#define CONVENE_CONVENE_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the last collective of Convene's did on a communicator. The texts belong to Convene and are valid until the
 * next collective call on that communicator. */
typedef struct convene_account {
  const char* algorithm; /* with its parameters, as one would ask for it: "sparbit;send=packed" */
  const char* reason;    /* why it was chosen: "forced", "rule 2 of rules.json", "default", … */
  double seconds;        /* how long the call took on this rank */
} convene_account;

/* Bytes of memory that Convene holds on this process. */
typedef struct convene_footprint {
  size_t
      communicator; /* this communicator's handle, without schedules and without what the MPI itself holds */
  size_t programs;  /* schedules of this communicator that are bound to the sizes of calls */
  size_t schedules; /* all cached schedules of the process */
  size_t cached;    /* how many schedules these are */
  int has_communicator; /* whether the MPI holds a further communicator for this one */
} convene_footprint;

/* The version of this library, "0.1.0". */
const char* convene_version(void);

/* Gathers sendcount items of every rank into recvbuf of all ranks (MPI_Allgather). */
int convene_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);

/* Likewise with counts of any size (MPI_Allgather_c); on every stack, but where Convene is to use the MPI's own
 * algorithm and the MPI has no large-count form, a count above INT_MAX is MPI_ERR_COUNT. */
int convene_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Gathers blocks of different sizes (MPI_Allgatherv): recvcounts[r] items of rank r, displs[r] items from recvbuf on. */
int convene_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);

/* Likewise with counts and displacements of any size (MPI_Allgatherv_c). */
int convene_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                         MPI_Comm comm);

/* Chooses the algorithms on this communicator, instead of CONVENE_USE and CONVENE_RULES: for example
 * "allgather=sparbit;send=packed,allgatherv=ring"; what is not named runs as the MPI's own. All ranks must give the same
 * text. Returns MPI_SUCCESS, or MPI_ERR_ARG and leaves everything as it was: convene_error() then says why. */
int convene_use(MPI_Comm comm, const char* uses);

/* Why the last convene_use() of this thread was refused: one sentence. */
const char* convene_error(void);

/* Fills in what the last collective on this communicator did. Returns MPI_ERR_ARG where there was none. */
int convene_last(MPI_Comm comm, convene_account* account);

/* Fills in how much memory Convene holds. Returns MPI_ERR_ARG for a communicator that has no handle. */
int convene_memory(MPI_Comm comm, convene_footprint* footprint);

#ifdef __cplusplus
}
#endif

#endif
