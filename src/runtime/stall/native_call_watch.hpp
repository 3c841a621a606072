// SPDX-License-Identifier: BSD-3-Clause
// Warns about native collectives that block longer than CONVENE_WAIT_WARNING. Every rank in one reports
// itself.
//
// Design notes
// - Active only with CONVENE_WAIT_WARNING: there is no thread and no cost otherwise.
// - One thread per process reads what the others have recorded, and calls no MPI: it needs no
//   MPI_THREAD_MULTIPLE. It starts with the first such call, and ends before MPI_Finalize begins
//   (process/process.hpp). Memory that it reads is never freed.
// - A call takes one of a few slots, by an exchange. Its start is stored last and cleared first: a reader
//   that finds the same start before and after the other fields has read fields of one call. If all slots are
//   taken, a call is not watched.
// - An error handler of the program that leaves by a jump does not return its slot: one wrong warning.
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
  /// Null if no slot or no thread is available, and inside another watch.
  static Slot* take(int procs, Purpose purpose);
  static void give_back(Slot& slot);

  Slot* const slot_;
};

}  // namespace convene::runtime
