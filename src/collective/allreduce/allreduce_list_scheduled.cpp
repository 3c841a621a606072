// SPDX-License-Identifier: BSD-3-Clause
// List-scheduled allreduce: the list-scheduled reduction to the rank that arrives first, which broadcasts
// each segment as soon as it is complete. The broadcast is a list-scheduled reduction for balanced arrivals,
// in reverse.
//
// Source:   this project's own; list schedules (Graham 1966) of single-port, full-duplex transfers: see
//           reduce_list_scheduled.cpp.
// Requires: a commutative operator. All ranks must have the same forecast. Uses nodes where they are known.
// Cost:     2N messages of 1/N vector sent and received per rank, N combined, so about two vectors in each
//           direction. N + ⌈log₂P⌉ rounds after a late last arrival on one node (at most one more): those of
//           its vector, and of the last segment's broadcast. Ranks that are late forward nothing, unless they
//           are more than an eighth. Up to one vector of extra memory. Above 2^17 messages, several segments
//           travel as one.
//
//   P = 4, N = 2, rank 3 late: when it arrives, rank 0 has the sum of ranks 0 to 2 (.0 is segment 0 of the sum
//   over all):
//            round 0         round 1         round 2         round 3
//   rank 0   takes 3.0 of 3  takes 3.1 of 3
//   rank 1                   gets .0 of 0                    gets .1 of 0
//   rank 2                                   gets .1 of 0    gets .0 of 1
//   rank 3                                   gets .0 of 1    gets .1 of 2
//
//   P = 5: one round more.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

#include "collective/parts/pace.hpp"
#include "collective/parts/reduction.hpp"
#include "collective/parts/segment_runs.hpp"
#include "patterns/reduction_list.hpp"

namespace convene::collective {
namespace {

/// What a message of a run of segments carries: a part of the sum, which the sender does not keep; the sum,
/// complete on another rank than the root, on its way to the root; the sum from the root.
enum class Carried : std::uint8_t { part, sum_to_root, sum };

struct ListedMessage {
  std::uint32_t round;
  Rank from, to;
  std::uint32_t run;
  Carried carried;
};

/// By run, the number of the message with which the root receives a sum that is complete, to which it adds
/// nothing: it has given its own part away. None if the root completes it.
std::vector<std::size_t> sums_to_root(const std::vector<SegmentTransfer>& transfers, Rank root,
                                      std::uint32_t runs, std::size_t none) {
  std::vector<bool> holds(runs, true);
  std::vector<std::size_t> last(runs, none);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const std::uint32_t run = transfers[i].segment;
    if (transfers[i].to == root) last[run] = holds[run] ? none : i;
    if (transfers[i].to == root) holds[run] = true;
    if (transfers[i].from == root) holds[run] = false;
  }
  return last;
}

/// By run, the last round in which the root receives it, or, of a broadcast, the first in which it sends it.
std::vector<std::uint32_t> rounds_at_root(const std::vector<SegmentTransfer>& transfers, Rank root,
                                          std::uint32_t runs, bool sends) {
  std::vector<std::uint32_t> rounds(runs, 0);
  std::vector<bool> found(runs, false);
  for (const SegmentTransfer& each : transfers) {
    if ((sends ? each.from : each.to) != root || (sends && found[each.segment])) continue;
    rounds[each.segment] = each.round;
    found[each.segment] = true;
  }
  return rounds;
}

std::vector<std::uint32_t> runs_by(const std::vector<std::uint32_t>& rounds) {
  std::vector<std::uint32_t> runs(rounds.size());
  std::iota(runs.begin(), runs.end(), 0u);
  std::ranges::stable_sort(runs, {}, [&](std::uint32_t run) { return rounds[run]; });
  return runs;
}

/// Ranks that forward sums, the root first, and those that only receive them: ranks that are late, which
/// still send their vector when the first sum is complete. If these are more than an eighth, all forward.
struct Roles {
  std::vector<Rank> forwarding, receiving;

