// SPDX-License-Identifier: BSD-3-Clause
// Declared phases: a program says how far its computation before a collective is, and the collective is
// scheduled by when each rank will come, and runs as far as it can before it is called.
//
// Design notes
// - A phase belongs to a persistent operation, whose buffers are known in advance. All ranks declare together
//   that phases will precede it (convene_phase_init); from then on every run of the operation begins with an
//   exchange of forecasts, whatever a rank declares: one that declares nothing says, when it starts the
//   operation, that it has come. So ranks that skip a phase make others wait and no more.
// - Forecasts travel as integers on a common clock, and are turned into rounds by integer arithmetic: all
//   ranks make the schedule of the same vector. They have a message number of their own (transport/tags.hpp),
//   as every persistent operation has, so phases of several operations may overlap in any order on each rank.
// - The input has its moment: the end of the phase. Steps that touch it are held back by the executor until
//   then. The output has another: the call (convene_start). Until then staging of Convene's stands in, and
//   all of it is copied at the end. In place the input is the program's own block of the output, which the
//   staging keeps apart.
// - Who does what: the program's thread (begin, edge, end, start) hands over by atomics and by the list of
//   progress.hpp; whoever drives advance() owns all else. complete() is the program's thread's.
#pragma once

#include <memory>

#include "arrival/declared_phase.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

/// What precedes the runs of one operation on this rank. The base class checks and counts declarations, and
/// no more: what an operation gets whose algorithm uses no forecasts.
class Phases {
 public:
  virtual ~Phases() = default;
  // All throw Error where the declaration is out of place. They wait for nobody.
  virtual void begin();
  virtual void edge(double fraction);
  virtual void end();
  /// The operation starts: a phase that is open ends.
  void arrive();
  /// Whether others may count on this rank already: then the operation has to be started.
  virtual bool is_bound() const { return false; }
  /// Starts the run. Only where runs() holds.
  virtual int start(MPI_Request*) { return MPI_ERR_OTHER; }
  /// Whether runs of the operation are started here.
  virtual bool runs() const { return false; }

 protected:
  /// A phase belongs to one run: before the next one the operation has to be started. Throws Error.
  void refuse_second() const;

  DeclaredPhase declared_;
  bool has_ended_ = false;  // a phase has, and the operation was not started since
};

/// Declares that phases precede an operation. Collective: it waits for the other ranks. `round_seconds`: how
/// long it takes to send one block (one segment of a reduction) and to receive another; 0: it is measured.
/// Never null.
std::unique_ptr<Phases> make_phases(const Arguments& arguments, Communicator& communicator, const Spec& spec,
                                    CallStats& record, double round_seconds);

}  // namespace convene::runtime
