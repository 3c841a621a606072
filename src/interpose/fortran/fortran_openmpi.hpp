// SPDX-License-Identifier: BSD-3-Clause
// Fortran under Open MPI. Its bindings call PMPI_ functions directly, so a Fortran program never reaches the
// C names, and the Fortran names are wrapped: mpif.h and `use mpi` call mpi_x_ (in four spellings, by
// compiler), `use mpi_f08` calls mpi_x_f08_. Both pass everything by address; handles are integers, and
// MPI_IN_PLACE and MPI_BOTTOM are the addresses of two common blocks. (For MPICH's bindings see
// interpose/fortran/stack_mpich_family_2008.cpp.)
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "interpose/fortran/fortran_requests.hpp"
#include "interpose/interposition.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/call/failure.hpp"

namespace convene::interpose::fortran {

/// The address of a common block of Open MPI, in any of its spellings. Several libraries define it, and if
/// they were loaded privately (by Python, for example) the calling module may see another definition than
/// other modules.
class CommonBlock {
 public:
  explicit CommonBlock(const char* const (&spellings)[4]) {
    for (const char* spelling : spellings)
      for (const void* address :
           {dlsym(RTLD_DEFAULT, spelling), mpi_symbol(spelling), symbol_seen_by(recorder::caller, spelling)})
        if (address && count_ < std::size(addresses_)) addresses_[count_++] = address;
  }
  bool is_at(const void* address) const {
    return std::find(addresses_, addresses_ + count_, address) != addresses_ + count_;
  }

 private:
  const void* addresses_[12];
  std::size_t count_ = 0;
};

/// The C form of a buffer, as seen by the calling module.
inline void* translated(const void* buffer) {
  static const CommonBlock in_place(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  static const CommonBlock bottom(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (in_place.is_at(buffer)) return MPI_IN_PLACE;
  if (bottom.is_at(buffer)) return MPI_BOTTOM;
  return const_cast<void*>(buffer);
}

inline void give_back(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

}  // namespace convene::interpose::fortran

static_assert(sizeof(MPI_Fint) == sizeof(int), "counts of Fortran are passed on as C's");

/// Defines one spelling of a function: parameters all by address, their names, and the call of Convene's. If
/// Convene is inactive the call passes through.
#define CONVENE_SPELLING(id, spelling, parameters, names, call)                                             \
  extern "C" void convene_fortran_##id parameters __asm__(spelling) __attribute__((visibility("default"))); \
  extern "C" void convene_fortran_##id parameters {                                                         \
    if (!is_active()) [[unlikely]] {                                                                        \
      static constinit NextFunction<void(*) parameters> next(spelling);                                     \
      return next.get(__builtin_return_address(0)) names;                                                   \
    }                                                                                                       \
    recorder::note_caller(__builtin_return_address(0));                                                     \
    give_back(ierror, call);                                                                                \
  }
#define CONVENE_FORTRAN(name, capitals, parameters, names, call)               \
  CONVENE_SPELLING(name##_plain, "mpi_" #name, parameters, names, call)        \
  CONVENE_SPELLING(name##_one, "mpi_" #name "_", parameters, names, call)      \
  CONVENE_SPELLING(name##_two, "mpi_" #name "__", parameters, names, call)     \
  CONVENE_SPELLING(name##_capitals, "MPI_" #capitals, parameters, names, call) \
  CONVENE_SPELLING(name##_f08, "mpi_" #name "_f08_", parameters, names, call)

#define CONVENE_FORTRAN_LIST(...) __VA_ARGS__

/// Defines a collective's three forms: mpi_<name>, mpi_i<name> and mpi_<name>_init. `names` and `arguments`
/// in parentheses are the blocking form's: as received, and in the runtime's types; then its parameters, all
/// without ierror. The conversion to the runtime's types may lack memory: guarded() makes that an error code.
#define CONVENE_FORTRAN_FORMS(name, capitals, names, arguments, ...)                                      \
  CONVENE_FORTRAN(name, capitals, (__VA_ARGS__, MPI_Fint * ierror), (CONVENE_FORTRAN_LIST names, ierror), \
                  guarded(comm_of(*comm), [&] { return name arguments; }))                                \
  CONVENE_FORTRAN(i##name, I##capitals, (__VA_ARGS__, MPI_Fint * request, MPI_Fint * ierror),             \
                  (CONVENE_FORTRAN_LIST names, request, ierror), guarded(comm_of(*comm), [&] {            \
                    return name(CONVENE_FORTRAN_LIST arguments, RequestOf(request).form());               \
                  }))                                                                                     \
  CONVENE_FORTRAN(name##_init, capitals##_INIT,                                                           \
                  (__VA_ARGS__, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),               \
                  (CONVENE_FORTRAN_LIST names, info, request, ierror), guarded(comm_of(*comm), [&] {      \
                    return name(CONVENE_FORTRAN_LIST arguments, RequestOf(request).form(info_of(*info))); \
                  }))
