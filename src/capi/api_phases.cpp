// SPDX-License-Identifier: BSD-3-Clause
// Public C functions for declared phases of computation.
#include "capi/api.hpp"
#include "runtime/run/persistent_operation.hpp"

namespace {

convene::capi::Persistent& object(convene_operation operation) {
  if (!operation)
    throw convene::capi::Error("a phase is declared for no operation (a null convene_operation)");
  return *reinterpret_cast<convene::capi::Persistent*>(operation);
}

/// Calls `declare(phases)` with an operation's phases.
template <class Declare>
int declare(convene_operation operation, Declare&& declare) {
  return convene::capi::guarded([&] {
    convene::capi::Phases* phases = convene::capi::phases_of(object(operation));
    if (!phases)
      throw convene::capi::Error(
          "a phase is declared for an operation that has none; all ranks call convene_phase_init first");
    declare(*phases);
    return MPI_SUCCESS;
  });
}

}  // namespace

CONVENE_API int convene_phase_init(convene_operation operation, double round_seconds) {
  CONVENE_STEP_ASIDE(convene_phase_init, phase_init, (operation, round_seconds));
  return convene::capi::guarded([&] {
    convene::capi::init_phases(object(operation), round_seconds);
    return MPI_SUCCESS;
  });
}

CONVENE_API int convene_phase_begin(convene_operation operation) {
  CONVENE_STEP_ASIDE(convene_phase_begin, phase_begin, (operation));
  return declare(operation, [](convene::capi::Phases& phases) { phases.begin(); });
}

CONVENE_API int convene_phase_edge(convene_operation operation, double fraction) {
  CONVENE_STEP_ASIDE(convene_phase_edge, phase_edge, (operation, fraction));
  return declare(operation, [&](convene::capi::Phases& phases) { phases.edge(fraction); });
}

CONVENE_API int convene_phase_end(convene_operation operation) {
  CONVENE_STEP_ASIDE(convene_phase_end, phase_end, (operation));
  return declare(operation, [](convene::capi::Phases& phases) { phases.end(); });
}
