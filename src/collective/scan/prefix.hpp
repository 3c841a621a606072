// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan in one form: the prefix sums of a sequence of numbers. For a scan, number i is rank i with
// its own contribution. For an exscan, every rank first sends its contribution to the next one, and number i
// is rank i + 1 with the contribution that it received.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

inline constexpr CollectiveSet scans = {Collective::scan, Collective::exscan};

class Prefix {
 public:
  /// Moves each number's contribution to the output. An exscan needs a round for it.
  Prefix(const Call& call, Builder& builder) : call_(call), builder_(builder) {
    if (!is_exclusive()) {
      builder.copy(Range(Buffer::input, 0), sum());
      return;
    }
    const Place sized_like[] = {0};
    Range own(Buffer::input, 0);
    if (call.in_place && call.rank > 0 && call.rank + 1 < call.procs) {
      // Received directly, the contribution would have to wait until the own one is sent, rank by rank.
      own = Range(builder.scratch(sized_like), 0);
      builder.copy(Range(Buffer::input, 0), own);
    }
    if (call.rank + 1 < call.procs) builder.send(call.rank + 1, own);
    if (call.rank > 0) builder.recv(call.rank - 1, sum());
  }

  /// The number of numbers, and the own one; the rank has none if that is not below size().
  Rank size() const { return is_exclusive() ? call_.procs - 1 : call_.procs; }
  Rank number() const { return is_exclusive() ? call_.rank - 1 : call_.rank; }
  std::uint32_t first_round() const { return is_exclusive() ? 1 : 0; }

  void send_up(Rank distance) { builder_.send(call_.rank + distance, sum()); }
  /// Receives the partial sum of the number `distance` below, and combines it on the left.
  void take_from_below(Rank distance) {
    const Place sized_like[] = {0};
    const unsigned which = taken_++ % 2;
    if (which == inboxes_.size()) inboxes_.emplace_back(builder_.scratch(sized_like), 0);
    builder_.recv(call_.rank - distance, inboxes_[which]);
    builder_.combine(inboxes_[which], sum());
  }

 private:
  bool is_exclusive() const { return call_.collective == Collective::exscan; }
  static constexpr Range sum() { return Range(Buffer::output, 0); }

  const Call& call_;
  Builder& builder_;
  std::vector<Range> inboxes_;
  unsigned taken_ = 0;
};

}  // namespace convene::collective
