/* SPDX-License-Identifier: BSD-3-Clause */
/* Convene: MPI collectives with an algorithm of your choice.
 *
 * Link with libconvene-<stack> of the MPI that the program is built with (openmpi, mpich, or abi for the
 * standard ABI of MPI 5), or find_package(convene) and link convene::convene-<stack>. An unmodified
 * program needs none of this: `convene run` puts the same algorithms under its MPI calls.
 *
 * Collectives take the arguments of the MPI functions of the same name, have the same semantics, and
 * return MPI's error codes after calling the communicator's error handler. Like MPI's, they may be called
 * from several threads for different communicators (with MPI_THREAD_MULTIPLE). */
#ifndef CONVENE_CONVENE_H
#define CONVENE_CONVENE_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Record of the last collective of Convene's on a communicator. The texts belong to Convene and are valid
 * until the next collective call on that communicator. (Of short calls in quick succession, at least one in
 * 31 is timed: `seconds` is that of the last timed call.) */
typedef struct convene_call_stats {
  const char* algorithm; /* with its parameters, as in CONVENE_USE: "sparbit;send=packed" */
  const char* reason;    /* the reason for the choice: "forced", "rule 2 of rules.json", "default", … */
  double seconds;        /* duration on this rank */
} convene_call_stats;

typedef convene_call_stats convene_account; /* the name before 0.2.0, until the next release */

/* Bytes of memory that Convene holds on this process. */
typedef struct convene_footprint {
  size_t communicator;  /* this communicator's handle, without schedules and without the memory of the MPI */
  size_t programs;      /* schedules of this communicator that are bound to the sizes of calls */
  size_t schedules;     /* all cached schedules of the process */
  size_t cached;        /* number of these schedules */
  int has_communicator; /* 1 if the MPI holds an internal communicator for this one */
} convene_footprint;

/* The version of this library, MAJOR.MINOR.PATCH. */
const char* convene_version(void);

/* The collectives. Those that end in _c take counts of any size, on every stack; but if the native
 * algorithm is chosen and the MPI has no large-count form, a count above INT_MAX is MPI_ERR_COUNT. */

/* Gathers sendcount items of every rank into recvbuf of all ranks (MPI_Allgather). */
int convene_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Allgather_c). */
int convene_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Gathers blocks of different sizes (MPI_Allgatherv): recvcounts[r] items of rank r, displs[r] items from
 * recvbuf on. */
int convene_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Allgatherv_c). */
int convene_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                         MPI_Comm comm);

/* Gathers sendcount items of every rank into recvbuf of the root (MPI_Gather). */
int convene_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
/* The same with counts of any size (MPI_Gather_c). */
int convene_gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* The same with blocks of different sizes (MPI_Gatherv); counts and displacements are significant at the
 * root only. */
int convene_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                    MPI_Comm comm);
/* The same with counts of any size (MPI_Gatherv_c). */
int convene_gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm);

/* Sends every rank its block of the root's sendbuf (MPI_Scatter). */
int convene_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
/* The same with counts of any size (MPI_Scatter_c). */
int convene_scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* The same with blocks of different sizes (MPI_Scatterv); counts and displacements are significant at the
 * root only. */
int convene_scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                     void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
/* The same with counts of any size (MPI_Scatterv_c). */
int convene_scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm);

/* Sends the root's count items to all ranks (MPI_Bcast). */
int convene_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
/* The same with counts of any size (MPI_Bcast_c). */
int convene_bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/* Sends block r of sendbuf to rank r and receives its block into place r of recvbuf (MPI_Alltoall). */
int convene_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Alltoall_c). */
int convene_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The same with blocks of different sizes on both sides (MPI_Alltoallv). */
int convene_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                      void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                      MPI_Comm comm);
/* The same with counts of any size (MPI_Alltoallv_c). */
int convene_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* The same with a datatype for each rank; displacements are in bytes (MPI_Alltoallw). */
int convene_alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
/* The same with counts of any size (MPI_Alltoallw_c). */
int convene_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* Exchanges blocks with the neighbours of the communicator's process topology: sends the own block to all
 * targets, and receives one from each source (MPI_Neighbor_allgather). */
int convene_neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Neighbor_allgather_c). */
int convene_neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The same with blocks of different sizes (MPI_Neighbor_allgatherv). */
int convene_neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                MPI_Comm comm);
/* The same with counts of any size (MPI_Neighbor_allgatherv_c). */
int convene_neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm);

/* Sends a block to each target and receives one from each source (MPI_Neighbor_alltoall). */
int convene_neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Neighbor_alltoall_c). */
int convene_neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The same with blocks of different sizes on both sides (MPI_Neighbor_alltoallv). */
int convene_neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
/* The same with counts of any size (MPI_Neighbor_alltoallv_c). */
int convene_neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* Returns when all ranks have called it (MPI_Barrier). */
int convene_barrier(MPI_Comm comm);

