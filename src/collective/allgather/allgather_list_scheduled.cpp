// SPDX-License-Identifier: BSD-3-Clause
// List-scheduled: a schedule built round by round from the forecast. Priority has the block with the fewest
// holders (ties: of the rank that arrives last), sent from a rank that has it to one that lacks it. So all
// other transfers are done when the last rank arrives, and the number of holders of its block doubles in
// every round.
//
// Source:   this project's own; a list schedule (Graham 1966) of single-port, full-duplex transfers.
// Requires: nothing. Uses a forecast of arrivals; without one, if all ranks arrive at once, or if the list is
//           longer than the last arrival and P − 1 rounds, it is Sparbit, or with N > 1 segments the
//           segmented ring.
// Cost:     on average P − 1 blocks sent and received per rank, one per message, no extra memory. ⌈log₂P⌉
//           rounds after the last arrival if it is late enough for all other transfers to be done, never more
//           than P − 1. Building costs O(P³/64) for the whole plan.
//
// A rank can receive and forward before it arrives: of its own input it only needs its own block.
//
// P = 4, rank 0 expected three rounds after the others: a = (3, 0, 0, 0).
//
//            before      round 0     round 1     round 2     round 3     round 4
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     . 1 * .     . 1 1 *     * 1 1 1     1 1 1 1     1 1 1 1
//   block 2  . . 2 .     . . 2 *     * . 2 2     2 * 2 2     2 2 2 2     2 2 2 2
//   block 3  . . . 3     * . . 3     3 * * 3     3 3 3 3     3 3 3 3     3 3 3 3    (* arrives in this round)
//
// For P = 5 and a = (4, 0, 0, 0, 0) the blocks 1 to 4 are everywhere after round 3, and block 0 needs three
// rounds more: to rank 1, from these to 2 and 3, and to 4.
#include <algorithm>
#include <bit>
#include <numeric>

#include "collective/allgather/allgather_blocks.hpp"
#include "collective/core/forecast.hpp"
#include "collective/parts/by_rank.hpp"

namespace convene::collective {

extern const Algorithm allgather_sparbit, allgather_segmented_ring;

namespace {

/// A set of ranks.
class RankBits {
 public:
  explicit RankBits(Rank procs) : words_((procs + 63) / 64, 0) {}

  void insert(Rank rank) { words_[rank / 64] |= bit(rank); }
  void erase(Rank rank) { words_[rank / 64] &= ~bit(rank); }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  static std::uint64_t bit(Rank rank) { return std::uint64_t{1} << rank % 64; }
  std::vector<std::uint64_t> words_;
};

/// Calls visit(rank) for the ranks in `free` that are in `holders` (or, inverted, are not), upwards from
/// `first` on and around the end, until it returns true. `first` itself is visited first and last.
template <class Visit>
bool search(const RankBits& free, const RankBits& holders, bool inverted, Rank first, Visit&& visit) {
  const std::size_t words = free.words().size();
  const std::uint64_t from_first = ~std::uint64_t{0} << first % 64, flip = inverted ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0, w = first / 64; i <= words; ++i, w = w + 1 < words ? w + 1 : 0) {
    std::uint64_t found = free.words()[w] & (holders.words()[w] ^ flip);
    if (i == 0) found &= from_first;
    if (i == words) found &= ~from_first;
    for (; found != 0; found &= found - 1)
      if (visit(static_cast<Rank>(64 * w) + static_cast<Rank>(std::countr_zero(found)))) return true;
  }
  return false;
}

struct ListedTransfer {
  std::uint32_t round;
  Rank from, to, block;
};

class ListScheduler {
 public:
  explicit ListScheduler(std::vector<std::uint32_t> delays)
      : procs_(static_cast<Rank>(delays.size())),
        delays_(std::move(delays)),
        order_(in_expected_order(delays_)),
        holders_(procs_, RankBits(procs_)),
        count_(procs_, 1),
        senders_(procs_),
        receivers_(procs_) {}

  /// All transfers by round; empty where a regular schedule is as short.
  std::vector<ListedTransfer> run() {
    const std::uint64_t last = delays_[order_.back()], longest = last + procs_ - 1;
    if (last == 0) return {};
    transfers_.reserve(std::size_t{procs_} * (procs_ - 1));
    std::uint64_t tick = 0;  // in rounds after the earliest arrival
    for (; arrived_ < procs_ || !unfinished_.empty(); ++tick) {
      if (unfinished_.empty()) tick = std::max<std::uint64_t>(tick, delays_[order_[arrived_]]);
      if (tick == longest) return {};
      take_arrivals(tick);
      fill_round();
      ++round_;
    }
    return std::move(transfers_);
  }

