// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own collectives, by width of their counts and by form of the call.
//
// CONVENE_NATIVE(Allgather, Iallgather, comm, ARGUMENTS…) calls MPI_Allgather, MPI_Allgather_c, or, by the form,
// MPI_Iallgather(_c) or MPI_Allgather_init(_c). Where the counts are large and the MPI has no such form, they are narrowed
// as far as an int reaches; else the call is MPI_ERR_COUNT.
#pragma once

#include <climits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mpi/functions.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/neighbors.hpp"

namespace convene::runtime::native_calls {

/// What an array of counts has an entry for: each rank (of the other group, between two groups); each rank of the own
/// group, in any case; each source of a neighborhood.
enum class Entries : std::uint8_t { ranks, own_group, sources };

constexpr Entries entries_of(std::string_view function) {
  if (function.starts_with("Reduce_scatter")) return Entries::own_group;
  return function.starts_with("Neighbor") ? Entries::sources : Entries::ranks;
}

/// An argument that only the root's MPI looks at: elsewhere it may be anything, and is not to be narrowed.
template <class Count, class Value>
Value at_root(MPI_Comm comm, int root, Value value) {
  if constexpr (std::is_same_v<Count, int>) return value;
  int inter = 0, rank = 0;
  if (root == MPI_ROOT || pmpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS) return value;
  pmpi.Comm_rank(comm, &rank);
  return !inter && rank == root ? value : Value();
}

/// Arguments of the large form as the narrow form has them.
class Narrowing {
 public:
  Narrowing(MPI_Comm comm, Entries entries) : comm_(comm), entries_(entries) {}

  int operator()(MPI_Count value) {
    if (value < INT_MIN || value > INT_MAX) fits_ = false;
    return static_cast<int>(value);
  }
  const int* operator()(const MPI_Count* values) { return narrow(values); }
  template <class Value>
  requires(std::is_same_v<Value, MPI_Aint> && !std::is_same_v<Value, MPI_Count>) const int* operator()(
      const Value* values) {
    return narrow(values);
  }

  /// Everything else stays as it is.
  template <class Value>
  Value operator()(Value value) {
    return value;
  }

  bool fits() const { return fits_; }
  bool has_arrays() const { return used_ > 0; }

 private:
  std::size_t number_of_entries() const {
    int inter = 0, procs = 0;
    if (pmpi.Comm_test_inter(comm_, &inter) != MPI_SUCCESS) return 0;
    (inter && entries_ == Entries::ranks ? pmpi.Comm_remote_size : pmpi.Comm_size)(comm_, &procs);
    if (entries_ != Entries::sources) return static_cast<std::size_t>(procs);
    int rank = 0;
    pmpi.Comm_rank(comm_, &rank);
    const auto own = own_neighbors(comm_, static_cast<Rank>(rank), static_cast<Rank>(procs));
    return own ? own->sources[static_cast<Rank>(rank)].size() : 0;
  }

  template <class Value>
  const int* narrow(const Value* values) {
    if (!values) return nullptr;
    auto& made = arrays_[used_++];
    const std::size_t entries = number_of_entries();
    for (std::size_t i = 0; i < entries; ++i) made.push_back((*this)(static_cast<MPI_Count>(values[i])));
    return made.data();
  }

  MPI_Comm comm_;
  Entries entries_;
  bool fits_ = true;
  std::vector<int> arrays_[4];
  unsigned used_ = 0;
};

/// Calls the narrow form with narrowed arguments. A request's arrays must outlive the call: there they are kept until the
/// MPI is finalized, since nobody tells when it is complete.
template <class Function, class... Arguments>
int narrowed(MPI_Comm comm, Entries entries, bool kept, Function&& function, Arguments... arguments) {
  Narrowing* narrowing = new Narrowing(comm, entries);
  const auto call = [&](auto... narrow) {
    if (narrowing->fits()) return function(narrow...);
    pmpi.Comm_call_errhandler(comm, MPI_ERR_COUNT);
    return static_cast<int>(MPI_ERR_COUNT);
  };
  const int code = call((*narrowing)(arguments)...);
  if (!kept || !narrowing->has_arrays()) delete narrowing;
  return code;
}

/// The MPI's own persistent operation, where it has such.
template <class... Arguments>
int persistent(const char* name, MPI_Comm comm, const Form& form, Arguments... arguments) {
  using Function = int (*)(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
  if (const auto function = reinterpret_cast<Function>(mpi_symbol(name)))
    return function(arguments..., comm, *form.info, form.request);
  pmpi.Comm_call_errhandler(comm, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace convene::runtime::native_calls

#if MPI_VERSION >= 4
#define CONVENE_NATIVE_LARGE(function, ...) \
  if (pmpi.function##_c) return pmpi.function##_c(__VA_ARGS__)
#else
#define CONVENE_NATIVE_LARGE(function, ...) static_cast<void>(0)
#endif

/// A function of a form that hands a call with counts of type `Count` to the MPI. The arguments are those before the
/// communicator. (An operation of Convene's own is started in the non-blocking form.)
#define CONVENE_NATIVE(blocking, nonblocking, comm, ...)                                                 \
  [=](const Form& as) -> int {                                                                           \
    if constexpr (std::is_same_v<Count, int>) {                                                          \
      if (as.info) return native_calls::persistent("PMPI_" #blocking "_init", comm, as, __VA_ARGS__);    \
      return as.request ? pmpi.nonblocking(__VA_ARGS__, comm, as.request)                                \
                        : pmpi.blocking(__VA_ARGS__, comm);                                              \
    } else {                                                                                             \
      if (as.info) return native_calls::persistent("PMPI_" #blocking "_init_c", comm, as, __VA_ARGS__);  \
      if (as.request) {                                                                                  \
        CONVENE_NATIVE_LARGE(nonblocking, __VA_ARGS__, comm, as.request);                                \
        return native_calls::narrowed(comm, native_calls::entries_of(#blocking), true, pmpi.nonblocking, \
                                      __VA_ARGS__, comm, as.request);                                    \
      }                                                                                                  \
      CONVENE_NATIVE_LARGE(blocking, __VA_ARGS__, comm);                                                 \
      return native_calls::narrowed(comm, native_calls::entries_of(#blocking), false, pmpi.blocking,     \
                                    __VA_ARGS__, comm);                                                  \
    }                                                                                                    \
  }