/* Combines count items of all ranks by op, item by item, into recvbuf of the root (MPI_Reduce). */
int convene_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm);
/* The same with counts of any size (MPI_Reduce_c). */
int convene_reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     int root, MPI_Comm comm);

/* The same, into recvbuf of all ranks (MPI_Allreduce). With Convene's algorithms all ranks get the same
 * bits. */
int convene_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm);
/* The same with counts of any size (MPI_Allreduce_c). */
int convene_allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm);

/* Combines the vectors of all ranks, and gives rank r its recvcounts[r] items of the result
 * (MPI_Reduce_scatter). */
int convene_reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm);
/* The same with counts of any size (MPI_Reduce_scatter_c). */
int convene_reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* The same with recvcount items for every rank (MPI_Reduce_scatter_block). */
int convene_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm);
/* The same with counts of any size (MPI_Reduce_scatter_block_c). */
int convene_reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm);

/* Combines the contributions of the ranks up to this one (MPI_Scan). */
int convene_scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/* The same with counts of any size (MPI_Scan_c). */
int convene_scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm);

/* The same without this rank's own contribution (MPI_Exscan); on rank 0 recvbuf is unchanged. */
int convene_exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm);
/* The same with counts of any size (MPI_Exscan_c). */
int convene_exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm);

/* Non-blocking collectives. The request is accepted by all calls of the MPI (MPI_Wait, MPI_Testsome, …),
 * together with native requests. It progresses inside MPI calls; if the MPI has no progress hook (MPICH),
 * inside those that wait for or test the request. (With the MPI names and the drop-in library, also inside
 * sends, receives and probes: see the guide, "Non-blocking collectives", for the exceptions.) If neither
 * is possible (the standard ABI without the drop-in library), the native algorithms run. */
int convene_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Request* request);
int convene_iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                          MPI_Comm comm, MPI_Request* request);
int convene_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);
int convene_igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      MPI_Request* request);
int convene_igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm, MPI_Request* request);
int convene_igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Request* request);
int convene_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);
int convene_iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       MPI_Request* request);
int convene_iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                      MPI_Request* request);
int convene_iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                        int root, MPI_Comm comm, MPI_Request* request);
int convene_ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int convene_ibcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                     MPI_Request* request);
int convene_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Request* request);
int convene_ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                       const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                       MPI_Request* request);
int convene_ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                         MPI_Request* request);
int convene_ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Request* request);
int convene_ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Request* request);
int convene_ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
int convene_ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Request* request);
int convene_ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request* request);
int convene_ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Request* request);
int convene_ibarrier(MPI_Comm comm, MPI_Request* request);
/* Non-blocking reductions. Without the drop-in library an operator must not be freed before the request is
 * complete. */
int convene_ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Request* request);
int convene_ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      int root, MPI_Comm comm, MPI_Request* request);
int convene_iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Request* request);
int convene_iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, MPI_Request* request);
int convene_ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm, MPI_Request* request);
int convene_ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int convene_ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm, MPI_Request* request);
int convene_ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                    MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int convene_iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request);
int convene_iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request);
int convene_iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request);
int convene_iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, MPI_Request* request);

/* Persistent collective: created once, by all ranks in the same order, and started any number of times. On
 * each rank operations may be started in any order, except native ones, which must be started in the same
 * order on all ranks. */
typedef struct convene_operation_of* convene_operation;

/* Creates a persistent collective (like MPI_Allgather_init of MPI 4, but on every stack); buffers, arrays,
 * datatypes and the operator belong to the caller and must stay valid. May wait for the other ranks. */
int convene_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm, convene_operation* operation);
int convene_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             convene_operation* operation);
int convene_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                            convene_operation* operation);
int convene_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm, convene_operation* operation);
int convene_gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        convene_operation* operation);
int convene_gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          convene_operation* operation);
int convene_gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                         MPI_Comm comm, convene_operation* operation);
int convene_gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                           int root, MPI_Comm comm, convene_operation* operation);
int convene_scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         convene_operation* operation);
int convene_scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           convene_operation* operation);
int convene_scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                          int root, MPI_Comm comm, convene_operation* operation);
int convene_scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                            MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            int root, MPI_Comm comm, convene_operation* operation);
int convene_bcast_init(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                       convene_operation* operation);
int convene_bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         convene_operation* operation);
int convene_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm, convene_operation* operation);
int convene_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            convene_operation* operation);
int convene_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm, convene_operation* operation);
int convene_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             convene_operation* operation);
int convene_alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                           convene_operation* operation);
int convene_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                             convene_operation* operation);
int convene_neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                    convene_operation* operation);
int convene_neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, convene_operation* operation);
int convene_neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                     MPI_Comm comm, convene_operation* operation);
int convene_neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                       MPI_Datatype recvtype, MPI_Comm comm, convene_operation* operation);
int convene_neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                   convene_operation* operation);
int convene_neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                     convene_operation* operation);
int convene_neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                    convene_operation* operation);
int convene_neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                      const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, convene_operation* operation);
int convene_barrier_init(MPI_Comm comm, convene_operation* operation);
int convene_reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
                        MPI_Comm comm, convene_operation* operation);
