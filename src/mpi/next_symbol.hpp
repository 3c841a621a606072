// SPDX-License-Identifier: BSD-3-Clause
// The next definition of an MPI function: what would be called if this library were not loaded. Calls that
// pass through go there, so that a profiling tool behind Convene sees them; Convene's own calls go to `pmpi`.
#pragma once

#include <atomic>

namespace convene::mpi {

/// Address of the next definition of `name`, or null. Searched in this order: behind this library in the
/// global scope; as the module that holds `caller` sees it; in the loaded MPI. (Python loads modules
/// privately: their MPI is not in the global scope.) A definition in this library is never returned. Any
/// thread may call it.
void* next_symbol(const char* name, const void* caller);

/// Address of `name` as the module that holds `caller` sees it, or null.
void* symbol_seen_by(const void* caller, const char* name);

/// One function's next definition. The first call that finds it keeps the address.
template <class Function>
class NextFunction {
 public:
  /// `name` must outlive the object.
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  /// Null if there is no definition. `caller`: a code address in the calling module.
  Function get(const void* caller) {
    if (const Function known = function_.load(std::memory_order_relaxed)) [[likely]]
      return known;
    return look_up(caller);
  }

 private:
  [[gnu::noinline]] Function look_up(const void* caller) {
    const auto found = reinterpret_cast<Function>(next_symbol(name_, caller));
    function_.store(found, std::memory_order_relaxed);
    return found;
  }

  const char* name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace convene::mpi
