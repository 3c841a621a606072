// SPDX-License-Identifier: BSD-3-Clause
// The collectives as Convene runs them: one call, from the arguments that MPI defines to the executor and the account.
#pragma once

#include <type_traits>

#include "execute/mpi.hpp"

namespace convene {

/// Allgather with the arguments of MPI_Allgather(_c). Count is int or MPI_Count: where the MPI's own algorithm is
/// chosen, the form of that width is called. Errors go to the communicator's error handler, as from the MPI itself.
template <class Count>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm);

/// Displacements are int, or MPI_Aint in the large form.
template <class Count>
using DisplacementOf = std::conditional_t<std::is_same_v<Count, int>, int, MPI_Aint>;

/// Allgatherv with the arguments of MPI_Allgatherv(_c), likewise.
template <class Count>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
               MPI_Comm comm);

}  // namespace convene
