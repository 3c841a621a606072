// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/functions.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace convene::mpi {

MpiTable pmpi;

namespace {

/// Handle in which symbols are looked up: the global scope, or one library that was loaded privately.
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

void fill_table() {
#define CONVENE_FIND(name) pmpi.name = reinterpret_cast<decltype(pmpi.name)>(mpi_symbol("PMPI_" #name));
  CONVENE_MPI_FUNCTIONS(CONVENE_FIND)
  CONVENE_MPI_LARGE_FUNCTIONS(CONVENE_FIND)
#undef CONVENE_FIND
}

}  // namespace

void* mpi_symbol(const char* name) { return library || find_library() ? dlsym(library, name) : nullptr; }

bool is_standard_abi() {
  Dl_info info{};
  void* init = mpi_symbol("PMPI_Init");
  return init && dladdr(init, &info) && info.dli_fname && std::strstr(info.dli_fname, "libmpi_abi");
}

MpiFit find_mpi() {
  static std::mutex once;
  static std::atomic<int> decided{-1};
  const int known = decided.load(std::memory_order_acquire);
  if (known >= 0) return static_cast<MpiFit>(known);
  const std::lock_guard lock(once);
  if (decided.load(std::memory_order_relaxed) >= 0) return static_cast<MpiFit>(decided.load());
  if (!library && !find_library()) return MpiFit::none;
  const MpiFit fit = stack::is_loaded() ? MpiFit::fits : MpiFit::differs;
  if (fit == MpiFit::fits) fill_table();
  decided.store(static_cast<int>(fit), std::memory_order_release);
  return fit;
}

const char* mpi_library_version() {
  using Function = int (*)(char*, int*);
  static char text[1 << 14];
  const auto function = reinterpret_cast<Function>(mpi_symbol("PMPI_Get_library_version"));
  int length = 0;
  if (!function || function(text, &length) != 0) return "";
  text[std::strcspn(text, "\n")] = 0;
  return text;
}

}  // namespace convene::mpi
