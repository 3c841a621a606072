// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/interposition.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::interpose {
namespace {

/// Launchers tell a process its rank in the environment: with the wrong MPI at hand there is no other way to ask.
bool is_first_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  return true;
}

/// The program's waiting calls come to this library as long as it is loaded: also where its first call is a convene_*.
[[gnu::constructor]] void say_who_sees_waiting() { progress::intercepts_waits.store(true); }

}  // namespace

void* symbol_seen_by(const void* caller, const char* name) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || !info.dli_fname) return nullptr;
  void* module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!module) return nullptr;
  void* found = dlsym(module, name);
  dlclose(module);  // it stays: the caller is in it
  return found;
}

void* symbol_beyond(const char* name, const void* caller) {
  void* found = dlsym(RTLD_NEXT, name);
  return found ? found : symbol_seen_by(caller, name);
}

bool decide_interposition() {
  const MpiFit fit = find_mpi();
  if (fit != MpiFit::fits) {
    if (interposition_state.exchange(2) == 0 && is_first_process())
      std::fprintf(
          stderr,
          "convene: this drop-in library is for %s and the program runs with '%s': it steps aside; use "
          "`convene run`, which chooses the right one\n",
          CONVENE_STACK_NAME, mpi_library_version());
    return false;
  }
  int initialized = 0;
  pmpi.Initialized(&initialized);
  if (!initialized) return false;  // the MPI has its own words for a call before MPI_Init
  settings();
  interposition_state.store(1);
  return true;
}

}  // namespace convene::interpose
