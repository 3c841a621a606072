// SPDX-License-Identifier: BSD-3-Clause
// PRR (pre-reduced ring): as in the ring, each part of the vector travels once around all ranks to collect
// contributions and once more to be distributed. But the ranks form two rings, one of early and one of late
// ranks, and a part travels around the early ring first: the early ranks have reduced it before the late ones
// arrive, which receive one sum instead of many.
//
// Source:   Proficz 2018 and 2021, section 2, name it as a ring whose early ranks reduce beforehand; the
//           design is this project's: the two rings, and the split between them.
// Requires: a commutative operator. All ranks must have the same forecast; without one it is the (segmented)
//           ring.
// Cost:     2N(P − 1) messages and N(P − 1) combines of 1/(NP) vector per rank at most; up to two vectors of
//           extra memory. 2N(P − 1) rounds of such a message; with one late rank NP + P − 2 after its
//           arrival, so up to half as many. The ranks are split at the largest gap between arrivals, or not
//           at all if that ends earlier in a lock-step simulation. So it never ends later than the ring if
//           the forecast is right.
// Arrivals: from a forecast, in rounds of one message.
//
// P = 4, N = 1, rank 1 late: a = (0, 5, 0, 0). Early ring 0 → 2 → 3, part c starts after member c (modulo 3)
// of the ring:
//   parts 0 and 3: 2, 3, 0, then 1        part 1: 3, 0, 2, then 1        part 2: 0, 2, 3, then 1
// Rank 1 has received the sums of ranks 0, 2, 3 when it arrives. In rounds 5 to 8 it sends each part to the
// part's first rank, which distributes it around the early ring. That is 6 rounds after its arrival, as many
// as the whole ring needs, and rank 1 is busy in only 4 of them. With P = 16 the ring needs 30 rounds and PRR
// 30; with N = 4, 120 and 78.
#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/partial.hpp"

namespace convene::collective {
namespace {

/// In `round`, `from` sends a part to `to`: a partial sum or, while it is distributed, the whole sum.
struct Hop {
  std::uint32_t round;
  Rank from, to;
  Place part;
  bool handed_out;
};

/// Two rings; the second may be empty. Part c travels around the first ring, starting after member c, then
/// around the second.
struct Rings {
  std::vector<Rank> early, late;

  Rank at(Place part, Rank step) const {
    const auto around = [&](const std::vector<Rank>& ring, Rank steps) {
      return ring[(part + 1 + steps) % ring.size()];
    };
    return step < early.size() ? around(early, step) : around(late, step - static_cast<Rank>(early.size()));
  }
};

/// All parts, simulated in lock step: a rank sends one part and receives one per round, and sends a sum with
/// its own contribution once it has arrived. Parts with the longest remaining way are first.
class LockStepRings {
 public:
  LockStepRings(const Rings& rings, const std::vector<std::uint32_t>& delays, std::uint32_t parts)
      : rings_(rings), delays_(delays), procs_(static_cast<Rank>(delays.size())) {
    for (Place part = 0; part < parts; ++part) waiting_.push_back({part, 0});
    hops_.reserve(std::size_t{2} * (procs_ - 1) * parts);
    while (!waiting_.empty()) play_round();
  }

  const std::vector<Hop>& hops() const { return hops_; }
  /// Time when the last part is distributed, in rounds after the earliest arrival.
  std::uint64_t end() const { return tick_; }

 private:
  struct OnTheWay {
    Place part;
    Rank hops;  // hops done
  };

  void play_round() {
    sends_.assign(procs_, false);
    receives_.assign(procs_, false);
    const std::size_t before = hops_.size();
    std::uint64_t next_arrival = ~std::uint64_t{0};
    for (OnTheWay& each : waiting_) {
      const Rank from = rings_.at(each.part, each.hops % procs_);
      const Rank to = rings_.at(each.part, (each.hops + 1) % procs_);
      if (delays_[from] > tick_) next_arrival = std::min<std::uint64_t>(next_arrival, delays_[from]);
      if (delays_[from] > tick_ || sends_[from] || receives_[to]) continue;
      sends_[from] = receives_[to] = true;
      hops_.push_back({round_, from, to, each.part, each.hops + 1 >= procs_});
      ++each.hops;
    }
    if (hops_.size() == before) {  // no part can move before the next arrival
      tick_ = next_arrival;
      return;
    }
    ++tick_;
    ++round_;
    std::erase_if(waiting_, [&](const OnTheWay& each) { return each.hops == 2 * (procs_ - 1); });
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const OnTheWay& a, const OnTheWay& b) { return a.hops < b.hops; });
  }

