// SPDX-License-Identifier: BSD-3-Clause
// Handles of Fortran programs: integers. Those of requests may stand for persistent operations of Convene's;
// what is done with them is in interpose/persistent.cpp, as for a C program's.
#pragma once

#include <type_traits>

#include "interpose/persistent.hpp"
#include "mpi/stack.hpp"
#include "runtime/call/arguments.hpp"

namespace convene::interpose::fortran {

/// A handle in the other language: the same number, or translated by the MPI's function.
template <class To, class From>
To translated_handle(From from, const char* function) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    static const auto translate = reinterpret_cast<To (*)(From)>(mpi_symbol(function));
    return translate(from);
  }
}

inline MPI_Comm comm_of(int integer) {
  return translated_handle<MPI_Comm>(integer, stack::comm_from_fortran);
}
inline MPI_Datatype type_of(int integer) {
  return translated_handle<MPI_Datatype>(integer, stack::type_from_fortran);
}
inline MPI_Info info_of(int integer) {
  return translated_handle<MPI_Info>(integer, stack::info_from_fortran);
}
inline MPI_Op op_of(int integer) { return translated_handle<MPI_Op>(integer, stack::op_from_fortran); }
inline int integer_of_op(MPI_Op op) { return translated_handle<int>(op, stack::op_to_fortran); }
inline MPI_Request request_of(int integer) {
  return translated_handle<MPI_Request>(integer, stack::request_from_fortran);
}
inline int integer_of(MPI_Request request) {
  return translated_handle<int>(request, stack::request_to_fortran);
}

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

/// The request of a non-blocking or persistent call: created as a C handle, returned as Fortran's integer.
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
