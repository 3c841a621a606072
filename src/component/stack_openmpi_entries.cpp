// SPDX-License-Identifier: BSD-3-Clause
// C++ half of Open MPI's component: from the component's functions to the runtime's.
//
// The runtime is that of the drop-in library. What it calls native here is what stands below the component
// on a communicator: the C half gives those functions as stand-ins for MPI's (mpi/symbols.hpp).
#include <link.h>

#include <cstring>

#include "component/bridge.h"
#include "component/component_names.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/comm/world.hpp"
#include "runtime/process/process.hpp"
#include "runtime/run/collectives.hpp"
#include "runtime/run/persistent_operation.hpp"

// The runtime's functions do not throw (runtime/call/failure.hpp).
#define CONVENE_ENTER(Name, name, NAME, PATTERN, ...)                                                  \
  int convene_enter_##name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C)) {                                \
    return convene::runtime::name(CONVENE_NAMES(PATTERN));                                             \
  }                                                                                                    \
  int convene_enter_i##name(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Request* request) {         \
    return convene::runtime::name(CONVENE_NAMES(PATTERN), convene::runtime::Form{.request = request}); \
  }                                                                                                    \
  int convene_enter_##name##_init(CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Info info,            \
                                  MPI_Request* request) {                                              \
    const convene::runtime::Form form{.request = request, .info = &info};                              \
    return convene::runtime::name(CONVENE_NAMES(PATTERN), form);                                       \
  }
CONVENE_COLLECTIVES(CONVENE_ENTER, CONVENE_ENTER, CONVENE_ENTER)

namespace convene::component {
namespace {

int visit_object(dl_phdr_info* info, std::size_t, void* found) {
  if (!std::strstr(info->dlpi_name, "libconvene-preload-openmpi")) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

}  // namespace
}  // namespace convene::component

const char* convene_open(void* (*stand_in)(const char* name)) {
  convene::mpi::stand_in = stand_in;
  return convene::mpi::find_mpi() == convene::mpi::MpiFit::fits ? nullptr : "the program uses another MPI";
}

int convene_has_drop_in() {
  bool found = false;
  dl_iterate_phdr(convene::component::visit_object, &found);
  return found ? 1 : 0;
}

void convene_after_init() { convene::runtime::prepare_world(); }

void convene_before_finalize() { convene::runtime::process::before_finalize(); }

int convene_start_persistent(MPI_Request* request) {
  return convene::runtime::guarded(MPI_COMM_NULL, [&] {
    return convene::runtime::start_persistent_request(request, convene::mpi::pmpi.Start);
  });
}

void convene_forget_persistent(MPI_Request request) { convene::runtime::forget_persistent_request(request); }
