// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/clairvoyant_pattern.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "patterns/bit_rows.hpp"

namespace convene::patterns {
namespace {

using Word = BitRows::Word;

/// Ranks have positions in the group: the root at 0, then the others in the order of their arrivals. So the
/// ranks present are a run of positions, apart from the root, which may arrive late.
class Generator {
 public:
  Generator(std::uint32_t procs, std::uint32_t segments, std::uint32_t root,
            std::span<const std::int32_t> arrivals)
      : procs_(procs),
        segments_(segments),
        order_(procs),
        arrival_(procs, 0),
        held_(procs, segments),
        sendable_(segments, procs),
        all_(1, segments),
        offered_(1, segments),
        offered_to_free_(1, segments),
        free_(1, procs),
        amount_(procs, 0),
        received_(procs, no_segment) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::swap(order_[0], order_[root]);
    std::sort(order_.begin() + 1, order_.end());
    if (!arrivals.empty()) {
      const std::int32_t earliest = *std::min_element(arrivals.begin(), arrivals.end());
      std::stable_sort(order_.begin() + 1, order_.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return arrivals[a] < arrivals[b]; });
      for (std::uint32_t at = 0; at < procs; ++at)
        arrival_[at] = static_cast<std::uint32_t>(std::int64_t{arrivals[order_[at]]} - earliest);
    }
    for (std::uint32_t segment = 0; segment < segments; ++segment) all_.set(0, segment);
    transfers_.reserve(std::size_t{procs} * segments);
  }

  std::vector<SegmentTransfer> run() {
    for (round_ = 0; root_is_absent_ || present_ < procs_ || others_hold(); ++round_) {
      admit();
      match_round();
    }
    return std::move(transfers_);
  }

 private:
  bool others_hold() const { return total_ > amount_[0]; }

  /// Adds the ranks that have arrived. If no rank has anything to do before the next arrival, skips to that
  /// round.
  void admit() {
    const std::uint64_t gathered = sink_ == no_rank ? 0 : amount_[sink_];
    const bool idle = total_ == gathered;
    if (idle) {
      std::uint32_t next = present_ < procs_ ? arrival_[present_] : 0xffffffffu;
      if (root_is_absent_) next = std::min(next, arrival_[0]);
      round_ = std::max(round_, next);
    }
    if (root_is_absent_ && arrival_[0] <= round_) {
      root_is_absent_ = false;
      sink_ = 0;
      enter(0, 1);
    }
    std::uint32_t end = present_;
    while (end < procs_ && arrival_[end] <= round_) ++end;
    enter(present_, end);
    present_ = end;
    if (root_is_absent_ && present_ > 1) sink_ = 1;  // until the root arrives, the earliest rank replaces it
  }

  /// Adds a run of positions, each with all of its segments.
  void enter(std::uint32_t begin, std::uint32_t end) {
    if (begin == end) return;
    for (std::uint32_t segment = 0; segment < segments_; ++segment) sendable_.set_run(segment, begin, end);
    for (std::uint32_t at = begin; at < end; ++at) {
      std::copy_n(all_.row(0), all_.words(), held_.row(at));
      amount_[at] = segments_;
    }
    total_ += std::uint64_t{segments_} * (end - begin);
    const auto place = std::lower_bound(active_.begin(), active_.end(), begin) - active_.begin();
    active_.insert(active_.begin() + place, end - begin, 0);
    std::iota(active_.begin() + place, active_.begin() + place + (end - begin), begin);
  }

  void match_round() {
    for (const std::uint32_t at : active_) free_.set(0, at);
    assume_offers();
    for (const std::uint32_t receiver : active_) match(receiver);
    for (const std::uint32_t at : active_) {
      free_.clear(0, at);
      if (received_[at] != no_segment) sendable_.set(received_[at], at);
      received_[at] = no_segment;
    }
    std::erase_if(active_, [&](std::uint32_t at) { return amount_[at] == 0 && at != sink_; });
  }

  /// Finds a sender for a receiver: for the first segment that the receiver holds (the sink: any segment) and
  /// that a free rank can send, the first such rank.
  void match(std::uint32_t receiver) {
    const bool is_free = (free_.row(0)[receiver / 64] >> receiver % 64 & 1) != 0;
    if (is_free) free_.clear(0, receiver);  // no rank sends to itself
    find_transfer(receiver, is_free);
    if (!is_free) return;
    free_.set(0, receiver);
    first_free_ = std::min<std::size_t>(first_free_, receiver / 64);
  }

