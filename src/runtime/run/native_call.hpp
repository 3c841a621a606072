// SPDX-License-Identifier: BSD-3-Clause
// Native collectives, by width of their counts and by form of the call.
//
// CONVENE_NATIVE(Allgather, allgather, ALL) calls MPI_Allgather(_c), or, by the form, MPI_Iallgather(_c) or
// MPI_Allgather_init(_c). Large counts are narrowed if the MPI lacks the form; a count above INT_MAX is then
// MPI_ERR_COUNT. A call of the program goes to the next definition, one of Convene's own to PMPI.
#pragma once

#include <climits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "mpi/collective_table.hpp"
#include "mpi/functions.hpp"
#include "mpi/next_symbol.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/call/neighbors.hpp"

namespace convene::runtime::native_calls {

/// What an array of counts has an entry for: each rank (of the other group, between two groups); each rank of
/// the own group, in any case; each source or target of a neighborhood.
enum class Entries : std::uint8_t { ranks, own_group, sources, targets };

/// Of the array of counts or displacements with that index among the call's.
constexpr Entries entries_of(Collective collective, unsigned array) {
  const CollectiveTraits& of = traits(collective);
  if (of.shares_counts) return Entries::own_group;
  if (!is_neighborhood(collective)) return Entries::ranks;
  return of.send.counts > Counts::one && array < 2 ? Entries::targets : Entries::sources;
}

/// An argument that is significant at the root only: elsewhere it is undefined, and must not be narrowed.
template <class Count, class Value>
Value at_root(MPI_Comm comm, int root, Value value) {
  if constexpr (std::is_same_v<Count, int>) return value;
  int inter = 0, rank = 0;
  if (root == MPI_ROOT || pmpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS) return value;
  pmpi.Comm_rank(comm, &rank);
  return !inter && rank == root ? value : Value();
}

/// Arguments of the large form, converted to the narrow form.
class Narrowing {
 public:
  Narrowing(MPI_Comm comm, Collective collective) : comm_(comm), collective_(collective) {}

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

  /// All other arguments are unchanged.
  template <class Value>
  Value operator()(Value value) {
    return value;
  }

  bool fits() const { return fits_; }
  bool has_arrays() const { return used_ > 0; }

 private:
  std::size_t number_of(Entries entries) const {
    int inter = 0, procs = 0;
    if (pmpi.Comm_test_inter(comm_, &inter) != MPI_SUCCESS) return 0;
    (inter && entries == Entries::ranks ? pmpi.Comm_remote_size : pmpi.Comm_size)(comm_, &procs);
    if (!is_neighborhood(collective_)) return static_cast<std::size_t>(procs);
    int rank = 0;
    pmpi.Comm_rank(comm_, &rank);
    const auto own = own_neighbors(comm_, static_cast<Rank>(rank), static_cast<Rank>(procs));
    if (!own) return 0;
    return (entries == Entries::targets ? own->targets : own->sources)[static_cast<Rank>(rank)].size();
  }

  template <class Value>
  const int* narrow(const Value* values) {
    const unsigned array = used_++;
    if (!values) return nullptr;
    auto& made = arrays_[array];
    const std::size_t entries = number_of(entries_of(collective_, array));
    for (std::size_t i = 0; i < entries; ++i) made.push_back((*this)(static_cast<MPI_Count>(values[i])));
    return made.data();
  }

