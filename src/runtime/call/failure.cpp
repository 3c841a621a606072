// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/failure.hpp"

#include <atomic>
#include <cstdio>
#include <new>

#include "base/error.hpp"

namespace convene::runtime {
namespace {

/// Without an allocation, since memory may be exhausted.
void print_once(std::atomic_flag& is_printed, const char* what, const char* remedy) {
  if (is_printed.test_and_set()) return;
  int rank = 0;
  if (pmpi.Comm_rank) pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "convene: rank %d: %s; %s\n", rank, what, remedy);
}

constexpr const char* remedy_for_calls = "the call fails, and so do later collectives on its communicator";

}  // namespace

int code_of_exception() noexcept {
  static std::atomic_flag of_memory = ATOMIC_FLAG_INIT, of_requests = ATOMIC_FLAG_INIT,
                          of_others = ATOMIC_FLAG_INIT;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    print_once(of_memory, "out of memory (MPI_ERR_NO_MEM)", remedy_for_calls);
    return MPI_ERR_NO_MEM;
  } catch (const Error& error) {
    print_once(of_requests, error.what(), remedy_for_calls);
    return MPI_ERR_ARG;
  } catch (const std::exception& error) {
    print_once(of_others, error.what(), remedy_for_calls);
    return MPI_ERR_OTHER;
  } catch (...) {
    print_once(of_others, "unknown exception", remedy_for_calls);
    return MPI_ERR_OTHER;
  }
}

int report_exception(MPI_Comm comm) {
  const int code = code_of_exception();
  pmpi.Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm, code);
  return code;
}

// A stand-in of that function is for calls whose caller reports what they return.
void report_late(MPI_Comm comm, int code) {
  const auto call =
      reinterpret_cast<decltype(pmpi.Comm_call_errhandler)>(loaded_symbol("PMPI_Comm_call_errhandler"));
  call(comm, code);
}

}  // namespace convene::runtime