  void find_transfer(std::uint32_t receiver, bool is_free) {
    Word *offered = offered_.row(0), *offered_to_free = offered_to_free_.row(0);
    const Word* sieve = is_free ? offered_to_free : offered;
    const Word* held = receiver == sink_ ? all_.row(0) : held_.row(receiver);
    for (std::size_t word = 0; word < held_.words(); ++word)
      for (Word wanted = held[word] & sieve[word]; wanted != 0; wanted &= wanted - 1) {
        const auto segment =
            static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(wanted)));
        const std::uint32_t sender = find_sender(segment);
        if (sender != no_rank) return transfer(sender, receiver, segment);
        // No other rank can send it for the rest of the round. A free receiver perhaps can, but to no free
        // rank that holds it: that rank would have been found. (The sink, which receives segments that it
        // does not hold, is first.)
        offered_to_free[word] &= ~(wanted & -wanted);
        if (!is_free) offered[word] &= ~(wanted & -wanted);
      }
  }

  /// Assumes at the start of a round that every segment is on offer, to free receivers and to others. One
  /// failed search withdraws a segment.
  void assume_offers() {
    std::copy_n(all_.row(0), all_.words(), offered_.row(0));
    std::copy_n(all_.row(0), all_.words(), offered_to_free_.row(0));
    first_free_ = 0;
  }

  /// The first free rank that can send a segment.
  std::uint32_t find_sender(std::uint32_t segment) {
    const Word *sendable = sendable_.row(segment), *free = free_.row(0);
    const std::size_t words = free_.words();
    while (first_free_ < words && free[first_free_] == 0)
      ++first_free_;  // the first ranks send early in the
                      // round
    for (std::size_t word = first_free_; word < words; ++word)
      if (const Word both = sendable[word] & free[word]; both != 0)
        return static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(both)));
    return no_rank;
  }

  void transfer(std::uint32_t sender, std::uint32_t receiver, std::uint32_t segment) {
    transfers_.push_back({round_, order_[sender], order_[receiver], segment});
    free_.clear(0, sender);
    held_.clear(sender, segment);
    sendable_.clear(segment, sender);
    --amount_[sender];
    const Word bit = Word{1} << segment % 64;
    Word& held = held_.row(receiver)[segment / 64];
    if ((held & bit) == 0)
      ++amount_[receiver];
    else
      --total_;
    held |= bit;
    sendable_.clear(segment, receiver);
    received_[receiver] = segment;
  }

  static constexpr std::uint32_t no_rank = 0xffffffffu, no_segment = 0xffffffffu;

  const std::uint32_t procs_, segments_;
  std::vector<std::uint32_t> order_;    // by position: the rank
  std::vector<std::uint32_t> arrival_;  // by position, in rounds
  BitRows held_;                        // by position and segment
  BitRows sendable_;                    // by segment and position: held, and not received in this round
  BitRows all_;                         // of segments: every one
  BitRows offered_,
      offered_to_free_;         // of segments: perhaps on offer to receivers that have sent, that have not
  std::size_t first_free_ = 0;  // word of `free_`: those before are empty
  BitRows free_;                // by position: present, and has not sent in this round
  std::vector<std::uint32_t> amount_;    // by position: segments held
  std::vector<std::uint32_t> active_;    // positions that hold a segment, and the sink, ascending
  std::vector<std::uint32_t> received_;  // by position: the segment received in this round
  std::vector<SegmentTransfer> transfers_;
  std::uint64_t total_ = 0;  // of `amount_`
  std::uint32_t round_ = 0;
  std::uint32_t present_ = 1;     // positions 1 … present_ − 1 have arrived
  std::uint32_t sink_ = no_rank;  // the rank that gathers: the root once it has arrived
  bool root_is_absent_ = true;
};

}  // namespace

std::vector<SegmentTransfer> clairvoyant_transfers(std::uint32_t procs, std::uint32_t segments,
                                                   std::uint32_t root,
                                                   std::span<const std::int32_t> arrivals) {
  if (!arrivals.empty() && arrivals.size() != procs)
    throw Error("a forecast of " + std::to_string(arrivals.size()) + " arrivals for " +
                std::to_string(procs) + " processes; give one for each process");
  return Generator(procs, segments, root, arrivals).run();
}

}  // namespace convene::patterns
