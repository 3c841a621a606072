// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reduction_list.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "patterns/bit_rows.hpp"
#include "patterns/segment_holders.hpp"

namespace convene::patterns {
namespace {

using Word = BitRows::Word;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint32_t none = 0xffffffffu;

std::uint32_t lowest_bit(std::size_t word, Word bits) {
  return static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
}

/// Ranks by position: the root, then the others, the latest first; those of a node together, if places
/// matter.
struct Positions {
  Numbers rank, node;                  // by position; nodes are numbered from 0
  std::vector<std::uint32_t> arrival;  // by position, in rounds after the earliest

  Positions(std::uint32_t procs, std::uint32_t root, std::span<const std::int32_t> arrivals,
            std::span<const std::uint32_t> nodes)
      : rank(procs), node(procs, 0), arrival(procs, 0) {
    std::iota(rank.begin(), rank.end(), 0u);
    if (!arrivals.empty())
      std::ranges::stable_sort(rank,
                               [&](std::uint32_t a, std::uint32_t b) { return arrivals[a] > arrivals[b]; });
    std::rotate(rank.begin(), std::ranges::find(rank, root), std::ranges::find(rank, root) + 1);
    if (!nodes.empty()) place(nodes);
    if (arrivals.empty()) return;
    const std::int64_t earliest = *std::ranges::min_element(arrivals);
    for (std::uint32_t at = 0; at < procs; ++at)
      arrival[at] = static_cast<std::uint32_t>(arrivals[rank[at]] - earliest);
  }

 private:
  void place(std::span<const std::uint32_t> nodes) {
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    for (const std::uint32_t each : rank)
      numbers.try_emplace(nodes[each], static_cast<std::uint32_t>(numbers.size()));
    if (numbers.size() == rank.size()) return;
    const auto number = [&](std::uint32_t of) { return numbers.find(nodes[of])->second; };
    std::ranges::stable_sort(rank, {}, number);
    std::ranges::transform(rank, node.begin(), number);
  }
};

class ListScheduler {
 public:
  ListScheduler(std::uint32_t segments, Positions positions)
      : procs_(static_cast<std::uint32_t>(positions.rank.size())),
        segments_(segments),
        positions_(std::move(positions)),
        queue_(procs_),
        holders_(positions_.node, segments),
        held_(procs_, segments),
        sendable_(segments, procs_),
        free_(1, procs_),
        across_(1, segments),
        near_(2 * std::size_t{holders_.nodes()}, segments),
        amount_(procs_, 0),
        received_(procs_, none) {
    std::iota(queue_.begin(), queue_.end(), 0u);
    std::ranges::stable_sort(queue_, {}, [&](std::uint32_t at) { return positions_.arrival[at]; });
    transfers_.reserve(std::size_t{procs_} * segments);
  }

  std::vector<SegmentTransfer> run() {
    for (;; ++round_) {
      if (next_ < procs_ && is_idle()) round_ = std::max(round_, positions_.arrival[queue_[next_]]);
      admit();
      if (next_ == procs_ && is_idle()) return std::move(transfers_);
      match_round();
    }
  }

 private:
  bool is_idle() const { return total_ == (sink_ == none ? 0 : amount_[sink_]); }

  /// Adds the ranks that have arrived, before all others.
  void admit() {
    Numbers entered;
    for (; next_ < procs_ && positions_.arrival[queue_[next_]] <= round_; ++next_)
      enter(queue_[next_], entered);
    if (entered.empty()) return;
    std::ranges::sort(entered, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(positions_.arrival[b], a) < std::pair(positions_.arrival[a], b);
    });
    if (sink_ == none || std::ranges::find(entered, 0u) != entered.end())
      sink_ = *std::ranges::min_element(entered);
    active_.insert(active_.begin(), entered.begin(), entered.end());
  }

  /// With all of its segments.
  void enter(std::uint32_t at, Numbers& entered) {
    entered.push_back(at);
    held_.set_run(at, 0, segments_);
    amount_[at] = segments_;
    total_ += segments_;
    for (std::uint32_t segment = 0; segment < segments_; ++segment) {
      sendable_.set(segment, at);
      holders_.add(at, segment);
    }
  }

  void match_round() {
    start_round();
    match(sink_);
    for (const std::uint32_t receiver : active_)
      if (receiver != sink_) match(receiver);
    for (const std::uint32_t at : active_) {
      free_.clear(0, at);
      if (received_[at] != none) sendable_.set(received_[at], at);
      received_[at] = none;
    }
    std::erase_if(active_, [&](std::uint32_t at) { return amount_[at] == 0 && at != sink_; });
  }

  /// Every segment is on offer, until a search fails.
  void start_round() {
    for (const std::uint32_t at : active_) free_.set(0, at);
    if (holders_.nodes() == 1) free_.clear(0, sink_);
    holders_.start_round(sink_);
    across_.set_run(0, 0, segments_);
    for (std::size_t row = 0; row < 2 * std::size_t{holders_.nodes()}; ++row)
      near_.set_run(row, 0, segments_);
  }

  void match(std::uint32_t receiver) {
    const bool is_free = free_.contains(0, receiver);
    if (is_free) free_.clear(0, receiver);  // no rank sends to itself
    if (!receive_from_another_node(receiver, is_free)) receive_on_node(receiver, is_free);
    if (is_free) free_.set(0, receiver);
  }

