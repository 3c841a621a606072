// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/straggler_pattern.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace convene::patterns {
namespace {

using Kind = StragglerTransfer::Kind;

/// One attempt: ranks that the rule does not distinguish are taken in an order that depends on the seed.
class Attempt {
 public:
  Attempt(std::uint32_t procs, std::span<const std::uint32_t> owners, std::span<const LateRank> late,
          std::uint64_t start, std::uint32_t seed)
      : procs_(procs),
        chunks_(static_cast<std::uint32_t>(owners.size())),
        seed_(seed),
        owners_(owners),
        late_(late),
        missing_(owners.size(), static_cast<std::uint32_t>(late.size())),
        contributed_(late.size() * owners.size(), false),
        has_(owners.size() * procs, false),
        holders_(owners.size()),
        births_(owners.size(), 0),
        held_(procs),
        owned_(procs, 0),
        unsent_(late.size(), chunks_),
        ranked_(procs),
        youngest_(procs),
        keys_(procs) {
    for (const std::uint32_t owner : owners) ++owned_[owner];
    tick_ = start;
    while (complete_ < chunks_) play_round();
    result_.end = tick_;
  }

  StragglerExchange result() && { return std::move(result_); }

 private:
  void play_round() {
    sends_.assign(procs_, false);
    receives_.assign(procs_, false);
    const std::size_t before = result_.transfers.size();
    std::uint64_t next = ~std::uint64_t{0};
    for (std::size_t number = 0; number < late_.size(); ++number) {
      if (unsent_[number] == 0) continue;
      if (late_[number].arrival > tick_)
        next = std::min(next, late_[number].arrival);
      else
        contribute(number);
    }
    distribute();
    if (result_.transfers.size() == before) {  // no rank has anything to send before the next arrival
      tick_ = next;
      return;
    }
    for (std::size_t at = before; at < result_.transfers.size(); ++at) arrive(result_.transfers[at]);
    ++tick_;
    ++result_.rounds;
  }

  /// A late rank sends its part of the chunk that fewest contributions lack, to the owner with the oldest
  /// chunks. With the last contribution it receives the sum of the others.
  void contribute(std::size_t number) {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::size_t, std::uint32_t, std::uint32_t>;
    Key best{~0u, 0, 0, 0, 0};
    const std::uint32_t rank = late_[number].rank;
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::uint32_t owner = owners_[chunk];
      if (contributed_[number * chunks_ + chunk] || receives_[owner]) continue;
      if (missing_[chunk] == 1 && (sends_[owner] || receives_[rank])) continue;
      best = std::min(best, Key{missing_[chunk], youngest(owner), held_[owner].size(), order(owner), chunk});
    }
    if (std::get<0>(best) == ~0u) return;
    const std::uint32_t chunk = std::get<4>(best), owner = owners_[chunk];
    contributed_[number * chunks_ + chunk] = true;
    --unsent_[number];
    --owned_[owner];
    add(rank, owner, chunk, Kind::contribution);
    if (--missing_[chunk] == 0) add(owner, rank, chunk, Kind::sum);
  }

  /// Complete chunks, those with the fewest holders first. A sender whose youngest chunk it is precedes
  /// others.
  void distribute() {
    if (active_.empty()) return;
    rank_by_age();
    std::ranges::sort(active_, {},
                      [&](std::uint32_t chunk) { return std::pair(holders_[chunk].size(), births_[chunk]); });
    for (const std::uint32_t chunk : active_) {
      senders_.clear();
      for (const bool youngest : {true, false})
        for (const std::uint32_t rank : ranked_)
          if (has_[chunk * procs_ + rank] && !sends_[rank] && (youngest_[rank] == births_[chunk]) == youngest)
            senders_.push_back(rank);
      auto sender = senders_.begin();
      for (const std::uint32_t rank : ranked_) {
        if (sender == senders_.end()) break;
        if (!has_[chunk * procs_ + rank] && !receives_[rank]) add(*sender++, rank, chunk, Kind::result);
      }
    }
  }

  /// Ranks with the oldest chunks first: they are the first to receive a young one.
  void rank_by_age() {
    for (std::uint32_t rank = 0; rank < procs_; ++rank) {
      youngest_[rank] = youngest(rank);
      ranked_[rank] = rank;
      keys_[rank] = {youngest_[rank], 2 * held_[rank].size() + (owned_[rank] == 0), order(rank)};
    }
    std::ranges::sort(ranked_, {}, [&](std::uint32_t rank) { return keys_[rank]; });
  }