  MPI_Comm comm_;
  Collective collective_;
  bool fits_ = true;
  std::vector<int> arrays_[4];
  unsigned used_ = 0;
};

/// Calls the narrow form with narrowed arguments. A request's arrays must outlive the call: they are kept
/// until the end of the process, since the MPI does not report when it is done with them.
template <class Function, class... Arguments>
int narrowed(MPI_Comm comm, Collective collective, bool is_kept, Function&& function,
             Arguments... arguments) {
  std::unique_ptr<Narrowing> narrowing;
  const auto narrow_all = [&](auto... narrow) {
    if (narrowing->fits()) return function(narrow...);
    pmpi.Comm_call_errhandler(comm, MPI_ERR_COUNT);
    return static_cast<int>(MPI_ERR_COUNT);
  };
  return guarded(comm, [&] {
    narrowing = std::make_unique<Narrowing>(comm, collective);
    // Braces: arrays are narrowed in their order.
    const int code = std::apply(narrow_all, std::tuple{(*narrowing)(arguments)...});
    if (is_kept && narrowing->has_arrays()) static_cast<void>(narrowing.release());
    return code;
  });
}

/// The native persistent operation. `name` is the MPI_ name.
template <class... Arguments>
int persistent(const char* name, MPI_Comm comm, const Form& form, Arguments... arguments) {
  using Function = int (*)(Arguments..., MPI_Info, MPI_Request*);
  if (const auto function = reinterpret_cast<Function>(next_symbol(name, nullptr)))
    return function(arguments..., *form.info, form.request);
  pmpi.Comm_call_errhandler(comm, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

/// The table of functions for a call in that form.
inline const CollectiveFunctions& functions(const Form& form) {
  return form.is_internal ? static_cast<const CollectiveFunctions&>(pmpi) : next_mpi;
}

}  // namespace convene::runtime::native_calls

#if CONVENE_LARGE_COUNTS
#define CONVENE_NATIVE_LARGE(functions, function, ...) \
  if ((functions).function##_c) return (functions).function##_c(__VA_ARGS__)
#else
#define CONVENE_NATIVE_LARGE(functions, function, ...) static_cast<void>(0)
#endif

// Arguments that are significant at the root only are not narrowed elsewhere.
#define CONVENE_NATIVE_INPUT(name) name
#define CONVENE_NATIVE_OUTPUT(name) name
#define CONVENE_NATIVE_COUNT(name) name
#define CONVENE_NATIVE_COUNTS(name) name
#define CONVENE_NATIVE_DISPLACEMENTS(name) name
#define CONVENE_NATIVE_ROOT_COUNT(name) native_calls::at_root<Count>(comm, root, name)
#define CONVENE_NATIVE_ROOT_COUNTS(name) native_calls::at_root<Count>(comm, root, name)
#define CONVENE_NATIVE_ROOT_DISPLACEMENTS(name) native_calls::at_root<Count>(comm, root, name)
#define CONVENE_NATIVE_TYPE(name) name
#define CONVENE_NATIVE_TYPES(name) name
#define CONVENE_NATIVE_SEND_TYPES(name) name
#define CONVENE_NATIVE_OP(name) name
#define CONVENE_NATIVE_ROOT(name) name
#define CONVENE_NATIVE_COMM(name) name
#define CONVENE_NATIVE_ARGUMENT(KIND, name) CONVENE_NATIVE_##KIND(name)

/// A function of a form that makes the native call with counts of type `Count`.
#define CONVENE_NATIVE(Name, name, PATTERN) \
  CONVENE_NATIVE_CALL(name, Name, I##name, CONVENE_ARGUMENTS_##PATTERN(CONVENE_NATIVE_ARGUMENT))
#define CONVENE_NATIVE_CALL(name, blocking, nonblocking, ...)                                                \
  [=](const Form& as) CONVENE_INLINE -> int {                                                                \
    if constexpr (std::is_same_v<Count, int>) {                                                              \
      if (as.info) return native_calls::persistent("MPI_" #blocking "_init", comm, as, __VA_ARGS__);         \
      return as.request ? native_calls::functions(as).nonblocking(__VA_ARGS__, as.request)                   \
                        : next_mpi.blocking(__VA_ARGS__);                                                    \
    } else {                                                                                                 \
      if (as.info) return native_calls::persistent("MPI_" #blocking "_init_c", comm, as, __VA_ARGS__);       \
      if (as.request) {                                                                                      \
        CONVENE_NATIVE_LARGE(native_calls::functions(as), nonblocking, __VA_ARGS__, as.request);             \
        return native_calls::narrowed(comm, Collective::name, true, native_calls::functions(as).nonblocking, \
                                      __VA_ARGS__, as.request);                                              \
      }                                                                                                      \
      CONVENE_NATIVE_LARGE(next_mpi, blocking, __VA_ARGS__);                                                 \
      return native_calls::narrowed(comm, Collective::name, false, next_mpi.blocking, __VA_ARGS__);          \
    }                                                                                                        \
  }