  /// Of a segment of which no other rank of the receiver's node has a part. False if no rank can send one.
  bool receive_from_another_node(std::uint32_t receiver, bool is_free) {
    const std::uint32_t node = positions_.node[receiver];
    if (holders_.nodes() == 1 || !holders_.may_receive(node)) return false;
    return receive(receiver, across_.row(0), [&](std::uint32_t segment, Word bit, Word& on_offer) {
      if (has_near(receiver, segment)) return none;
      const std::uint32_t sender = find_sender(
          segment, 0, procs_, [&](std::size_t word) { return holders_.may_cross(segment, word); });
      if (sender != none) holders_.cross(sender, receiver);
      if (sender == none && !is_free) on_offer &= ~bit;
      return sender;
    });
  }

  void receive_on_node(std::uint32_t receiver, bool is_free) {
    const std::uint32_t node = positions_.node[receiver];
    Word* const to_others = near_.row(2 * std::size_t{node});
    Word* const to_free = near_.row(2 * std::size_t{node} + 1);
    receive(receiver, is_free ? to_free : to_others, [&](std::uint32_t segment, Word bit, Word&) {
      if (!has_near(receiver, segment)) return none;
      const std::uint32_t sender = find_sender(segment, holders_.begin(node), holders_.end(node),
                                               [](std::size_t) { return ~Word{0}; });
      if (sender != none && (sender != sink_ || holders_.count(segment) > 2)) return sender;
      // A free receiver perhaps can send it itself, but to no free rank: that one would have been found.
      to_free[segment / 64] &= ~bit;
      if (!is_free) to_others[segment / 64] &= ~bit;
      return none;
    });
  }

  /// The first segment that the receiver holds (the sink: any) and for which find(segment, its bit, the word
  /// of `on_offer`) returns a sender. False if there is none.
  template <class Find>
  bool receive(std::uint32_t receiver, Word* on_offer, Find&& find) {
    for (std::size_t word = 0; word < held_.words(); ++word) {
      Word wanted = on_offer[word];
      if (receiver != sink_) wanted &= held_.row(receiver)[word];
      for (; wanted != 0; wanted &= wanted - 1) {
        const std::uint32_t segment = lowest_bit(word, wanted);
        const std::uint32_t sender = find(segment, wanted & -wanted, on_offer[word]);
        if (sender == none) continue;
        transfer(sender, receiver, segment);
        return true;
      }
    }
    return false;
  }

  /// Whether another rank of the node holds a part of the segment.
  bool has_near(std::uint32_t at, std::uint32_t segment) const {
    return holders_.count(positions_.node[at], segment) > (held_.contains(at, segment) ? 1u : 0u);
  }

  /// The first position of begin … end − 1 that is free, can send the segment, and is in candidates(word).
  template <class Candidates>
  std::uint32_t find_sender(std::uint32_t segment, std::uint32_t begin, std::uint32_t end,
                            Candidates&& candidates) const {
    for (std::size_t word = begin / 64; word * 64 < end; ++word) {
      Word found = sendable_.row(segment)[word] & free_.row(0)[word] & candidates(word);
      if (word == begin / 64) found &= ~Word{0} << begin % 64;
      if (end < (word + 1) * 64) found &= (Word{1} << end % 64) - 1;
      if (found != 0) return lowest_bit(word, found);
    }
    return none;
  }

  void transfer(std::uint32_t sender, std::uint32_t receiver, std::uint32_t segment) {
    transfers_.push_back({round_, positions_.rank[sender], positions_.rank[receiver], segment});
    free_.clear(0, sender);
    held_.clear(sender, segment);
    sendable_.clear(segment, sender);
    holders_.remove(sender, segment);
    --amount_[sender];
    if (held_.contains(receiver, segment)) {
      --total_;
    } else {
      held_.set(receiver, segment);
      holders_.add(receiver, segment);
      ++amount_[receiver];
    }
    sendable_.clear(segment, receiver);
    received_[receiver] = segment;
  }

  const std::uint32_t procs_, segments_;
  const Positions positions_;
  Numbers queue_;           // positions by arrival
  std::uint32_t next_ = 0;  // of the queue: those before have arrived
  SegmentHolders holders_;
  BitRows held_;             // by position and segment
  BitRows sendable_;         // by segment and position: held, and not received in this round
  BitRows free_;             // by position: present, and has not sent in this round
  BitRows across_;           // segments perhaps on offer between nodes
  BitRows near_;             // the same within each node: to receivers that have sent, to others
  Numbers amount_;           // by position: segments held
  Numbers active_;           // positions that hold a segment, and the sink; the latest first
  Numbers received_;         // by position: the segment received in this round
  std::uint64_t total_ = 0;  // of `amount_`
  std::uint32_t round_ = 0;
  std::uint32_t sink_ = none;
  std::vector<SegmentTransfer> transfers_;
};

void require_each(std::size_t given, std::uint32_t procs, std::string_view what) {
  if (given != 0 && given != procs)
    throw Error(std::string(what) + " of " + std::to_string(given) + " ranks for " + std::to_string(procs) +
                " processes; give one for each process");
}

}  // namespace

std::vector<SegmentTransfer> list_scheduled_reduction(std::uint32_t procs, std::uint32_t segments,
                                                      std::uint32_t root,
                                                      std::span<const std::int32_t> arrivals,
                                                      std::span<const std::uint32_t> nodes) {
  require_each(arrivals.size(), procs, "arrivals");
  require_each(nodes.size(), procs, "nodes");
  return ListScheduler(segments, Positions(procs, root, arrivals, nodes)).run();
}

}  // namespace convene::patterns
