// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: made once, by all ranks together and in the same order, and started any number of
// times, in any order on each rank.
//
// Design notes
// - What depends on the arguments alone is done when the operation is made: the choice, the schedule,
//   staging, the sizes that only the root knows. A start fetches what has to be packed, and runs.
// - Messages of different operations are told apart by the operation's number in the tag
//   (transport/tags.hpp); the runs of one operation follow each other, on every rank, and so do their
//   messages.
// - Convene's own object gives a generalised request at each start, which every stack has. The MPI's kind
//   (MPI_Start on one and the same request) is a persistent receive of nothing from this process itself, on a
//   communicator of its own: the end of a run sends what it waits for. MPI_Start, MPI_Startall and
//   MPI_Request_free come here for that (interpose/persistent.cpp).
// - Where starts are recorded, the list of requests has those of native operations as well.
// - The list of requests has a lock, held across no call of the MPI's.
#pragma once

#include <memory>

#include "runtime/arrivals/phases.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/record/recorder.hpp"
#include "runtime/run/run.hpp"

namespace convene::runtime {

/// Makes a persistent operation in the form that was asked for. May wait for the other ranks.
int make_persistent(const Arguments& arguments, Communicator& communicator, NativeCall native,
                    const Form& form);

/// The MPI's own, in any form: an object of Convene's then starts the MPI's non-blocking call, and has its
/// arguments kept for it, where they are given.
int leave_to_mpi(NativeCall native, const Form& form, const Arguments* arguments = nullptr);

/// What precedes its runs; null before phases were declared for it.
Phases* phases_of(Persistent& operation);
/// Declares that phases precede an operation of Convene's kind: see make_phases().
void init_phases(Persistent& operation, double round_seconds);

/// Starts an object of Convene's; the request is as that of a non-blocking call. Errors go to the
/// communicator's handler.
int start_persistent(Persistent& operation, MPI_Request* request);
/// Frees one that is not running. Throws Error where a phase is open that the other ranks count on.
void free_persistent(Persistent* operation);

/// Records the starts of an operation that has just been made in that form.
void record_starts(const Form& form, std::unique_ptr<recorder::Starts> starts);

/// Whether there are requests of the MPI's kind that stand for operations of Convene's, or whose starts are
/// recorded.
bool has_persistent_requests();
/// What MPI_Start does: `native(request)` is the MPI's own.
int start_persistent_request(MPI_Request* request, int (*native)(MPI_Request*));
/// Forgets such a request: the MPI is about to free it.
void forget_persistent_request(MPI_Request request);

}  // namespace convene::runtime
