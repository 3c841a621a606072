// SPDX-License-Identifier: BSD-3-Clause
// StragglAR: the ranks in time reduce and scatter the vector among themselves while others are late. A late
// rank then exchanges each chunk with the rank that has the sum of it, and meanwhile the others distribute
// the chunks that are complete.
//
// Source:   Devraj et al. 2025 (arXiv 2505.23523v2), for one late rank and an even P. For other P, and for
//           several late ranks, the design is Convene's: see patterns/straggler_pattern.hpp.
// Requires: a commutative operator. All ranks must have the same forecast. Without one, where no split of the
//           ranks ends earlier in lock step, or if P times the number of chunks exceeds 2^18, it is a
//           reduce-scatter and an allgather by a circulant graph.
// Cost:     with N(P − 1) chunks: ⌈log₂(P − 1)⌉ rounds of up to half a vector before the late rank arrives;
//           then N(P − 1) − 1 + ⌈log₂P⌉ rounds of one chunk, in which a rank sends one and receives one. Up to
//           two vectors of extra memory. A chunk of the sum is made by two ranks, in the same order, so all
//           ranks get the same bits.
//           pace=rounds is the source's: a rank completes each round before the next one.
// Arrivals: from a forecast, in rounds of one chunk. Of three splits (no late rank; the last one; all after
//           the largest gap) the one that ends first in lock step is used.
//
// P = 4, N = 1, rank 3 late: the sums of ranks 0 to 2 lie on rank 0 (chunk 0), 1 and 2. x: a complete chunk.
//
//            in time        round 2        round 3        round 4        round 5
//   rank     0  1  2  3     0  1  2  3     0  1  2  3     0  1  2  3     0  1  2  3
//   chunk 0  02 .  .  3     x  .  .  x     x  .  x  x     x  x  x  x     x  x  x  x
//   chunk 1  .  02 .  3     .  02 .  3     .  x  .  x     x  x  .  x     x  x  x  x
//   chunk 2  .  .  02 3     .  .  02 3     .  .  02 3     .  .  x  x     x  x  x  x
//
// P = 5 has four chunks, and rounds 2 to 7.
#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/by_rank.hpp"
#include "collective/parts/circulant_skips.hpp"
#include "collective/parts/pace.hpp"
#include "patterns/straggler_pattern.hpp"

namespace convene::collective {
namespace {

using patterns::LateRank;
using patterns::StragglerTransfer;

/// Chunks times ranks up to which exchanges are made.
constexpr std::uint64_t most_cells = 1 << 18;

std::uint64_t chunks_of_vector(Rank procs, std::span<const Value> parameters) {
  return std::uint64_t{std::max(procs, 2u) - 1} * static_cast<std::uint32_t>(parameters[0]);
}

/// Number of chunks of the ranks below `number`, if `chunks` are divided among `ranks`.
Place edge_of(std::size_t number, std::size_t ranks, Place chunks) {
  return static_cast<Place>(number * chunks / ranks);
}

/// What all ranks do: the ranks in time, in order, and the exchange with the others.
struct StragglarSplit {
  std::vector<Rank> in_time;
  ByRank<StragglerTransfer> transfers;
  std::uint64_t end = 0;
};

/// The last `late` ranks of the order are late. Without an exchange if it cannot end before `limit`.
StragglarSplit split_before_last(const std::vector<Rank>& order, const std::vector<std::uint32_t>& delays,
                                 std::size_t late, Place chunks, std::uint64_t limit) {
  const auto procs = static_cast<Rank>(order.size());
  const auto middle = order.end() - static_cast<std::ptrdiff_t>(late);
  StragglarSplit result;
  result.in_time.assign(order.begin(), middle);
  const std::uint64_t ranks = result.in_time.size(), scattered = chunks - chunks / ranks,
                      start = delays[*(middle - 1)] + scattered;
  std::ranges::sort(result.in_time);
  if (late == 0) {
    result.end = start + scattered;
    return result;
  }
  std::vector<LateRank> others;
  for (auto each = middle; each != order.end(); ++each) others.push_back({*each, delays[*each]});
  result.end = patterns::least_end_of_exchange(procs, chunks, others, start);
  if (result.end >= limit) return result;
  std::vector<Rank> owners(chunks);
  for (std::size_t number = 0; number < ranks; ++number)
    for (Place chunk = edge_of(number, ranks, chunks); chunk < edge_of(number + 1, ranks, chunks); ++chunk)
      owners[chunk] = result.in_time[number];
  patterns::StragglerExchange exchange = patterns::straggler_exchange(procs, owners, others, start);
  result.transfers = {procs, std::move(exchange.transfers)};
  result.end = exchange.end;
  return result;
}

StragglarSplit best_stragglar_split(const Call& call, Place chunks) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  const std::vector<Rank> order = in_expected_order(delays);
  StragglarSplit best = split_before_last(order, delays, 0, chunks, 0);
  if (delays[order.back()] == 0 || std::uint64_t{call.procs} * chunks > most_cells) return best;
  std::size_t after_gap = 0;  // ranks after the largest gap
  std::uint32_t largest = 0;
  for (std::size_t at = 1; at < order.size(); ++at)
    if (const std::uint32_t gap = delays[order[at]] - delays[order[at - 1]]; gap > largest)
      largest = gap, after_gap = order.size() - at;
  std::vector<std::size_t> numbers = {after_gap};
  if (after_gap > 1) numbers.push_back(1);
  for (const std::size_t late : numbers) {
    StragglarSplit other = split_before_last(order, delays, late, chunks, best.end);
    if (other.end < best.end) best = std::move(other);
  }
  return best;
}

/// Reduce-scatter, and allgather, of the ranks in time: the numbers of ranks on the skips of a circulant
/// graph, each with its run of chunks.
class AmongInTime {
 public:
  AmongInTime(const std::vector<Rank>& ranks, Rank own, Place chunks, Builder& builder, Partial& partial)
      : ranks_(ranks),
        procs_(static_cast<Rank>(ranks.size())),
        own_(static_cast<Rank>(std::ranges::find(ranks, own) - ranks.begin())),
        chunks_(chunks),
        skips_(circulant_skips(procs_)),
        builder_(builder),
        partial_(partial) {}