int convene_reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          int root, MPI_Comm comm, convene_operation* operation);
int convene_allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, convene_operation* operation);
int convene_allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm, convene_operation* operation);
int convene_reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm, convene_operation* operation);
int convene_reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                  MPI_Datatype type, MPI_Op op, MPI_Comm comm, convene_operation* operation);
int convene_reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type,
                                      MPI_Op op, MPI_Comm comm, convene_operation* operation);
int convene_reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                        convene_operation* operation);
int convene_scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, convene_operation* operation);
int convene_scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, convene_operation* operation);
int convene_exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, convene_operation* operation);
int convene_exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, convene_operation* operation);

/* Starts the operation: from here on it is a non-blocking collective with that request, which must be
 * complete before the next start. */
int convene_start(convene_operation operation, MPI_Request* request);

/* Frees an operation that is not running, and sets it to NULL. Both return MPI_ERR_ARG if there is none. */
int convene_free(convene_operation* operation);

/* Declared phases: the progress of the computation before a collective, so that the collective can be
 * scheduled by the ranks' expected arrivals, and can run as far as possible before it is called.
 *
 *   convene_use(comm, "allgather=bdr");
 *   convene_allgather_init(..., comm, &operation);
 *   convene_phase_init(operation, 0);
 *   for (...) {
 *     convene_phase_begin(operation);
 *     compute_one_half();
 *     convene_phase_edge(operation, 0.5);
 *     compute_the_other_half();
 *     convene_phase_end(operation);
 *     convene_start(operation, &request);
 *     MPI_Wait(&request, MPI_STATUS_IGNORE);
 *   }
 *
 * The rank's contribution may be changed until convene_phase_end (or convene_start, if no phase is open);
 * the result is written between convene_start and the end of the request, never before. With an algorithm
 * that uses no forecast the declarations have no effect. A rank may omit declarations in any run: the
 * others then wait until it starts the operation. All four return MPI_SUCCESS, or MPI_ERR_ARG without any
 * effect: convene_error() then returns the reason. */

/* Declares that phases precede an operation. All ranks of its communicator call it, in the same order for
 * several operations; it waits for them. `round_seconds`: the time to send one block (of a reduction: one
 * segment of the vector) and to receive another at the same time; 0: Convene measures it. If the values
 * differ, the greatest is used. */
int convene_phase_init(convene_operation operation, double round_seconds);

/* Declares that the computation begins. */
int convene_phase_begin(convene_operation operation);

/* Declares that the part `fraction` of the computation is done, above 0 and at most 1: 0.5 is one half.
 * The first edge of a phase sends the others a forecast of this rank's arrival; without edges, the
 * forecast uses the durations of earlier phases. */
int convene_phase_edge(convene_operation operation, double fraction);

/* Declares that the computation is over, and the contribution complete. */
int convene_phase_end(convene_operation operation);

/* Chooses the algorithms on this communicator, instead of CONVENE_USE and CONVENE_RULES: for example
 * "allgather=sparbit;send=packed,allgatherv=ring"; collectives that are not named run natively. All ranks
 * must pass the same text. Returns MPI_SUCCESS, or MPI_ERR_ARG without any effect: convene_error() then
 * returns the reason. */
int convene_use(MPI_Comm comm, const char* uses);

/* Sets the expected arrival of each rank in the blocking collectives that follow on this communicator:
 * seconds[r] after a moment that is the same for all, such as the end of the last step. It holds until the
 * next call; NULL: not known. Algorithms that use forecasts build their schedules from it; others ignore
 * it. All ranks must pass the same numbers. It does not wait; the next call of each size that uses the
 * forecast for the first time does, to measure the duration of a round. A wrong forecast costs time and
 * nothing else. Returns MPI_SUCCESS, or MPI_ERR_ARG without any effect. */
int convene_expect(MPI_Comm comm, const double seconds[]);

/* The reason why the last convene_use(), convene_expect(), convene_phase_…(), convene_start() or
 * convene_free() of this thread was rejected: one sentence. */
const char* convene_error(void);

/* Fills in the record of the last collective on this communicator. Returns MPI_ERR_ARG if there was none. */
int convene_last(MPI_Comm comm, convene_call_stats* stats);

/* Fills in the memory that Convene holds. Returns MPI_ERR_ARG for MPI_COMM_NULL, and before MPI_Init or
 * after MPI_Finalize. */
int convene_memory(MPI_Comm comm, convene_footprint* footprint);

#ifdef __cplusplus
}
#endif

#endif
