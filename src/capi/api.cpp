// SPDX-License-Identifier: BSD-3-Clause
// Public C functions except the collectives.
#include "capi/api.hpp"

#include <dlfcn.h>

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/comm/communicator.hpp"
#include "runtime/run/persistent_operation.hpp"
#include "runtime/settings/settings.hpp"

namespace {

using convene::capi::Communicator;
using convene::capi::PublicComm;
using convene::capi::PublicType;

/// The handle of a communicator. Null for MPI_COMM_NULL, without a fitting MPI, before MPI_Init and after
/// MPI_Finalize.
Communicator* handle_of(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (convene::capi::find_mpi() != convene::capi::MpiFit::fits || comm == MPI_COMM_NULL) return nullptr;
  convene::capi::pmpi.Initialized(&initialized);
  convene::capi::pmpi.Finalized(&finalized);
  if (!initialized || finalized) return nullptr;
  return Communicator::obtain(comm);
}

/// The communicator whose error handler receives a failure: null until a fitting MPI is loaded.
MPI_Comm comm_of(PublicComm comm) { return comm; }

}  // namespace

namespace {

std::string& error_text() noexcept {
  thread_local std::string text;
  return text;
}

}  // namespace

const char* convene::capi::last_error() noexcept { return error_text().c_str(); }

void convene::capi::note_error(const std::string& text) noexcept {
  try {
    error_text() = text;
  } catch (const std::bad_alloc&) {
    error_text().clear();
  }
}

int convene::capi::refuse_null(const char* function, const char* what) noexcept {
  try {
    note_error(std::string(function) + " needs " + what + ", not a null pointer");
  } catch (const std::bad_alloc&) {
    error_text().clear();
  }
  return MPI_ERR_ARG;
}

void* convene::capi::next_function(const char* name) {
  return find_mpi() == MpiFit::fits ? nullptr : dlsym(RTLD_NEXT, name);
}

void convene::capi::need_mpi() {
  if (find_mpi() == MpiFit::fits) return;
  refuse(std::string("libconvene-" CONVENE_STACK_NAME " does not support the MPI of this program ('") +
             mpi_library_version() + "'); link the libconvene for that MPI",
         true);
}

CONVENE_API const char* convene_version(void) {
  CONVENE_STEP_ASIDE(convene_version, version, ());
  return CONVENE_VERSION;
}

int convene::capi::start_operation(convene_operation operation, MPI_Request* request) {
  if (!operation) return refuse_null("convene_start", "an operation, from a convene_*_init");
  if (!request) return refuse_null("convene_start", "a pointer to a request");
  return guarded([&] { return start_persistent(*reinterpret_cast<Persistent*>(operation), request); });
}

CONVENE_API int convene_start(convene_operation operation, MPI_Request* request) {
  CONVENE_STEP_ASIDE(convene_start, start, (operation, request));
  convene::runtime::recorder::note_caller(__builtin_return_address(0));
  return convene::capi::start_operation(operation, request);
}

CONVENE_API int convene_free(convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_free, free, (operation));
  if (!operation || !*operation)
    return convene::capi::refuse_null("convene_free", "an operation that has not been freed");
  return convene::capi::guarded([&] {
    convene::capi::free_persistent(reinterpret_cast<convene::capi::Persistent*>(*operation));
    *operation = nullptr;
    return MPI_SUCCESS;
  });
}

CONVENE_PUBLIC(use, (PublicComm comm, const char* uses)) {
  CONVENE_STEP_ASIDE(convene_public_use, use, (comm, uses));
  return convene::capi::guarded(comm_of(comm), [&] {
    Communicator* handle = handle_of(comm);
    if (!handle || !uses)
      throw convene::capi::Error("convene_use needs an initialized MPI, a communicator and a text");
    handle->decisions().use(convene::capi::Selection::from(uses, ""));
    return MPI_SUCCESS;
  });
}

CONVENE_PUBLIC(expect, (PublicComm comm, const double seconds[])) {
  CONVENE_STEP_ASIDE(convene_public_expect, expect, (comm, seconds));
  return convene::capi::guarded(comm_of(comm), [&] {
    Communicator* handle = handle_of(comm);
    if (!handle) throw convene::capi::Error("convene_expect needs an initialized MPI and a communicator");
    handle->decisions().expect(seconds ? std::span(seconds, handle->procs()) : std::span<const double>());
    return MPI_SUCCESS;
  });
}

CONVENE_API const char* convene_error(void) {
  CONVENE_STEP_ASIDE(convene_error, error, ());
  return convene::capi::last_error();
}

CONVENE_PUBLIC(last, (PublicComm comm, convene_call_stats* stats)) {
  CONVENE_STEP_ASIDE(convene_public_last, last, (comm, stats));
  return convene::capi::guarded(comm_of(comm), [&]() -> int {
    const Communicator* handle = handle_of(comm);
    if (!handle || !handle->stats().last() || !stats) return MPI_ERR_ARG;
    const convene::capi::CallStats& record = *handle->stats().last();
    *stats = {record.algorithm.c_str(), record.reason.c_str(),
              static_cast<double>(record.last) * convene::capi::seconds_per_tick()};
    return MPI_SUCCESS;
  });
}

CONVENE_PUBLIC(memory, (PublicComm comm, convene_footprint* footprint)) {
  CONVENE_STEP_ASIDE(convene_public_memory, memory, (comm, footprint));
  return convene::capi::guarded(comm_of(comm), [&]() -> int {
    const Communicator* handle = handle_of(comm);
    if (!handle || !footprint) return MPI_ERR_ARG;
    const convene::capi::ScheduleCache& schedules = convene::capi::process_schedules();
    *footprint = {handle->memory(), handle->program_memory(), schedules.memory(), schedules.size(),
                  handle->tags().exists()};
    return MPI_SUCCESS;
  });
}
