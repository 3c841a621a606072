// SPDX-License-Identifier: BSD-3-Clause
// What a program calls instead of its MPI. Each function carries the MPI's name by an assembler label, since mpi.h
// declares the same name with other types (HandleWord says why they differ).
#include <mutex>

#include "interpose/door.hpp"
#include "runtime/collectives.hpp"

namespace convene {
namespace {

/// The MPI's own function of the same arguments, for calls that pass by. It exists: the program is linked with it.
template <class Function>
Function* beyond(const char* name) {
  return reinterpret_cast<Function*>(mpi_symbol(name));
}

template <class Count>
int pass_allgather(const char* name, const void* sendbuf, Count sendcount, HandleWord sendtype, void* recvbuf,
                   Count recvcount, HandleWord recvtype, HandleWord comm) {
  if (!door_is_open())
    return beyond<int(const void*, Count, HandleWord, void*, Count, HandleWord, HandleWord)>(name)(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  return allgather(sendbuf, sendcount, from_word<MPI_Datatype>(sendtype), recvbuf, recvcount,
                   from_word<MPI_Datatype>(recvtype), from_word<MPI_Comm>(comm));
}

template <class Count>
int pass_allgatherv(const char* name, const void* sendbuf, Count sendcount, HandleWord sendtype,
                    void* recvbuf, const Count* recvcounts, const DisplacementOf<Count>* displs,
                    HandleWord recvtype, HandleWord comm) {
  if (!door_is_open())
    return beyond<int(const void*, Count, HandleWord, void*, const Count*, const DisplacementOf<Count>*,
                      HandleWord, HandleWord)>(name)(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                     displs, recvtype, comm);
  return allgatherv(sendbuf, sendcount, from_word<MPI_Datatype>(sendtype), recvbuf, recvcounts, displs,
                    from_word<MPI_Datatype>(recvtype), from_word<MPI_Comm>(comm));
}

}  // namespace
}  // namespace convene

#define CONVENE_EXPORT(mpi_name) __asm__(mpi_name) __attribute__((visibility("default")))

using convene::HandleWord;

extern "C" {

int convene_entry_allgather(const void*, int, HandleWord, void*, int, HandleWord, HandleWord)
    CONVENE_EXPORT("MPI_Allgather");
int convene_entry_allgather(const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf,
                            int recvcount, HandleWord recvtype, HandleWord comm) {
  return convene::pass_allgather("PMPI_Allgather", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                 comm);
}

int convene_entry_allgatherv(const void*, int, HandleWord, void*, const int*, const int*, HandleWord,
                             HandleWord) CONVENE_EXPORT("MPI_Allgatherv");
int convene_entry_allgatherv(const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf,
                             const int* recvcounts, const int* displs, HandleWord recvtype, HandleWord comm) {
  return convene::pass_allgatherv("PMPI_Allgatherv", sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                  displs, recvtype, comm);
}

#if MPI_VERSION >= 4

int convene_entry_allgather_c(const void*, MPI_Count, HandleWord, void*, MPI_Count, HandleWord, HandleWord)
    CONVENE_EXPORT("MPI_Allgather_c");
int convene_entry_allgather_c(const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
                              MPI_Count recvcount, HandleWord recvtype, HandleWord comm) {
  return convene::pass_allgather("PMPI_Allgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                 recvtype, comm);
}

int convene_entry_allgatherv_c(const void*, MPI_Count, HandleWord, void*, const MPI_Count*, const MPI_Aint*,
                               HandleWord, HandleWord) CONVENE_EXPORT("MPI_Allgatherv_c");
int convene_entry_allgatherv_c(const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
                               const MPI_Count* recvcounts, const MPI_Aint* displs, HandleWord recvtype,
                               HandleWord comm) {
  return convene::pass_allgatherv("PMPI_Allgatherv_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                  displs, recvtype, comm);
}

#endif

}  // extern "C"
