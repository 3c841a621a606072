// SPDX-License-Identifier: BSD-3-Clause
// Macros that define the functions of an MPI collective. Each carries the MPI's name by an assembler label, since mpi.h
// declares the same name with other types (HandleWord says why they differ).
#pragma once

#include "interpose/interposition.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/caller.hpp"

namespace convene::interpose::entry {

inline MPI_Datatype type_of(HandleWord word) { return from_word<MPI_Datatype>(word); }
inline MPI_Op op_of(HandleWord word) { return from_word<MPI_Op>(word); }
inline MPI_Comm comm_of(HandleWord word) { return from_word<MPI_Comm>(word); }

/// The form of a persistent call, as long as the call takes.
class Init {
 public:
  Init(HandleWord info, MPI_Request* request) : info_(from_word<MPI_Info>(info)), request_(request) {}
  Form form() const { return {.request = request_, .info = &info_}; }

 private:
  const MPI_Info info_;
  MPI_Request* request_;
};

}  // namespace convene::interpose::entry

/// Defines one MPI function: its name, its parameters, its arguments as they came (for an MPI that passes by; it exists
/// there, since the program is linked with it), and the call of Convene's.
#define CONVENE_ENTRY(name, parameters, as_they_came, call) \
  CONVENE_ENTRY_IF(true, name, parameters, as_they_came, call)

/// Likewise; where the condition does not hold the MPI has its own words for that.
#define CONVENE_ENTRY_IF(condition, name, parameters, as_they_came, call)                       \
  extern "C" int convene_entry_##name parameters __asm__("MPI_" #name)                          \
      __attribute__((visibility("default")));                                                   \
  extern "C" int convene_entry_##name parameters {                                              \
    if (!convene::interpose::is_active() || !(condition))                                       \
      return reinterpret_cast<int(*) parameters>(convene::interpose::mpi_symbol("PMPI_" #name)) \
          as_they_came;                                                                         \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));                       \
    return convene::interpose::call;                                                            \
  }

#define CONVENE_LIST(...) __VA_ARGS__

/// Defines a collective's three forms: MPI_<Name>, MPI_I<name> and MPI_<Name>_init, each with the suffix (_c or nothing).
/// The blocking form's arguments as they came, and as Convene takes them; the last argument are its parameters.
#define CONVENE_FORMS(Name, name, suffix, as_they_came, arguments, ...)                       \
  CONVENE_ENTRY(Name##suffix, (__VA_ARGS__), as_they_came, name arguments)                    \
  CONVENE_ENTRY_IF(request != nullptr, I##name##suffix, (__VA_ARGS__, MPI_Request * request), \
                   (CONVENE_LIST as_they_came, request),                                      \
                   name(CONVENE_LIST arguments, convene::interpose::Form{request}))           \
  CONVENE_ENTRY_IF(request != nullptr, Name##_init##suffix,                                   \
                   (__VA_ARGS__, HandleWord info, MPI_Request * request),                     \
                   (CONVENE_LIST as_they_came, info, request),                                \
                   name(CONVENE_LIST arguments, convene::interpose::entry::Init(info, request).form()))

/// Likewise in both widths, where the stack has large counts; `PARAMETERS(Count, Displacement)` are the parameters.
#if MPI_VERSION >= 4
#define CONVENE_COLLECTIVE(Name, name, PARAMETERS, as_they_came, arguments)  \
  CONVENE_FORMS(Name, name, , as_they_came, arguments, PARAMETERS(int, int)) \
  CONVENE_FORMS(Name, name, _c, as_they_came, arguments, PARAMETERS(MPI_Count, MPI_Aint))
#else
#define CONVENE_COLLECTIVE(Name, name, PARAMETERS, as_they_came, arguments) \
  CONVENE_FORMS(Name, name, , as_they_came, arguments, PARAMETERS(int, int))
#endif