  Roles(const Call& call, Rank root, const std::vector<SegmentTransfer>& up, std::uint32_t first_complete) {
    std::vector<bool> sends(call.procs, false);
    for (const SegmentTransfer& each : up)
      if (each.round >= first_complete) sends[each.from] = true;
    sends[root] = false;
    const auto busy = static_cast<Rank>(std::ranges::count(sends, true));
    if (busy > std::max(Rank{1}, call.procs / 8)) sends.assign(call.procs, false);
    forwarding.push_back(root);
    for (Rank rank = 0; rank < call.procs; ++rank)
      if (rank != root) (sends[rank] ? receiving : forwarding).push_back(rank);
  }
};

/// A reduction for balanced arrivals in reverse, on the forwarding ranks. What the root gives away and
/// receives again falls away.
std::vector<SegmentTransfer> broadcast(const Call& call, const std::vector<Rank>& ranks, std::uint32_t runs) {
  std::vector<Rank> nodes;
  if (!call.nodes.empty())
    for (const Rank rank : ranks) nodes.push_back(call.nodes[rank]);
  auto transfers = list_scheduled_reduction(static_cast<Rank>(ranks.size()), runs, 0, {}, nodes);
  std::ranges::reverse(transfers);
  const std::uint32_t last = transfers.empty() ? 0 : transfers.front().round;
  std::erase_if(transfers, [&](const SegmentTransfer& each) { return each.from == 0; });
  for (SegmentTransfer& each : transfers)
    each = {last - each.round, ranks[each.to], ranks[each.from], each.segment};
  return transfers;
}

/// The way of the sums from the root to all ranks, in rounds after the reduction's start.
class Downward {
 public:
  /// `complete`: by run, the round in which the root completes it.
  Downward(const Call& call, const Roles& roles, const std::vector<std::uint32_t>& complete)
      : call_(call), runs_(static_cast<std::uint32_t>(complete.size())), from_(call.procs) {
    messages_ = broadcast(call, roles.forwarding, runs_);
    const auto sent = rounds_at_root(messages_, roles.forwarding.front(), runs_, true);
    const auto by_completion = runs_by(complete), by_sending = runs_by(sent);
    std::vector<std::uint32_t> as(runs_);  // the run that travels as this one of the broadcast
    std::int64_t shift = 0;
    for (std::uint32_t i = 0; i < runs_; ++i) {
      as[by_sending[i]] = by_completion[i];
      shift = std::max(shift, std::int64_t{complete[by_completion[i]]} + 1 - sent[by_sending[i]]);
    }
    for (const Rank rank : roles.forwarding) from_[rank].assign(runs_, 0);
    for (std::uint32_t run = 0; run < runs_; ++run) from_[roles.forwarding.front()][run] = complete[run] + 1;
    for (SegmentTransfer& each : messages_) {
      each.round = static_cast<std::uint32_t>(each.round + shift);
      each.segment = as[each.segment];
      from_[each.to][each.segment] = each.round + 1;
      set_busy(each.from, each.round);
    }
    for (const Rank rank : roles.receiving) serve(rank, roles.forwarding, by_completion);
  }

  const std::vector<SegmentTransfer>& messages() const { return messages_; }

 private:
  /// One sum in each round, from ranks that send nothing else then: of its own node, if there are any.
  void serve(Rank to, std::vector<Rank> ranks, std::vector<std::uint32_t> lacks) {
    const std::uint32_t first = from_[ranks.front()][lacks.front()];
    if (!call_.nodes.empty())
      std::ranges::stable_partition(ranks, [&](Rank each) { return call_.nodes[each] == call_.nodes[to]; });
    for (std::uint32_t round = first; !lacks.empty(); ++round)
      for (const Rank from : ranks) {
        if (is_busy(from, round)) continue;
        const auto found =
            std::ranges::find_if(lacks, [&](std::uint32_t run) { return from_[from][run] <= round; });
        if (found == lacks.end()) continue;
        messages_.push_back({round, from, to, *found});
        set_busy(from, round);
        lacks.erase(found);
        break;
      }
  }