  void add(std::uint32_t from, std::uint32_t to, std::uint32_t chunk, Kind kind) {
    sends_[from] = receives_[to] = true;
    result_.transfers.push_back({result_.rounds, from, to, chunk, kind});
  }

  void arrive(const StragglerTransfer& transfer) {
    if (transfer.kind == Kind::contribution) return;
    if (transfer.kind == Kind::sum) {
      births_[transfer.chunk] = ++births_so_far_;
      active_.push_back(transfer.chunk);
      hold(transfer.from, transfer.chunk);
    }
    hold(transfer.to, transfer.chunk);
    if (holders_[transfer.chunk].size() < procs_) return;
    ++complete_;
    std::erase(active_, transfer.chunk);
    for (auto& births : held_) std::erase(births, births_[transfer.chunk]);
  }

  void hold(std::uint32_t rank, std::uint32_t chunk) {
    has_[chunk * procs_ + rank] = true;
    holders_[chunk].push_back(rank);
    held_[rank].push_back(births_[chunk]);
  }

  /// Of the chunks that a rank holds and others lack: the birth of the youngest; 0 if there is none.
  std::uint32_t youngest(std::uint32_t rank) const {
    return held_[rank].empty() ? 0 : *std::ranges::max_element(held_[rank]);
  }

  std::uint32_t order(std::uint32_t rank) const {
    if (seed_ == 0) return rank;
    std::uint32_t mixed = rank * 0x9e3779b9u ^ (seed_ * 0x85ebca6bu + result_.rounds * 0xc2b2ae35u);
    mixed = (mixed ^ mixed >> 16) * 0x7feb352du;
    mixed = (mixed ^ mixed >> 15) * 0x846ca68bu;
    return mixed ^ mixed >> 16;
  }

  const std::uint32_t procs_, chunks_, seed_;
  const std::span<const std::uint32_t> owners_;
  const std::span<const LateRank> late_;
  std::vector<std::uint32_t> missing_;  // by chunk: late ranks that have not contributed
  std::vector<bool> contributed_;       // by late rank and chunk
  std::vector<bool> has_;               // by chunk and rank: complete
  std::vector<std::vector<std::uint32_t>> holders_;
  std::vector<std::uint32_t> births_;                       // by chunk: its number in the order of completion
  std::vector<std::vector<std::uint32_t>> held_;            // by rank: births of its chunks that others lack
  std::vector<std::uint32_t> owned_;                        // by rank: of its chunks, contributions to come
  std::vector<std::uint32_t> unsent_;                       // by late rank
  std::vector<std::uint32_t> active_;                       // chunks that some ranks have and others lack
  std::vector<bool> sends_, receives_;                      // in this round
  std::vector<std::uint32_t> senders_, ranked_, youngest_;  // the last one by rank
  std::vector<std::tuple<std::uint32_t, std::size_t, std::uint32_t>> keys_;  // by rank
  std::uint32_t complete_ = 0, births_so_far_ = 0;
  std::uint64_t tick_ = 0;
  StragglerExchange result_;
};

}  // namespace

std::uint64_t least_end_of_exchange(std::uint32_t procs, std::size_t chunks, std::span<const LateRank> late,
                                    std::uint64_t start) {
  // The last rank takes a round for each chunk. Its last one has two holders after that round.
  return std::max(start, late.back().arrival) + chunks - 1 +
         static_cast<std::uint64_t>(std::bit_width(procs - 1));
}

StragglerExchange straggler_exchange(std::uint32_t procs, std::span<const std::uint32_t> owners,
                                     std::span<const LateRank> late, std::uint64_t start) {
  const std::uint64_t least = least_end_of_exchange(procs, owners.size(), late, start);
  const std::uint64_t size = std::uint64_t{procs} * owners.size();
  const bool is_source_case = late.size() == 1 && owners.size() < procs;
  const std::uint64_t most = is_source_case ? 256 : 4;
  const auto tries = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((1 << 19) / size, 1, most));
  StragglerExchange best = Attempt(procs, owners, late, start, 0).result();
  for (std::uint32_t seed = 1; seed < tries && best.end > least; ++seed)
    if (StragglerExchange other = Attempt(procs, owners, late, start, seed).result(); other.end < best.end)
      best = std::move(other);
  return best;
}

}  // namespace convene::patterns
