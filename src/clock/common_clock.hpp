// SPDX-License-Identifier: BSD-3-Clause
// Time as all ranks of a communicator see it: rank 0's monotonic clock.
//
// Ranks under one kernel and in one time namespace read the same clock, which is verified, not guessed from
// host names. Of all other such groups the first rank (the leader) asks rank 0 for the time, several times;
// what it finds holds for its group. So the work grows with the number of nodes, not of ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "clock/clock_line.hpp"

namespace convene::clock {

/// Which clock this process reads: equal numbers, same clock. Where that cannot be found out it is a number
/// of its own.
std::uint64_t clock_domain();

/// This process's monotonic clock.
Nanoseconds own_time();

class CommonClock {
 public:
  /// Waits for a request, as MPI_Wait without a status; a place to let other things go on.
  using Await = int (*)(MPI_Request*);
  using Now = Nanoseconds (*)();

  /// Whether there is an MPI that these functions can call; looks for it. Where a library has found it, there
  /// is.
  static bool has_mpi();

  /// Finds out which ranks read one clock. Collective, by one Iallgather on `comm`. `mine` is clock_domain()
  /// save in tests. Returns MPI_SUCCESS or the MPI's error.
  int find_groups(MPI_Comm comm, Await await, std::uint64_t mine = clock_domain());

  /// Looks at rank 0's clock and improves the estimate of offset and drift. Collective, after find_groups();
  /// nothing is done where all read one clock. Messages with `tag` travel on `comm`. Returns MPI_SUCCESS or
  /// the MPI's error.
  int update(MPI_Comm comm, int tag, Await await, Now now = own_time);

  bool has_groups() const { return procs_ > 0; }
  /// Whether all ranks of the communicator read the same clock.
  bool is_one_clock() const { return leaders_.size() <= 1; }
  /// Whether this rank reads the same clock as rank 0.
  bool is_common_here() const { return leader_ == 0; }
  /// Whether to_common() can be relied upon, within error_at().
  bool is_known() const { return has_groups() && (is_common_here() || line_.is_known()); }

  Nanoseconds to_common(Nanoseconds own) const { return is_common_here() ? own : line_.to_other(own); }
  Nanoseconds to_own(Nanoseconds common) const { return is_common_here() ? common : line_.to_own(common); }
  Nanoseconds offset_at(Nanoseconds own) const { return own - to_common(own); }
  double drift() const { return is_common_here() ? 0 : line_.drift(); }
  /// 0 where the clock is the same, negative where nothing is known.
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
