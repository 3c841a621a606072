// SPDX-License-Identifier: BSD-3-Clause
// The collectives as Convene runs them: the arguments that MPI defines, brought into one form.
//
// Each function takes the arguments of the MPI function of its name. Count is int or MPI_Count: where the MPI's own
// algorithm is chosen, the form of that width is called. By its form a call is blocking, non-blocking, or makes a
// persistent operation. Errors go to the communicator's error handler, as from the MPI itself.
#pragma once

#include "runtime/call/arguments.hpp"

namespace convene::runtime {

template <class Count>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
               MPI_Comm comm, const Form& form = blocking);

template <class Count>
int gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype, int root,
            MPI_Comm comm, const Form& form = blocking);

template <class Count>
int scatter(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int scatterv(const void* sendbuf, const Count sendcounts[], const DisplacementOf<Count> displs[],
             MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root,
             MPI_Comm comm, const Form& form = blocking);

template <class Count>
int bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
             MPI_Datatype recvtype, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int alltoallv(const void* sendbuf, const Count sendcounts[], const DisplacementOf<Count> sdispls[],
              MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[],
              const DisplacementOf<Count> rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
              const Form& form = blocking);

template <class Count>
int neighbor_allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, const Form& form = blocking);

template <class Count>
int neighbor_allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
                        MPI_Comm comm, const Form& form = blocking);

int barrier(MPI_Comm comm, const Form& form = blocking);

}  // namespace convene::runtime
