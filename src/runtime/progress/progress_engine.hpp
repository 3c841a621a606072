// SPDX-License-Identifier: BSD-3-Clause
// Progress of what is outstanding: non-blocking calls go on inside whatever MPI call the program makes next.
//
// Design notes
// - An operation is taken further by advance_all(), by one thread at a time: a token that is tried, never
//   waited for. Nobody blocks in the MPI while holding it, and the list's lock is held across no call of the
//   MPI's.
// - Where the MPI has a progress hook (Open MPI), advance_all() is called from there: then every waiting call
//   of the MPI brings operations further, intercepted or not. Elsewhere each intercepted call that may block
//   becomes its non-blocking form with advance_all() in a loop (interpose/waiting.cpp), as long as anything
//   is outstanding; and the requests are extended generalised ones, where the MPI has such, so that MPI_Wait
//   and MPI_Test bring them further without interception.
// - A thread of Convene's own may drive, too, where it was asked for (runtime/progress/background.hpp). It
//   takes operations further and no more: requests are completed, calls counted and errors reported by the
//   program's threads, in advance_all(). So what those touch needs no lock. Operators of the program's run on
//   its threads only.
// - An operation that is complete leaves the list before its request is completed: after that another thread
//   may free it.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/functions.hpp"

namespace convene::runtime {

/// Something that goes on step by step.
class Progressing {
 public:
  virtual ~Progressing() = default;
  /// Takes it further without waiting; true when it is over, and whenever it is asked after that.
  virtual bool advance() = 0;
  /// advance() has thrown: this ends with an error. advance() may be called again.
  virtual void fail(int code) = 0;
  /// advance() behind an exception barrier: it may be called from within the MPI.
  bool advance_guarded() noexcept;
  /// Whether any thread may take it further.
  virtual bool may_progress_in_background() const { return true; }
  /// Called once after that; the object may be gone afterwards.
  virtual void complete() = 0;
  /// MPI_Finalize has begun. True where it ends soon if the other ranks do the same.
  virtual bool close() { return false; }
};

namespace progress {

inline std::atomic<int> outstanding{0};

/// Whether the MPI itself calls advance_all().
bool has_hook();

/// Set where the program's waiting calls come to Convene (the drop-in library).
inline std::atomic<bool> intercepts_waits{false};

/// Whether something outstanding goes on while the program waits for it: by the hook, by extended generalised
/// requests, or by what the drop-in library sees. Else nothing may be left outstanding.
bool can_progress();

/// Whether nothing is outstanding, or the MPI itself calls advance_all(): then a blocking call may simply
/// block.
inline bool may_block() { return outstanding.load(std::memory_order_relaxed) == 0 || has_hook(); }

/// Called when an operation was added: wakes the background thread (runtime/progress/background.hpp). Null:
/// there is none.
inline std::atomic<void (*)()> wake_background{nullptr};

/// Adds an operation: from now on advance_all() progresses it.
void add(Progressing* operation);

/// Takes everything that is outstanding further, unless another thread is at it.
void advance_all();

/// The same from the background: nothing is completed. True where something moved.
bool advance_in_background();

/// Counts advance_all()s, so that the background sees that a thread of the program's drives.
inline std::atomic<std::uint64_t> passes{0};

/// To be called by whoever drives when messages are complete: then the next ones may not be far.
void note_movement();

/// An operation whose request is gone is deleted in the next advance_all(): an MPI with several threads may
/// tell of the end of a request while it holds its lock, when nothing of it may be called.
void defer_delete(Progressing* operation);
/// Deletes them now.
void delete_deferred();

/// MPI_Finalize has begun: what can be brought to an end is, for a second at most; all else is forgotten.
void drain();

/// Waits for a request while everything else goes on. Returns MPI_SUCCESS or the MPI's error.
int await(MPI_Request* request);

/// Calls advance_all() until `holds()`; gives way to other processes now and then.
template <class Condition>
void wait_until(Condition&& holds);

/// Gives way to other processes when it has been called a number of times.
class Patience {
 public:
  void lose();

 private:
  int polls_ = 0;
};

template <class Condition>
void wait_until(Condition&& holds) {
  Patience patience;
  while (!holds()) {
    advance_all();
    patience.lose();
  }
}

}  // namespace progress
}  // namespace convene::runtime
