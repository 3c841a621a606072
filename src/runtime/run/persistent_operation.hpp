// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: created once, by all ranks together and in the same order, and started any number
// of times, in any order on each rank.
//
// Design notes
// - Everything that depends on the arguments only is done when the operation is created: the choice, the
//   schedule, staging, the sizes that only the root knows. A start packs the input, and runs.
// - Messages of different operations are distinguished by the operation's number in the tag
//   (transport/tags.hpp); the runs of one operation follow each other, on every rank, and so do their
//   messages.
// - Convene's own object creates a generalised request at each start, which every stack has. An MPI request
//   (MPI_Start on one and the same request) is a persistent zero-byte receive from this process itself, on a
//   separate communicator: the end of a run sends the matching message. MPI_Start, MPI_Startall and
//   MPI_Request_free are intercepted for that (interpose/persistent.cpp).
// - An operation whose ranks share memory has a memory of its own, mapped when it is created: starts are not
//   ordered among operations. Successive runs alternate between its halves.
// - If starts are recorded, the list of requests has those of native operations as well.
// - The list of requests has a lock, held across no MPI call.
#pragma once

#include <memory>

#include "runtime/arrivals/phases.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/record/recorder.hpp"
#include "runtime/run/run.hpp"

namespace convene::runtime {

/// Creates a persistent operation in the requested form. May wait for the other ranks.
int make_persistent(const Arguments& arguments, Communicator& communicator, NativeCall native,
                    const Form& form);

/// A native operation, in any form: an object of Convene's then starts the MPI's non-blocking call, and keeps
/// its arguments, if given.
int leave_to_mpi(NativeCall native, const Form& form, const Arguments* arguments = nullptr);

/// The phases before its runs; null before they were declared.
Phases* phases_of(Persistent& operation);
/// Declares that phases precede an operation of Convene's kind: see make_phases().
void init_phases(Persistent& operation, double round_seconds);

/// In a catch block: an exception in a call for this operation. Later collectives on its communicator fail,
/// too, since the other ranks may not have failed. Calls its error handler; returns the error code.
int report_exception_in(const Persistent& operation);

/// Starts an object of Convene's; the request is like that of a non-blocking call. Errors go to the
/// communicator's handler.
int start_persistent(Persistent& operation, MPI_Request* request);
/// Frees an operation that is not running. Throws Error if a phase is open on which the other ranks rely.
void free_persistent(Persistent* operation);

/// Records the starts of an operation that has just been created in that form.
void record_starts(const Form& form, std::unique_ptr<recorder::Starts> starts);

/// True if MPI requests exist that represent operations of Convene's, or whose starts are recorded.
bool has_persistent_requests();
/// Implementation of MPI_Start: `native(request)` is the native one.
int start_persistent_request(MPI_Request* request, int (*native)(MPI_Request*));
/// Drops such a request: the MPI is about to free it.
void forget_persistent_request(MPI_Request request);

}  // namespace convene::runtime
