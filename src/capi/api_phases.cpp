// SPDX-License-Identifier: BSD-3-Clause
// Public C functions for declared phases of computation.
#include "capi/api.hpp"
#include "runtime/run/persistent_operation.hpp"

namespace {

convene::capi::Persistent& object(convene_operation operation) {
  if (!operation) throw convene::capi::Error("a phase needs an operation, not a null convene_operation");
  return *reinterpret_cast<convene::capi::Persistent*>(operation);
}

/// Runs `body` with an operation, behind an exception barrier (capi/api.hpp).
template <class Body>
int guarded_with(convene_operation operation, Body&& body) {
  try {
    body(object(operation));
    return MPI_SUCCESS;
  } catch (const convene::capi::Error& error) {
    convene::capi::note_error(error.what());
    return MPI_ERR_ARG;
  } catch (const std::exception& error) {
    convene::capi::note_error(error.what());
    return convene::capi::report_exception_in(object(operation));
  }
}

/// Calls `declare(phases)` with an operation's phases.
template <class Declare>
int declare(convene_operation operation, Declare&& declare) {
  return guarded_with(operation, [&](convene::capi::Persistent& persistent) {
    convene::capi::Phases* phases = convene::capi::phases_of(persistent);
    if (!phases)
      throw convene::capi::Error("the operation has no phases; call convene_phase_init on all ranks first");
    declare(*phases);
  });
}

}  // namespace

CONVENE_API int convene_phase_init(convene_operation operation, double round_seconds) {
  CONVENE_STEP_ASIDE(convene_phase_init, phase_init, (operation, round_seconds));
  return guarded_with(operation, [&](convene::capi::Persistent& persistent) {
    convene::capi::init_phases(persistent, round_seconds);
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
