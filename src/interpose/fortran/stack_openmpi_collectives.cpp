// SPDX-License-Identifier: BSD-3-Clause
// Collectives in Fortran under Open MPI; interpose/fortran/fortran_openmpi.hpp explains why they are needed.
#include <mutex>
#include <set>
#include <vector>

#include "interpose/fortran/fortran_openmpi.hpp"
#include "interpose/free_operator.hpp"
#include "mpi/collective_table.hpp"
#include "runtime/run/collectives.hpp"

namespace convene::interpose {
using namespace fortran;
namespace {

/// An array of datatypes with one entry per peer, as C has it; null for a null one. It stays until the
/// process ends, since MPI does not report when it has done with it. Equal arrays are kept once. Throws
/// std::bad_alloc.
const MPI_Datatype* types_of(const MPI_Fint* indices, const MPI_Fint* comm_index) {
  const MPI_Comm comm = comm_of(*comm_index);
  if (!indices || comm == MPI_COMM_NULL) return nullptr;
  int inter = 0, peers = 0;
  pmpi.Comm_test_inter(comm, &inter);
  (inter ? pmpi.Comm_remote_size : pmpi.Comm_size)(comm, &peers);
  std::vector<MPI_Datatype> types;
  for (int peer = 0; peer < peers; ++peer) types.push_back(type_of(indices[peer]));
  static std::mutex mutex;
  static auto& kept =
      *new std::set<std::vector<MPI_Datatype>>;  // never freed: programs finalize in odd orders
  const std::lock_guard lock(mutex);
  return kept.insert(std::move(types)).first->data();
}

}  // namespace

// The declaration of an argument in Fortran, and the argument in the runtime's type.
#define CONVENE_FORTRAN_INPUT(name) const void* name
#define CONVENE_FORTRAN_OUTPUT(name) void* name
#define CONVENE_FORTRAN_COUNT(name) const MPI_Fint* name
#define CONVENE_FORTRAN_COUNTS CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_DISPLACEMENTS CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_ROOT_COUNT CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_ROOT_COUNTS CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_ROOT_DISPLACEMENTS CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_TYPE CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_TYPES CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_SEND_TYPES CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_OP CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_ROOT CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_COMM CONVENE_FORTRAN_COUNT
#define CONVENE_FORTRAN_PARAMETER(KIND, name) CONVENE_FORTRAN_##KIND(name)

#define CONVENE_TRANSLATE_INPUT(name) translated(name)
#define CONVENE_TRANSLATE_OUTPUT(name) translated(name)
#define CONVENE_TRANSLATE_COUNT(name) *name
#define CONVENE_TRANSLATE_COUNTS(name) name
#define CONVENE_TRANSLATE_DISPLACEMENTS(name) name
#define CONVENE_TRANSLATE_ROOT_COUNT(name) *name
#define CONVENE_TRANSLATE_ROOT_COUNTS(name) name
#define CONVENE_TRANSLATE_ROOT_DISPLACEMENTS(name) name
#define CONVENE_TRANSLATE_TYPE(name) type_of(*name)
#define CONVENE_TRANSLATE_TYPES(name) types_of(name, comm)
#define CONVENE_TRANSLATE_SEND_TYPES(name) \
  types_of(translated(sendbuf) == MPI_IN_PLACE ? nullptr : name, comm)
#define CONVENE_TRANSLATE_OP(name) op_of(*name)
#define CONVENE_TRANSLATE_ROOT(name) *name
#define CONVENE_TRANSLATE_COMM(name) comm_of(*name)
#define CONVENE_TRANSLATE(KIND, name) CONVENE_TRANSLATE_##KIND(name)

#define CONVENE_FORTRAN_COLLECTIVE(Name, name, NAME, PATTERN, ...)        \
  CONVENE_FORTRAN_FORMS(name, NAME, (CONVENE_NAMES(PATTERN)),             \
                        (CONVENE_ARGUMENTS_##PATTERN(CONVENE_TRANSLATE)), \
                        CONVENE_ARGUMENTS_##PATTERN(CONVENE_FORTRAN_PARAMETER))
CONVENE_COLLECTIVES(CONVENE_FORTRAN_COLLECTIVE, CONVENE_FORTRAN_COLLECTIVE, CONVENE_FORTRAN_COLLECTIVE)

namespace {

int free_operator(MPI_Fint* index) {
  MPI_Op op = op_of(*index);
  const int code = convene::interpose::free_operator(&op, recorder::caller);
  if (code == MPI_SUCCESS) *index = integer_of_op(op);
  return code;
}

}  // namespace

CONVENE_FORTRAN(op_free, OP_FREE, (MPI_Fint * op, MPI_Fint* ierror), (op, ierror), free_operator(op))

}  // namespace convene::interpose