  bool has_part() const { return own_ < procs_; }
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(skips_.size()) - 1; }

  void reduce_scatter() {
    for (const Place chunk : chunks_of(own_, 1)) partial_.expect_above(chunk, rounds());
    for (std::uint32_t round = 0; round < rounds(); ++round) {
      const std::size_t level = rounds() - 1 - round;
      const Rank skip = skips_[level], count = skips_[level + 1] - skip;
      builder_.round(round);
      partial_.send(above(skip), chunks_of(own_ + skip, count));
      partial_.take(below(skip), chunks_of(own_, count), OperandOrder::above);
    }
  }

  void allgather() {
    for (std::uint32_t level = 0; level < rounds(); ++level) {
      const Rank skip = skips_[level], count = skips_[level + 1] - skip;
      builder_.round(rounds() + level);
      partial_.send(below(skip), chunks_of(own_, count));
      partial_.replace(above(skip), chunks_of(own_ + skip, count));
    }
  }

 private:
  Rank above(Rank distance) const { return ranks_[(own_ + distance) % procs_]; }
  Rank below(Rank distance) const { return ranks_[(own_ + procs_ - distance) % procs_]; }

  std::vector<Place> chunks_of(Rank first, Rank count) const {
    std::vector<Place> places;
    for (Rank i = 0; i < count; ++i) {
      const std::size_t number = (first + i) % procs_;
      for (Place chunk = edge_of(number, procs_, chunks_); chunk < edge_of(number + 1, procs_, chunks_);
           ++chunk)
        places.push_back(chunk);
    }
    return places;
  }

  const std::vector<Rank>& ranks_;
  const Rank procs_, own_;
  const Place chunks_;
  const std::vector<Rank> skips_;
  Builder& builder_;
  Partial& partial_;
};

/// One rank's message of the exchange. Both ranks that complete a chunk combine in the same order: the late
/// rank's contribution is the left operand.
void add_transfer(const StragglerTransfer& transfer, Rank rank, bool is_send, Partial& partial) {
  using Kind = StragglerTransfer::Kind;
  if (is_send) {
    if (transfer.from == rank) partial.send(transfer.to, transfer.chunk);
    return;
  }
  if (transfer.to != rank) return;
  if (transfer.kind == Kind::result) return partial.replace(transfer.from, transfer.chunk);
  if (transfer.kind == Kind::contribution)
    return partial.take(transfer.from, transfer.chunk, OperandOrder::below);
  partial.expect_above(transfer.chunk, 1);
  partial.take(transfer.from, transfer.chunk, OperandOrder::above);
}

void generate_allreduce_stragglar(const Call& call, SharedWork& work, Builder& builder) {
  const auto chunks = static_cast<Place>(chunks_of_vector(call.procs, call.parameters));
  const auto split = work.get([&] { return best_stragglar_split(call, chunks); });
  set_pace(call.parameters[1], builder);
  Partial partial(call, builder, chunks, {.at_output = true, .keeps_order = true});
  AmongInTime in_time(split->in_time, call.rank, chunks, builder, partial);
  if (in_time.has_part()) in_time.reduce_scatter();
  if (split->transfers.empty()) {
    in_time.allgather();
    return partial.settle(run_of_places(0, chunks));
  }
  // A round's sends are of the content before the round.
  std::vector<StragglerTransfer> round;
  const auto add_round = [&] {
    if (round.empty()) return;
    builder.round(in_time.rounds() + round.front().round);
    for (const bool is_send : {true, false})
      for (const StragglerTransfer& each : round) add_transfer(each, call.rank, is_send, partial);
    round.clear();
  };
  split->transfers.for_each(call.rank, [&](const StragglerTransfer& transfer) {
    if (!round.empty() && round.front().round != transfer.round) add_round();
    round.push_back(transfer);
  });
  add_round();
  partial.settle(run_of_places(0, chunks));
}

constexpr Parameter allreduce_stragglar_parameters[] = {
    {.name = "segments",
     .summary = "number of chunks of each rank in time if one rank is late (N); the vector has N(P − 1)",
     .fallback = 1,
     .least = 1,
     .most = 1024,
     .samples = {1, 2, 3}},
    pace_parameter_of(Pace::rounds)};

}  // namespace

extern constinit const Algorithm allreduce_stragglar = {
    .name = "stragglar",
    .summary =
        "The ranks in time reduce and scatter the vector, and exchange its chunks with late ranks one by "
        "one.",
    .source = "Devraj et al. 2025 (arXiv 2505.23523v2); several late ranks and any P: this project",
    .collectives = {Collective::allreduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "N(P − 1) − 1 + ⌈log₂P⌉ of 1/(N(P − 1)) vector each after one late arrival",
    .parameters = allreduce_stragglar_parameters,
    .commutative_only = true,
    .pieces = chunks_of_vector,
    .generate = generate_allreduce_stragglar,
};

}  // namespace convene::collective
