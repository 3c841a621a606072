// SPDX-License-Identifier: BSD-3-Clause
// Progress of pending operations: non-blocking calls progress inside the next MPI call of the program.
//
// Design notes
// - An operation is taken further by advance_all(), by one thread at a time: a token that is tried, never
//   waited for. Nobody blocks in the MPI while holding it, and the list's lock is held across no call of the
//   MPI's.
// - Where the MPI has a progress hook (Open MPI), advance_all() is called from there: then every waiting call
//   of the MPI brings operations further, intercepted or not. Elsewhere each intercepted call that may block
//   becomes its non-blocking form with advance_all() in a loop (interpose/waiting.hpp), as long as anything
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

class Progressing;

namespace progress {

/// Defers the deletion of an operation whose request has been freed to the next advance_all(): an MPI with
/// several threads may report the end of a request while it holds its lock, when none of its functions may be
/// called.
void defer_delete(Progressing* operation);
/// Deletes them now.
void delete_deferred();

}  // namespace progress

/// An operation that progresses step by step.
class Progressing {
 public:
  virtual ~Progressing() = default;
  /// Advances without waiting; returns true when it is over, and in all later calls.
  virtual bool advance() = 0;
  /// advance() has thrown: ends the operation with an error. advance() may be called again.
  virtual void fail(int code) = 0;
  /// advance() behind an exception barrier: it may be called inside the MPI.
  bool advance_guarded() noexcept;
  /// True if any thread may advance it.
  virtual bool may_progress_in_background() const { return true; }
  /// Called once after that; the object may be deleted by it.
  virtual void complete() = 0;
  /// MPI_Finalize has begun. Returns true if it will end soon, provided that the other ranks do the same.
  virtual bool close() { return false; }

 private:
  friend void progress::defer_delete(Progressing*);
  friend void progress::delete_deferred();
  Progressing* next_deferred_ = nullptr;  // in the list of those that will be deleted
};

namespace progress {

inline std::atomic<int> outstanding{0};

/// True if the MPI itself calls advance_all().
bool has_hook();

/// True if Convene intercepts the program's waiting calls (the drop-in library).
inline std::atomic<bool> intercepts_waits{false};

/// True if pending operations progress while the application waits: by the hook, by extended generalised
/// requests, or by interception. If false, operations must complete before the call returns.
bool can_progress();

/// True if nothing is pending.
[[gnu::always_inline]] inline bool is_idle() { return outstanding.load(std::memory_order_relaxed) == 0; }

/// True if nothing is pending, or the MPI itself calls advance_all(): then a blocking call may simply block.
inline bool may_block() { return is_idle() || has_hook(); }

/// Called when an operation was added: wakes the progress thread (runtime/progress/background.hpp). Null:
/// there is none.
inline std::atomic<void (*)()> wake_background{nullptr};

/// Adds an operation: from now on advance_all() progresses it.
void add(Progressing* operation);

/// Advances all pending operations, unless another thread is doing so.
void advance_all();

/// The same in the background thread: completes nothing. Returns true on progress.
bool advance_in_background();

/// Counts calls of advance_all(), so that the background thread detects that a thread of the program is
/// driving.
inline std::atomic<std::uint64_t> passes{0};

/// Call it in the driver when messages are complete: then the next ones may be near.
void note_movement();

/// MPI_Finalize has begun: completes operations, for a second at most; all others are dropped.
void drain();

/// Waits for a request while all other operations progress. Returns MPI_SUCCESS or the MPI's error.
int await(MPI_Request* request);

/// Calls advance_all() until `holds()`; yields to other processes from time to time.
template <class Condition>
void wait_until(Condition&& holds);

/// Yields to other processes after a number of calls.
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