 private:
  void take_arrivals(std::uint64_t tick) {
    for (; arrived_ < procs_ && delays_[order_[arrived_]] <= tick; ++arrived_) {
      const Rank block = order_[arrived_];
      holders_[block].insert(block);
      unfinished_.insert(unfinished_.begin(), block);
    }
  }

  /// One round: every rank sends and receives at most once, and forwards only blocks that it had before the
  /// round.
  void fill_round() {
    sort_unfinished();
    for (Rank rank = 0; rank < procs_; ++rank) {
      senders_.insert(rank);
      receivers_.insert(rank);
    }
    const std::size_t first = transfers_.size();
    for (const Rank block : unfinished_) {
      if (transfers_.size() - first == procs_) break;
      spread(block);
    }
    for (std::size_t i = first; i < transfers_.size(); ++i) {
      holders_[transfers_[i].block].insert(transfers_[i].to);
      ++count_[transfers_[i].block];
    }
    std::erase_if(unfinished_, [&](Rank block) { return count_[block] == procs_; });
  }

  /// By the number of holders, the fewest first. The block of the rank that arrives last is first, and a
  /// stable counting sort (run in every round) keeps it first among blocks with as many holders.
  void sort_unfinished() {
    begin_.assign(procs_ + 1, 0);
    for (const Rank block : unfinished_) ++begin_[count_[block] + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sorted_.resize(unfinished_.size());
    for (const Rank block : unfinished_) sorted_[begin_[count_[block]]++] = block;
    unfinished_.swap(sorted_);
  }

  /// From each free rank that has the block to the next free rank above it that lacks it.
  void spread(Rank block) {
    const RankBits& holders = holders_[block];
    search(senders_, holders, false, 0, [&](Rank sender) {
      const bool found = search(receivers_, holders, true, sender, [&](Rank receiver) {
        transfers_.push_back({round_, sender, receiver, block});
        senders_.erase(sender);
        receivers_.erase(receiver);
        return true;
      });
      return !found;  // then no rank lacks it
    });
  }

  const Rank procs_;
  const std::vector<std::uint32_t> delays_;
  const std::vector<Rank> order_;
  Rank arrived_ = 0;                  // of `order_`
  std::vector<RankBits> holders_;     // by block
  std::vector<Rank> count_;           // by block: of its holders
  std::vector<Rank> unfinished_;      // available blocks that some rank lacks
  std::vector<Rank> begin_, sorted_;  // working memory of the sort
  RankBits senders_, receivers_;      // ranks that are still free in this round
  std::uint32_t round_ = 0;           // rounds with transfers
  std::vector<ListedTransfer> transfers_;
};

/// Sparbit with its default parameters; the ring if blocks are cut into segments.
void generate_regular(Call call, Builder& builder) {
  if (call.parameters[0] > 1) {
    call.parameters = {call.parameters[0], Value{0}};
    return allgather_segmented_ring.generate(call, builder);
  }
  call.parameters = allgather_sparbit.default_parameters();
  allgather_sparbit.generate(call, builder);
}

void generate_allgather_list_scheduled(const Call& call, SharedWork& work, Builder& builder) {
  const CutBlocks blocks(call.parameters[0]);
  const auto transfers =
      work.get([&] { return ByRank(call.procs, ListScheduler(expected_delays(call)).run()); });
  if (transfers->empty()) return generate_regular(call, builder);
  blocks.place_own(call, builder);
  transfers->for_each(call.rank, [&](const ListedTransfer& transfer) {
    for (Rank segment = 0; segment < blocks.segments(); ++segment) {
      const Range place = blocks.of(transfer.block, segment);
      builder.round(transfer.round * blocks.segments() + segment);
      if (transfer.from == call.rank)
        builder.send(transfer.to, transfer.block == call.rank ? blocks.own(segment) : place);
      if (transfer.to == call.rank) builder.recv(transfer.from, place);
    }
  });
}

constexpr Parameter allgather_list_scheduled_parameters[] = {segments_of_blocks(1)};

}  // namespace

extern constinit const Algorithm allgather_list_scheduled = {
    .name = "list_scheduled",
    .summary =
        "List scheduling by a forecast: in each round the rarest blocks move first, above all that of the "
        "last rank.",
    .source = "this project; a list schedule after Graham 1966",
    .collectives = allgathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds =
        "⌈log₂P⌉ after a late last arrival, at most P − 1 after any arrival; N times as many with N segments",
    .parameters = allgather_list_scheduled_parameters,
    .generate = generate_allgather_list_scheduled,
};

}  // namespace convene::collective
