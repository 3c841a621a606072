// SPDX-License-Identifier: BSD-3-Clause
// Calls that stay inside the MPI for long: who is in one says so, though it is the MPI that waits.
//
// Design notes
// - Only where waits are watched (CONVENE_WAIT_WARNING): there is no thread and no cost otherwise.
// - One thread a process looks at what the others have noted, and calls no MPI: it needs no
// MPI_THREAD_MULTIPLE. It starts with
//   the first such call, and ends before MPI_Finalize begins (process/process.hpp). Nothing that it reads is ever freed.
// - A call takes one of a few slots, by an exchange. Its beginning is stored last and cleared first: who
// reads the same
//   beginning before and after the rest has read what belongs together. Where all slots are taken, a call is not watched.
// - An error handler of the program's that leaves by a jump gives no slot back: it is spoken of once,
// wrongly.
#pragma once

#include <atomic>
#include <cstdint>

#include "execute/stall_detector.hpp"

namespace convene::runtime {

/// While the first one of a thread exists, that is in a blocking native call, on a communicator of `procs`
/// ranks (0: an intercommunicator).
class NativeCallWatch {
 public:
  /// What the native call is for.
  enum class Purpose : std::uint8_t { collective, internal_communicator };

  explicit NativeCallWatch(int procs, Purpose purpose = Purpose::collective)
      : slot_(wait_warning.is_on() ? take(procs, purpose) : nullptr) {}
  ~NativeCallWatch() {
    if (slot_) give_back(*slot_);
  }
  NativeCallWatch(const NativeCallWatch&) = delete;
  NativeCallWatch& operator=(const NativeCallWatch&) = delete;

  struct Slot {
    std::atomic<bool> is_taken{false};
    std::atomic<std::uint64_t> since_ns{0};  ///< monotonic; 0: in no call
    std::atomic<const void*> caller{nullptr};
    std::atomic<int> procs{0};
    std::atomic<Purpose> purpose{Purpose::collective};
  };

 private:
  /// Null where there is no slot or no thread to be had, and within another one.
  static Slot* take(int procs, Purpose purpose);
  static void give_back(Slot& slot);

  Slot* const slot_;
};

}  // namespace convene::runtime
