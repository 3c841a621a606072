// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan through shared memory. Few ranks: each writes its vector into its shared place, signals all
// ranks above it, and combines the vectors of those below. Many ranks: a chain, in which each rank combines
// the result of the rank below it with its own vector and passes the sum on, segment by segment.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes); Sanders and Träff
//           2006 (pipelined chain).
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 2(P − 1) shared places. Direct: 2N rounds with N segments; rank r copies its vector
//           once, signals P − 1 − r ranks and combines r vectors. Chain: P + N − 1 rounds; each rank copies
//           its vector twice, signals one rank, and combines one vector.
//
//   direct   round 0         round 1
//   rank 0   place 0 = x₀    x₀
//   rank 1   place 1 = x₁    x₁, then place 0 ∘: x₀x₁
//   rank 2   place 2 = x₂    x₂, then place 1 ∘, place 0 ∘: x₀x₁x₂      (P = 3; P = 5 in the same way)
//
//   chain    round 0         round 1           round 2
//   rank 0   place 0 = x₀
//   rank 1                   place 1 = x₀x₁
//   rank 2                                     x₀x₁x₂
#include <numeric>
#include <vector>

#include "collective/scan/prefix.hpp"
#include "collective/shm/shm.hpp"

namespace convene::collective {
namespace {

class SharedScan {
 public:
  SharedScan(const Call& call, Builder& builder)
      : call_(call),
        builder_(builder),
        segments_(static_cast<std::uint32_t>(call.parameters[0])),
        is_exclusive_(call.collective == Collective::exscan) {}

  void exchange_directly() {
    for (std::uint32_t segment = 0; segment < segments_; ++segment) {
      builder_.round(2 * segment);
      if (!is_last()) {
        for (Rank above = call_.rank + 1; segment >= turns && above < call_.procs; ++above)
          builder_.recv(above, place(segment));
        builder_.copy(Range(Buffer::input, segment), place(segment));
        for (Rank above = call_.rank + 1; above < call_.procs; ++above) builder_.send(above, place(segment));
      }
      builder_.round(2 * segment + 1);
      combine_those_below(segment);
    }
  }

  void pass_along_the_chain() {
    const Buffer sums = is_exclusive_ && !is_first() && !is_last() ? scratch() : Buffer::output;
    for (std::uint32_t segment = 0; segment < segments_; ++segment) {
      builder_.round(call_.rank + segment);
      if (is_first() && is_exclusive_)
        pass_on(Range(Buffer::input, segment), segment);
      else if (is_exclusive_)
        add_exclusively(Range(sums, segment), segment);
      else
        add(Range(sums, segment), segment);
    }
  }

 private:
  bool is_first() const { return call_.rank == 0; }
  bool is_last() const { return call_.rank + 1 == call_.procs; }
  Range place(std::uint32_t segment) const { return shared_place(call_.rank, segment); }
  Range place_below(std::uint32_t segment) const { return shared_place(call_.rank - 1, segment); }

  Buffer scratch() {
    std::vector<Place> sized_like(segments_);
    std::iota(sized_like.begin(), sized_like.end(), 0);
    return builder_.scratch(sized_like);
  }

  void combine_those_below(std::uint32_t segment) {
    const Range sum(Buffer::output, segment);
    if (!is_exclusive_) builder_.copy(Range(Buffer::input, segment), sum);
    for (Rank rank = call_.rank; rank-- > 0;) {
      const Range from = shared_place(rank, segment);
      builder_.recv(rank, from);
      is_exclusive_&& rank + 1 == call_.rank ? builder_.copy(from, sum) : builder_.combine(from, sum);
      if (comes_again(segment, segments_)) builder_.send(rank, from);
    }
  }

  void add(const Range& sum, std::uint32_t segment) {
    builder_.copy(Range(Buffer::input, segment), sum);
    if (!is_first()) {
      builder_.recv(call_.rank - 1, place_below(segment));
      builder_.combine(place_below(segment), sum);
      give_back(segment);
    }
    if (!is_last()) pass_on(sum, segment);
  }

  /// The output is the sum of the ranks below; `sum` has the own vector, too.
  void add_exclusively(const Range& sum, std::uint32_t segment) {
    if (!is_last()) builder_.copy(Range(Buffer::input, segment), sum);
    builder_.recv(call_.rank - 1, place_below(segment));
    if (!is_last()) {
      builder_.combine(place_below(segment), sum);
      pass_on(sum, segment);
    }
    builder_.copy(place_below(segment), Range(Buffer::output, segment));
    give_back(segment);
  }

  void pass_on(const Range& sum, std::uint32_t segment) {
    if (segment >= turns) builder_.recv(call_.rank + 1, place(segment));
    builder_.copy(sum, place(segment));
    builder_.send(call_.rank + 1, place(segment));
  }

  void give_back(std::uint32_t segment) {
    if (comes_again(segment, segments_)) builder_.send(call_.rank - 1, place_below(segment));
  }

  const Call& call_;
  Builder& builder_;
  const std::uint32_t segments_;
  const bool is_exclusive_;
};

void generate_scan_shared(const Call& call, Builder& builder) {
  if (call.procs == 1) {
    if (call.collective == Collective::scan) {
      const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
      builder.copy(Range(Buffer::input, 0, segments), Range(Buffer::output, 0, segments));
    }
    return;
  }
  SharedScan scan(call, builder);
  call.procs <= call.parameters[1] ? scan.exchange_directly() : scan.pass_along_the_chain();
}

std::uint64_t scan_places(Rank procs, std::span<const Value>) { return std::uint64_t{turns} * (procs - 1); }

constexpr Parameter scan_shared_parameters[] = {
    shared_segments(1, "number of segments of the vector", {1, 3}),
    {.name = "direct",
     .summary = "maximum number of ranks that combine all vectors below them; more form a chain",
     .fallback = 8,
     .least = 1,
     .most = 1024,
     .samples = {1, 16}}};

}  // namespace

extern constinit const Algorithm scan_shared = {
    .name = "shared",
    .summary =
        "Every rank combines the vectors of the ranks below it in shared memory or, with many ranks, the "
        "result of the rank below.",
    .source = "Graham and Shipman 2008; Sanders and Träff 2006",
    .collectives = scans,
    .rounds = "2N or, with many ranks, P + N − 1, N segments",
    .parameters = scan_shared_parameters,
    .shared_places = scan_places,
    .signals_can_carry = has_one_segment,
    .generate = generate_scan_shared,
};

}  // namespace convene::collective