  const Rings& rings_;
  const std::vector<std::uint32_t>& delays_;
  const Rank procs_;
  std::vector<OnTheWay> waiting_;
  std::vector<bool> sends_, receives_;  // by rank, in this round
  std::vector<Hop> hops_;
  std::uint64_t tick_ = 0;
  std::uint32_t round_ = 0;  // rounds with transfers
};

/// The ranks before and after the largest gap between arrivals. All are early if they are expected together.
Rings part_at_largest_gap(const std::vector<std::uint32_t>& delays) {
  const std::vector<Rank> order = in_expected_order(delays);
  std::size_t first_late = order.size();
  std::uint32_t largest = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const std::uint32_t gap = delays[order[at]] - delays[order[at - 1]];
    if (gap <= largest) continue;
    largest = gap;
    first_late = at;
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first_late);
  Rings rings{{order.begin(), middle}, {middle, order.end()}};
  std::sort(rings.early.begin(), rings.early.end());
  std::sort(rings.late.begin(), rings.late.end());
  return rings;
}

std::vector<Hop> schedule(const Call& call, std::uint32_t parts) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  if (call.procs == 1) return {};
  const Rings parted = part_at_largest_gap(delays);
  Rings ring{run_of_places(0, call.procs), {}};
  const LockStepRings in_one(ring, delays, parts);
  if (parted.late.empty()) return in_one.hops();
  const LockStepRings in_two(parted, delays, parts);
  return (in_two.end() <= in_one.end() ? in_two : in_one).hops();
}

std::uint64_t parts_of_vector(Rank procs, std::span<const Value> parameters) {
  return std::uint64_t{procs} * static_cast<std::uint32_t>(parameters[0]);
}

void generate_allreduce_prr(const Call& call, SharedWork& work, Builder& builder) {
  const std::uint32_t parts = parts_of_vector(call.procs, call.parameters);
  const auto hops = work.get([&] { return schedule(call, parts); });
  Partial partial(call, builder, parts, {.at_output = true});
  for (std::size_t next = 0; next < hops->size();) {
    // A rank may send and receive in one round: its send, of the content before the round, precedes the
    // receive.
    const std::uint32_t round = (*hops)[next].round;
    const Hop* incoming = nullptr;
    builder.round(round);
    for (; next < hops->size() && (*hops)[next].round == round; ++next) {
      const Hop& hop = (*hops)[next];
      if (hop.from == call.rank) partial.send(hop.to, hop.part);
      if (hop.to == call.rank) incoming = &hop;
    }
    if (!incoming) continue;
    if (incoming->handed_out)
      partial.replace(incoming->from, incoming->part);
    else
      partial.take(incoming->from, incoming->part, OperandOrder::above);
  }
  partial.settle(run_of_places(0, parts));
}

constexpr Parameter allreduce_prr_parameters[] = {
    {.name = "segments",
     .summary = "number of segments of each rank's part of the vector (N)",
     .fallback = 4,
     .least = 1,
     .most = 1024,
     .samples = {1, 2, 3}}};

}  // namespace

extern constinit const Algorithm allreduce_prr = {
    .name = "prr",
    .summary =
        "Parts of the vector travel around a ring of the early ranks first, then around one of the late "
        "ranks.",
    .source = "named in Proficz 2021, section 2 (pre-reduced ring); the design is this project's",
    .collectives = {Collective::allreduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "2N(P − 1) of 1/(NP) vector each; NP + P − 2 after one late arrival",
    .parameters = allreduce_prr_parameters,
    .commutative_only = true,
    .pieces = parts_of_vector,
    .generate = generate_allreduce_prr,
};

}  // namespace convene::collective
