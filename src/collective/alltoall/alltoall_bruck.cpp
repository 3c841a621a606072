// SPDX-License-Identifier: BSD-3-Clause
// Bruck alltoall with radix r: a block for the rank i above is sent according to the digits of i to the base
// r. For every digit x and value z, the blocks with that digit are sent z·r^x ranks up in one message. Fewer
// and larger messages, but blocks are sent several times: for small blocks.
//
// Source:   Bruck et al. 1997, section 3. Its two rotations are left out: the first hop of a block starts in
//           the input, its last hop ends in the output.
// Requires: nothing. Blocks that differ in size (alltoallv) are padded: a rank that forwards a block does not
//           know its size.
// Cost:     ⌈log_r P⌉ rounds of up to r − 1 messages, about (P/r) blocks each; in scratch P places for blocks
//           between two hops, and as many for the blocks received in a round (their places may still be sent
//           from). In alltoallv every block costs as much as the largest of all, the ranks first agree on
//           that size (an allreduce of 8 bytes), and copies of input and output are P blocks each: for small
//           blocks of about the same size.
//
//            before      round 0     round 1              (P = 4, r = 2; block xy goes from rank x to rank y)
//   rank     0  1  2  3  0  1  2  3  0  1  2  3
//   i = 0    00 11 22 33 00 11 22 33 00 11 22 33
//   i = 1    01 12 23 30 30 01 12 23 30 01 12 23     arrived
//   i = 2    02 13 20 31 02 13 20 31 20 31 02 13
//   i = 3    03 10 21 32 32 03 10 21 10 21 32 03     one up, then two up
//
//   P = 5 has a third round, in which only i = 4 goes four up.
#include <algorithm>

#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

/// Blocks by the distance to their target: first, first + stride, … Either all of them are on their first hop
/// or none (the lower digits are 0), and either all on their last or none (the higher digits are 0).
struct Journey {
  Rank first, count, stride;
  bool is_first, is_last;
};
using Journeys = std::vector<Journey>;

/// The blocks whose digit of this weight is `digit`. They form runs of `weight` that repeat every
/// radix · weight, described by as few ranges as possible.
Journeys journeys(Rank weight, Rank digit, Rank radix, Rank procs) {
  const std::uint64_t period = std::uint64_t{weight} * radix;
  Journeys result;
  const auto add = [&](std::uint64_t first, std::uint64_t count, Rank stride) {
    if (count > 0)
      result.push_back(
          {static_cast<Rank>(first), static_cast<Rank>(count), stride, first % weight == 0, first < period});
  };
  const Rank begin = digit * weight;
  if (weight <= procs / period) {  // many short runs: ranges across them, by the lower digits
    for (Rank low = begin; low < std::min(begin + weight, procs); ++low) {
      add(low, 1, 1);
      add(low + period, (procs - 1 - low) / period, static_cast<Rank>(period));
    }
  } else {  // along them
    for (std::uint64_t run = begin; run < procs; run += period) {
      add(run, 1, 1);
      add(run + 1, std::min<std::uint64_t>(weight, procs - run) - 1, 1);
    }
  }
  return result;
}

class Bruck {
 public:
  Bruck(const Call& call, Builder& builder)
      : call_(call), builder_(builder), radix_(static_cast<Rank>(call.parameters[0])) {
    if (call.procs <= radix_) return;  // one digit: every first hop is the last one
    const std::vector<Place> sized_like(call.procs, 0);
    between_ = builder.scratch(sized_like);
    arrivals_ = builder.scratch(sized_like);
  }

  void run() {
    builder_.copy(Range(Buffer::input, call_.rank), Range(Buffer::output, call_.rank));
    Rank round = 0;
    for (std::uint64_t weight = 1; weight < call_.procs; weight *= radix_) {
      builder_.round(round++);
      exchange(static_cast<Rank>(weight));
    }
  }

 private:
  void exchange(Rank weight) {
    Rank arrived = 0;
    std::vector<std::pair<Range, Range>> kept;
    for (Rank digit = 1; digit < radix_ && std::uint64_t{digit} * weight < call_.procs; ++digit) {
      std::vector<Range> from, to;
      for (const Journey& journey : journeys(weight, digit, radix_, call_.procs)) {
        from.push_back(here(journey));
        to.push_back(there(journey, arrived));
        if (!journey.is_last) kept.emplace_back(to.back(), place_between(journey));
      }
      builder_.send(call_.up(digit * weight), from);
      builder_.recv(call_.down(digit * weight), to);
    }
    for (const auto& [from, to] : kept) builder_.copy(from, to);
  }

  Range place_between(const Journey& of) const { return Range(between_, of.first, of.count, of.stride); }

  Range here(const Journey& of) const {
    if (!of.is_first) return place_between(of);
    return Range(Buffer::input, call_.up(of.first), of.count, of.stride);
  }

  /// Blocks that reach their target come from the ranks `first`, `first` + stride, … below.
  Range there(const Journey& of, Rank& arrived) const {
    if (of.is_last)
      return Range(Buffer::output, call_.down(of.first), of.count, call_.procs - of.stride % call_.procs);
    arrived += of.count;
    return Range(arrivals_, arrived - of.count, of.count);
  }

  const Call& call_;
  Builder& builder_;
  const Rank radix_;
  Buffer between_ = Buffer::input, arrivals_ = Buffer::input;
};

void generate_alltoall_bruck(const Call& call, Builder& builder) { Bruck(call, builder).run(); }

constexpr Parameter alltoall_bruck_parameters[] = {{.name = "radix",
                                                    .summary = "radix of the digits (r)",
                                                    .fallback = 2,
                                                    .least = 2,
                                                    .most = 1 << 20,
                                                    .samples = {2, 3, 8}}};

}  // namespace

extern constinit const Algorithm alltoall_bruck = {
    .name = "bruck",
    .summary =
        "A block for the rank i above moves once for each digit of i, together with all blocks of the same "
        "digit; unequal blocks are padded to the largest.",
    .source = "Bruck et al. 1997, section 3",
    .collectives = {Collective::alltoall, Collective::alltoallv, Collective::alltoallw},
    .rounds = "⌈log_r P⌉",
    .parameters = alltoall_bruck_parameters,
    .relays = true,
    .generate = generate_alltoall_bruck,
};

}  // namespace convene::collective
