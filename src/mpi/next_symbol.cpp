// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/next_symbol.hpp"

#include <dlfcn.h>

#include "mpi/symbols.hpp"

namespace convene::mpi {
namespace {

/// Start of the module that contains an address; null if there is none.
const void* module_of(const void* address) {
  Dl_info info{};
  return address && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// `found`, unless it is in this library: a caller would call itself.
void* unless_own(void* found) {
  static const void* const own = module_of(reinterpret_cast<const void*>(&next_symbol));
  return found && module_of(found) != own ? found : nullptr;
}

}  // namespace

void* symbol_seen_by(const void* caller, const char* name) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || !info.dli_fname) return nullptr;
  void* module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!module) return nullptr;
  void* found = dlsym(module, name);
  dlclose(module);  // stays loaded: the caller is in it
  return found;
}

void* next_symbol(const char* name, const void* caller) {
  if (void* found = stand_in ? stand_in(name) : nullptr) return found;
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  if (void* found = unless_own(symbol_seen_by(caller, name))) return found;
  return unless_own(mpi_symbol(name));
}

}  // namespace convene::mpi