  bool is_busy(Rank rank, std::uint32_t round) const { return busy_.contains({rank, round}); }
  void set_busy(Rank rank, std::uint32_t round) { busy_.insert({rank, round}); }

  const Call& call_;
  const std::uint32_t runs_;
  std::vector<SegmentTransfer> messages_;
  std::vector<std::vector<std::uint32_t>>
      from_;  // by forwarding rank and run: the round from which it has it
  std::set<std::pair<Rank, std::uint32_t>> busy_;  // ranks that send, with the round
};

/// The reduction, and the sums in the order in which they are complete, as early as possible.
std::vector<ListedMessage> listed_messages(const Call& call, Rank root, const SegmentRuns& runs) {
  const auto up = list_scheduled_reduction(call.procs, runs.count, root, runs.arrivals(call), call.nodes);
  const auto complete = rounds_at_root(up, root, runs.count, false);
  const Roles roles(call, root, up, *std::ranges::min_element(complete));
  const Downward down(call, roles, complete);
  std::vector<ListedMessage> messages;
  messages.reserve(up.size() + down.messages().size());
  const std::vector<std::size_t> sums = sums_to_root(up, root, runs.count, up.size());
  for (std::size_t i = 0; i < up.size(); ++i) {
    const Carried carried = sums[up[i].segment] == i ? Carried::sum_to_root : Carried::part;
    messages.push_back({up[i].round, up[i].from, up[i].to, up[i].segment, carried});
  }
  for (const SegmentTransfer& each : down.messages())
    if (const std::size_t sum = sums[each.segment]; sum == up.size() || up[sum].from != each.to)
      messages.push_back({each.round, each.from, each.to, each.segment, Carried::sum});
  std::ranges::stable_sort(messages, {}, &ListedMessage::round);
  number_rounds(messages);
  return messages;
}

void generate_allreduce_list_scheduled(const Call& call, SharedWork& work, Builder& builder) {
  const SegmentRuns runs(static_cast<std::uint32_t>(call.parameters[0]), call.procs);
  const auto messages = work.get([&] {
    const Rank root = in_expected_order(expected_delays(call)).front();
    return ByRank(call.procs, listed_messages(call, root, runs));
  });
  set_pace(call.parameters[1], builder);
  Partial partial(call, builder, runs.segments, {.at_output = true});
  for_each_round(
      *messages, call.rank,
      [&](const ListedMessage& message) {
        builder.round(message.round);
        if (message.carried == Carried::part)
          partial.give(message.to, runs.places(message.run));
        else
          partial.send(message.to, runs.places(message.run));
      },
      [&](const ListedMessage& message) {
        builder.round(message.round);
        if (message.carried == Carried::sum)
          partial.replace(message.from, runs.places(message.run));
        else
          partial.take(message.from, runs.places(message.run), OperandOrder::above);
      });
  partial.settle(run_of_places(0, runs.segments));
}

constexpr Parameter allreduce_list_scheduled_parameters[] = {segments_parameter(16), pace_parameter};

}  // namespace

extern constinit const Algorithm allreduce_list_scheduled = {
    .name = "list_scheduled",
    .summary =
        "The list-scheduled reduction to the first rank, which broadcasts each segment when it is complete.",
    .source = "this project; list schedules after Graham 1966",
    .collectives = {Collective::allreduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds =
        "N + ⌈log₂P⌉ of 1/N vector each after a late last arrival, 2(N + ⌈log₂P⌉) for balanced arrivals",
    .parameters = allreduce_list_scheduled_parameters,
    .commutative_only = true,
    .prefers_nodes = true,
    .generate = generate_allreduce_list_scheduled,
};

}  // namespace convene::collective
