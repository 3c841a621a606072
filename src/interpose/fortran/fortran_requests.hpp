// SPDX-License-Identifier: BSD-3-Clause
// Requests of Fortran programs: integers, which may stand for persistent operations of Convene's. What is done with them
// is in interpose/persistent.cpp, as for a C program's.
#pragma once

#include "interpose/persistent.hpp"
#include "runtime/call/arguments.hpp"

namespace convene::interpose::fortran {

#if defined(OPEN_MPI)
inline constexpr const char *request_from = "PMPI_Request_f2c", *request_to = "PMPI_Request_c2f";
#elif defined(MPI_ABI_VERSION)
inline constexpr const char *request_from = "PMPI_Request_fromint", *request_to = "PMPI_Request_toint";
#endif

#if defined(OPEN_MPI) || defined(MPI_ABI_VERSION)
inline MPI_Request request_of(int integer) {
  static const auto from = reinterpret_cast<MPI_Request (*)(int)>(mpi_symbol(request_from));
  return from(integer);
}
inline int integer_of(MPI_Request request) {
  static const auto to = reinterpret_cast<int (*)(MPI_Request)>(mpi_symbol(request_to));
  return to(request);
}
#else
inline MPI_Request request_of(int integer) { return integer; }
inline int integer_of(MPI_Request request) { return request; }
#endif

inline int start(int* integer) {
  MPI_Request request = request_of(*integer);
  const int code = start_request(&request);
  *integer = integer_of(request);
  return code;
}

inline int start_all(int count, int* integers) {
  for (int i = 0; i < count; ++i)
    if (const int code = start(integers + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

inline int free_request(int* integer) {
  MPI_Request request = request_of(*integer);
  const int code = convene::interpose::free_request(&request);
  *integer = integer_of(request);
  return code;
}

/// The request of a non-blocking or persistent call: made as C has it, given back as Fortran's integer.
class RequestOf {
 public:
  explicit RequestOf(int* integer) : integer_(integer) {}
  ~RequestOf() { *integer_ = integer_of(request_); }
  Form form() { return {.request = &request_}; }
  /// Of a persistent call.
  Form form(MPI_Info info) {
    info_ = info;
    return {.request = &request_, .info = &info_};
  }

 private:
  int* integer_;
  MPI_Info info_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace convene::interpose::fortran
