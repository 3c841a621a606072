// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/interposition.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::interpose {
namespace {

/// True on rank 0, according to the launcher's environment: there is no other way without a fitting MPI.
bool is_first_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  return true;
}

/// The program's waiting calls pass through this library while it is loaded, even if its first call is a
/// convene_*.
[[gnu::constructor]] void note_interception() { progress::intercepts_waits.store(true); }

}  // namespace

namespace {

/// CONVENE=off: every call passes through, independent of other variables.
bool is_switched_off() {
  const char* const value = std::getenv("CONVENE");
  return value && std::strcmp(value, "off") == 0;
}

bool decide() {
  if (is_switched_off()) {
    interposition_state.store(2);
    return false;
  }
  const MpiFit fit = find_mpi();
  if (fit != MpiFit::fits) {
    if (interposition_state.exchange(2) == 0 && is_first_process())
      std::fprintf(stderr,
                   "convene: this drop-in library is for %s, but the program uses '%s'; all calls are "
                   "native; use `convene run`, which selects the library\n",
                   CONVENE_STACK_NAME, mpi_library_version());
    return false;
  }
  int initialized = 0;
  pmpi.Initialized(&initialized);
  if (!initialized) return false;  // native reports a call before MPI_Init
  settings();
  interposition_state.store(1);
  return true;
}

}  // namespace

bool decide_interposition() noexcept {
  try {
    return decide();
  } catch (...) {
    return true;  // the collective fails in the same way, behind its own exception barrier
  }
}

}  // namespace convene::interpose
