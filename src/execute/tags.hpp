// SPDX-License-Identifier: BSD-3-Clause
// The tag layout: the one place where it stands.
//
//   tag = (collective number modulo 2^7) · 2^8 + (message number modulo 2^8)
//
// 15 bits, which every MPI has (MPI_TAG_UB is at least 32767). The collective number counts Convene's collectives on a
// communicator; it keeps messages of one apart from those of the next, which a fast neighbour may have started. The
// message number counts the messages between two ranks within one collective; the schedule orders message n + 2^8
// behind message n.
#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace convene {

inline constexpr unsigned collective_bits = 7;

class Tags {
 public:
  explicit Tags(std::uint32_t collective_number)
      : base_((collective_number & ((1u << collective_bits) - 1)) << match_bits) {}
  /// The tag of message number `match` between two ranks.
  int of(std::uint32_t match) const { return static_cast<int>(base_ | (match & (match_window - 1))); }

 private:
  std::uint32_t base_;
};

static_assert(collective_bits + match_bits <= 15, "MPI guarantees no more than 15 bits for a tag");

}  // namespace convene
