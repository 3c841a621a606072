// SPDX-License-Identifier: BSD-3-Clause
// Declared phases: a program declares the progress of its computation before a collective; the collective is
// scheduled by the expected arrivals, and runs as far as possible before it is called.
//
// Design notes
// - A phase belongs to a persistent operation, whose buffers are known in advance. All ranks declare together
//   that phases will precede it (convene_phase_init); from then on every run of the operation begins with an
//   exchange of forecasts, with or without declarations of a rank: a rank without one reports its arrival
//   when it starts the operation. So ranks that skip a phase only make others wait.
// - Forecasts are sent as integers on a common clock, and are converted to rounds by integer arithmetic: all
//   ranks build the schedule from the same vector. They have their own number (transport/tags.hpp), like
//   every persistent operation, so phases of several operations may overlap in any order on each rank.
// - The input becomes available at the end of the phase. The executor holds back the steps that touch it
//   until then. The output becomes available at the call (convene_start). Until then Convene's staging
//   replaces it, and is copied at the end. In place the input is the program's own block of the output, which
//   is separate in the staging.
// - Ownership: the program's thread (begin, edge, end, start) hands over by atomics and by the list of
//   progress.hpp; the thread that drives advance() owns all else. complete() runs in the program's thread.
#pragma once

#include <memory>

#include "arrival/declared_phase.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

/// The phases before the runs of one operation on this rank. The base class only checks and counts
/// declarations: it is used for operations whose algorithm uses no forecasts.
class Phases {
 public:
  virtual ~Phases() = default;
  // All throw Error if the declaration is out of order. They do not wait.
  virtual void begin();
  virtual void edge(double fraction);
  virtual void end();
  /// The operation starts: an open phase ends.
  void arrive();
  /// True if other ranks may rely on this rank already: then the operation must be started.
  virtual bool is_bound() const { return false; }
  /// Starts the run. Requires runs().
  virtual int start(MPI_Request*) { return MPI_ERR_OTHER; }
  /// True if runs of the operation are started here.
  virtual bool runs() const { return false; }

 protected:
  /// A phase belongs to one run: the operation must be started before the next one. Throws Error.
  void refuse_second() const;

  DeclaredPhase declared_;
  bool has_ended_ = false;  // a phase has ended, and the operation has not been started since
};

/// Declares that phases precede an operation. Collective: waits for the other ranks. `round_seconds`: the
/// time to send one block (one segment of a reduction) and receive another; 0: measured. Never null.
std::unique_ptr<Phases> make_phases(const Arguments& arguments, Communicator& communicator, const Spec& spec,
                                    CallStats& record, double round_seconds);

}  // namespace convene::runtime
