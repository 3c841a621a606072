// SPDX-License-Identifier: BSD-3-Clause
// The reductions as Convene runs them: what runtime/call/collectives.hpp is for the other collectives.
#pragma once

#include "runtime/call/arguments.hpp"

namespace convene::runtime {

template <class Count>
int reduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, const Form& form = blocking);

template <class Count>
int allreduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              const Form& form = blocking);

template <class Count>
int reduce_scatter(const void* sendbuf, void* recvbuf, const Count recvcounts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, const Form& form = blocking);

template <class Count>
int reduce_scatter_block(const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, const Form& form = blocking);

template <class Count>
int scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         const Form& form = blocking);

template <class Count>
int exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
           const Form& form = blocking);

}  // namespace convene::runtime
