// SPDX-License-Identifier: BSD-3-Clause
// Common time of all ranks of a communicator: rank 0's monotonic clock.
//
// Ranks under one kernel and in one time namespace read the same clock; this is verified, not guessed from
// host names. In each other such group the first rank (the leader) measures rank 0's clock several times; its
// result holds for the group. So the cost grows with the number of nodes, not of ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "clock/clock_line.hpp"

namespace convene::clock {

/// Identifier of the clock that this process reads: equal identifiers, same clock. Unique if it cannot be
/// determined.
std::uint64_t clock_domain();

/// This process's monotonic clock.
Nanoseconds own_time();

class CommonClock {
 public:
  /// Waits for a request, like MPI_Wait without a status; allows other work to progress meanwhile.
  using Await = int (*)(MPI_Request*);
  using Now = Nanoseconds (*)();

  /// True if there is an MPI that these functions can call; searches for it. Always true after a library has
  /// found it.
  static bool has_mpi();

  /// Determines which ranks read the same clock. Collective, by one Iallgather on `comm`. `mine` is
  /// clock_domain() except in tests. Returns MPI_SUCCESS or the MPI's error.
  int find_groups(MPI_Comm comm, Await await, std::uint64_t mine = clock_domain());

  /// Measures rank 0's clock and improves the estimate of offset and drift. Collective, after find_groups();
  /// does nothing if all ranks read one clock. Sends messages with `tag` on `comm`. Returns MPI_SUCCESS or
  /// the MPI's error.
  int update(MPI_Comm comm, int tag, Await await, Now now = own_time);

  bool has_groups() const { return procs_ > 0; }
  /// True if all ranks of the communicator read the same clock.
  bool is_one_clock() const { return leaders_.size() <= 1; }
  /// True if this rank reads the same clock as rank 0.
  bool is_common_here() const { return leader_ == 0; }
  /// True if to_common() is valid, within error_at().
  bool is_known() const { return has_groups() && (is_common_here() || line_.is_known()); }

  Nanoseconds to_common(Nanoseconds own) const { return is_common_here() ? own : line_.to_other(own); }
  Nanoseconds to_own(Nanoseconds common) const { return is_common_here() ? common : line_.to_own(common); }
  Nanoseconds offset_at(Nanoseconds own) const { return own - to_common(own); }
  double drift() const { return is_common_here() ? 0 : line_.drift(); }
  /// 0 if the clock is the same, negative if unknown.
  Nanoseconds error_at(Nanoseconds own) const { return is_common_here() ? 0 : line_.error_at(own); }

 private:
  static constexpr int round_trips = 30;

  int ask(MPI_Comm comm, int tag, Await await, Now now, ClockOffset& found) const;
  int answer(MPI_Comm comm, int tag, Await await, Now now, int leader) const;

  int rank_ = 0, procs_ = 0;
  int leader_ = 0;            // of this rank's group
  std::vector<int> leaders_;  // of all groups, ascending; the first is rank 0
  ClockLine line_;
};

}  // namespace convene::clock
