// SPDX-License-Identifier: BSD-3-Clause
// Next definition of an MPI function: the function that would be called without this library. Calls that pass
// through go there, so that a profiling tool behind Convene sees them; Convene's own calls go to `pmpi`.
#pragma once

#include <atomic>

namespace convene::mpi {

/// Address of the next definition of `name`, or null. Search order: stand-ins (mpi/symbols.hpp); after this
/// library in the global scope; in the scope of the module that contains `caller`; in the loaded MPI. (Python
/// loads modules privately: their MPI is not in the global scope.) A definition in this library is never
/// returned, but for stand-ins. Any thread may call it.
void* next_symbol(const char* name, const void* caller);

/// Address of `name` in the scope of the module that contains `caller`, or null.
void* symbol_seen_by(const void* caller, const char* name);

/// Next definition of one function. The address is cached by the first call that finds it.
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
