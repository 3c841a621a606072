// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/free_operator.hpp"

#include "interpose/interposition.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/failure.hpp"

namespace {

constinit convene::mpi::NextFunction<int (*)(MPI_Op*)> next_op_free("MPI_Op_free");

}  // namespace

int convene::interpose::free_operator(MPI_Op* op, const void* caller) {
  const auto native = next_op_free.get(caller);
  return guarded(MPI_COMM_NULL, [&] { return HeldOperator::free(op, native); });
}

extern "C" int convene_entry_Op_free(MPI_Op* op) __asm__("MPI_Op_free")
    __attribute__((visibility("default")));
extern "C" int convene_entry_Op_free(MPI_Op* op) {
  const void* const caller = __builtin_return_address(0);
  return convene::interpose::is_active() ? convene::interpose::free_operator(op, caller)
                                         : next_op_free.get(caller)(op);
}
