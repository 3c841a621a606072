// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/functions.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "mpi/next_symbol.hpp"

namespace convene::mpi {

MpiTable pmpi;
CollectiveFunctions next_mpi;

namespace {

template <class Function>
void find(Function& function, const char* profiling_name) {
  function = reinterpret_cast<Function>(mpi_symbol(profiling_name));
}

/// Entry in both tables. `profiling_name`: "P" and the name of the next definition.
template <class Function>
void find(Function& function, Function& next, const char* profiling_name) {
  find(function, profiling_name);
  void* const found = next_symbol(profiling_name + 1, nullptr);
  next = found ? reinterpret_cast<Function>(found) : function;
}

void fill_tables() {
#define CONVENE_FIND(name) find(pmpi.name, "PMPI_" #name);
  CONVENE_MPI_FUNCTIONS(CONVENE_FIND)
  CONVENE_MPI_LARGE_FUNCTIONS(CONVENE_FIND)
#undef CONVENE_FIND
#define CONVENE_FIND_BOTH(name) find(pmpi.name, next_mpi.name, "PMPI_" #name);
#define CONVENE_FIND_FORMS(Name, name, ...) CONVENE_FIND_BOTH(Name) CONVENE_FIND_BOTH(I##name)
#if CONVENE_LARGE_COUNTS
#define CONVENE_FIND_FORMS_OF_DATA(Name, name, ...) \
  CONVENE_FIND_FORMS(Name, name) CONVENE_FIND_BOTH(Name##_c) CONVENE_FIND_BOTH(I##name##_c)
#else
#define CONVENE_FIND_FORMS_OF_DATA CONVENE_FIND_FORMS
#endif
  CONVENE_COLLECTIVES(CONVENE_FIND_FORMS_OF_DATA, CONVENE_FIND_FORMS_OF_DATA, CONVENE_FIND_FORMS)
#undef CONVENE_FIND_FORMS_OF_DATA
#undef CONVENE_FIND_FORMS
#undef CONVENE_FIND_BOTH
}

}  // namespace

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
  if (!is_mpi_loaded()) return MpiFit::none;
  const MpiFit fit = stack::is_loaded() ? MpiFit::fits : MpiFit::differs;
  if (fit == MpiFit::fits) fill_tables();
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
