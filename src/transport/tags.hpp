// SPDX-License-Identifier: BSD-3-Clause
// Tag layout.
//
//   tag = (collective number modulo 2^7) · 2^8 + (message number modulo 2^8 - 1)
//
// 15 bits, which every MPI has (MPI_TAG_UB is at least 32767). The collective number counts Convene's
// collectives on a communicator; it separates the messages of one from those of the next, which a fast
// neighbour may have started. The message number counts the messages between two ranks within one collective;
// the schedule orders message n + 2^8 - 1 after message n. The last number is for notices: they are received
// from any rank, also from one that is 2^7 collectives ahead.
//
// A persistent operation may be started in another order on each rank: so it has its own number, which
// replaces the collective number and is above those, up to the MPI's limit on tags (MPI_TAG_UB).
#pragma once

#include <cstdint>

#include "schedule/core/schedule.hpp"

namespace convene::transport {

inline constexpr unsigned collective_bits = 7;
/// Number of successive collectives with distinct tags.
inline constexpr std::uint32_t collective_range = 1u << collective_bits;

class Tags {
 public:
  /// `persistent`: number of a persistent operation, from 1; 0 for none.
  explicit Tags(std::uint32_t collective_number, std::uint32_t persistent = 0)
      : base_((persistent ? collective_range - 1 + persistent : collective_number % collective_range)
              << match_bits) {}
  /// Number of persistent operations with distinct tags, if the highest tag is `tag_ub`.
  static std::uint32_t persistent_numbers(int tag_ub) {
    const std::uint32_t numbers = (static_cast<std::uint32_t>(tag_ub) + 1) >> match_bits;
    return numbers > collective_range ? numbers - collective_range : 0;
  }
  /// Tag of message number `match` between two ranks.
  int of(std::uint32_t match) const { return of_number(match % match_window); }
  /// The same for a number that is below 2^8 - 1.
  int of_number(std::uint32_t number) const { return static_cast<int>(base_ | number); }
  /// Tag of notices, which carry the number of their collective.
  int of_notices() const { return static_cast<int>(base_ | match_window); }

 private:
  std::uint32_t base_;
};

static_assert(collective_bits + match_bits <= 15, "MPI guarantees no more than 15 bits for a tag");

}  // namespace convene::transport
