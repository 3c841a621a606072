// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/symbols.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace convene::mpi {
namespace {

/// Scope of symbol lookups: the global one, or a library that was loaded privately.
void* library = nullptr;

int visit_object(dl_phdr_info* info, std::size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* base = slash ? slash + 1 : info->dlpi_name;
  if (std::strncmp(base, "libmpi", 6) != 0) return 0;
  void* handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return 0;
  if (!dlsym(handle, "PMPI_Init")) {
    dlclose(handle);
    return 0;
  }
  *static_cast<void**>(found) = handle;
  return 1;
}

bool find_library() {
  if (dlsym(RTLD_DEFAULT, "PMPI_Init")) {
    library = RTLD_DEFAULT;
    return true;
  }
  void* found = nullptr;
  dl_iterate_phdr(visit_object, &found);
  if (found) library = found;
  return found != nullptr;
}

}  // namespace

bool is_mpi_loaded() { return library || find_library(); }

void* loaded_symbol(const char* name) {
  if (!is_mpi_loaded()) return nullptr;
  // The drop-in library exports some PMPI_ functions itself. (Objects may be copies in the executable:
  // RTLD_NEXT would miss those.)
  if (library == RTLD_DEFAULT && std::strncmp(name, "PMPI_", 5) == 0)
    if (void* const behind = dlsym(RTLD_NEXT, name)) return behind;
  return dlsym(library, name);
}

void* mpi_symbol(const char* name) {
  void* const own = stand_in ? stand_in(name) : nullptr;
  return own ? own : loaded_symbol(name);
}

void* mpi_object(const char* name) {
  void* object = mpi_symbol(name);
  if (!object) {
    std::fprintf(stderr, "convene: this MPI lacks the function %s; check its installation\n", name);
    std::abort();
  }
  return object;
}

}  // namespace convene::mpi
