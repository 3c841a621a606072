// SPDX-License-Identifier: BSD-3-Clause
// By arrival: any algorithm on ranks that are renumbered by their expected arrivals. A rank that is expected
// late gets a number from which the shortest chain of messages leads to the end, so that the fewest others
// wait for it. Where all are expected together, the numbers are those of the algorithm alone.
//
// Source:   the design is Convene's. Sorted trees of this kind for single algorithms: Proficz 2018 and 2021
//           (SLT, SBN).
// Requires: the requirements of its part; for reductions, an operator that commutes.
// Cost:     that of the part on the new numbers. The first order takes the messages of all ranks, which each
//           process builds once; further ones take a sort, O(P log P). If the messages carry more than 2^18
//           places in all, the numbers stay as they are.
//
//   reduce, pipeline, root 0, rank 3 late:     0 ← 1 ← 2 ← 3    becomes    0 ← 3 ← 1 ← 2
//   P = 5:                                     0 ← 1 ← 2 ← 3 ← 4  becomes  0 ← 3 ← 1 ← 2 ← 4
//
// Ranks of a node stay together (nodes=together): nodes follow each other by their latest rank, and ranks of
// a node by arrival.
#include "collective/hierarchy/by_arrival.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>

#include "collective/core/forecast.hpp"
#include "collective/core/spec.hpp"
#include "collective/hierarchy/reordered.hpp"

namespace convene::collective {
namespace {

enum class NodeOrder : std::int64_t { together, apart };

constexpr Parameter by_arrival_parameters[] = {
    {.name = "nodes",
     .summary = "ranks of a node get successive places in the order of arrival, or each its own",
     .fallback = 0,
     .words = {"together", "apart"},
     .samples = {0, 1}}};

std::string unmet_of_by_arrival(const Algorithm&, const Call& call) { return unmet_by_reordered(call); }

struct PartMessage {
  std::uint32_t round;
  Rank from, to;
};

/// Places that messages of a part may carry in all, for its numbers to be compared.
constexpr std::uint64_t most_places = 1 << 18;

std::uint64_t places_of_step(const Schedule& schedule, StepId id) {
  std::uint64_t places = 0;
  for (const Range& range : schedule.ranges(id)) places += range.count();
  return places;
}

/// Adds the messages of one rank of the part; false if they carry too many places in all.
bool append_messages(const Schedule& schedule, std::uint64_t& places, std::vector<PartMessage>& messages) {
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].kind != StepKind::send) continue;
    places += places_of_step(schedule, id);
    messages.push_back({schedule[id].round, schedule.rank(), schedule[id].peer});
  }
  return places <= most_places;
}

/// All messages of the part on the numbers; none if they carry too many places.
std::vector<PartMessage> messages_of_part(const Call& call) {
  Call inner = reordered_call(call);
  std::vector<PartMessage> messages;
  std::uint64_t places = 0;
  Builder builder;
  SharedWork work;
  for (inner.rank = 0; inner.rank < inner.procs; ++inner.rank)
    if (!append_messages(build_schedule(*call.parts.front().algorithm, inner, work, builder), places,
                         messages))
      return {};
  return messages;
}

/// By number: the longest chain of messages, in rising rounds, that begins with one of its own.
std::vector<std::uint32_t> hops_to_the_end(Rank procs, std::vector<PartMessage> messages) {
  std::vector<std::uint32_t> hops(procs, 0), later = hops;  // later: in rounds after the current one
  std::ranges::stable_sort(messages, std::greater(), &PartMessage::round);
  for (auto begin = messages.begin(); begin != messages.end();) {
    const auto end = std::find_if(begin, messages.end(),
                                  [&](const PartMessage& each) { return each.round != begin->round; });
    for (auto each = begin; each != end; ++each)
      hops[each->from] = std::max(hops[each->from], later[each->to] + 1);
    for (auto each = begin; each != end; ++each) later[each->from] = hops[each->from];
    begin = end;
  }
  return hops;
}

/// The numbers, those with the shortest chains first; none if no order of the ranks is better than another.
Ranks by_hops(const Call& call, std::vector<PartMessage> messages) {
  const std::vector<std::uint32_t> hops = hops_to_the_end(call.procs, std::move(messages));
  Ranks numbers(call.procs);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (is_rooted(call.collective)) numbers.erase(numbers.begin());
  std::ranges::stable_sort(numbers, {}, [&](Rank number) { return hops[number]; });
  if (std::ranges::all_of(numbers, [&](Rank each) { return hops[each] == hops[numbers.front()]; }))
    numbers.clear();
  return numbers;
}

/// by_hops() does not depend on arrivals: the latest few results are kept, so that a new forecast costs a
/// sort.
std::shared_ptr<const Ranks> numbers_by_hops(const Call& call) {
  struct Known {
    std::string part;
    Collective collective;
    Rank procs;
    std::vector<Rank> nodes;
    std::shared_ptr<const Ranks> numbers;
  };
  constexpr std::size_t most_known = 8;
  static std::mutex mutex;
  static auto* const known = new std::vector<Known>;  // never freed: threads may outlive static objects
  const Spec& part = call.parts.front();
  const std::string text = spec_text(part);
  const std::vector<Rank> nodes = part.algorithm->is_composed() ? call.nodes : std::vector<Rank>{};
  const auto find = [&] {
    return std::ranges::find_if(*known, [&](const Known& each) {
      return each.procs == call.procs && each.collective == call.collective && each.part == text &&
             each.nodes == nodes;
    });
  };
  {
    const std::lock_guard lock(mutex);
    if (const auto found = find(); found != known->end()) return found->numbers;
  }
  auto made = std::make_shared<const Ranks>(by_hops(call, messages_of_part(call)));
  const std::lock_guard lock(mutex);
  if (find() != known->end()) return made;
  if (known->size() >= most_known) known->erase(known->begin());
  known->push_back({text, call.collective, call.procs, nodes, made});
  return made;
}

/// All ranks but the root, the latest first; those expected together in the order from the root upwards.
Ranks latest_first(const Call& call, const std::vector<std::uint32_t>& delays) {
  std::unordered_map<Rank, std::uint32_t> of_node;  // the delay of its latest rank
  const bool together = call.parameters[0] == Value{static_cast<std::int64_t>(NodeOrder::together)} &&
                        call.nodes.size() == call.procs;
  if (together)
    for (Rank rank = 0; rank < call.procs; ++rank)
      of_node[call.nodes[rank]] = std::max(of_node[call.nodes[rank]], delays[rank]);
  Ranks order;
  for (Rank relative = is_rooted(call.collective) ? 1 : 0; relative < call.procs; ++relative)
    order.push_back(call.absolute(relative));
  const auto key = [&](Rank rank) {
    const Rank node = together ? call.nodes[rank] : 0;
    return std::tuple(together ? ~of_node[node] : 0, node, ~delays[rank]);
  };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

/// The ranks by their new numbers, of which find_numbers() returns the order. The root is number 0.
template <class FindNumbers>
Ranks ranks_by_number(const Call& call, FindNumbers&& find_numbers) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  const Rank first = is_rooted(call.collective) ? call.root : 0;
  Ranks ranks(call.procs);
  for (Rank number = 0; number < call.procs; ++number) ranks[number] = (first + number) % call.procs;
  const bool all_together = std::ranges::all_of(delays, [](std::uint32_t delay) { return delay == 0; });
  // If all numbers have the same schedule, none is better than another. A part with a forecast of its own
  // orders the ranks itself.
  const Algorithm& part = *call.parts.front().algorithm;
  if (all_together || part.symmetry != Symmetry::none || part.arrival_source != ArrivalSource::none)
    return ranks;
  const Ranks numbers = find_numbers();
  if (numbers.empty()) return ranks;
  const Ranks order = latest_first(call, delays);
  for (std::size_t i = 0; i < order.size(); ++i) ranks[numbers[i]] = order[i];
  return ranks;
}

}  // namespace

Ranks ranks_by_arrival(const Call& call, const Plan& part) {
  return ranks_by_number(call, [&] {
    std::vector<PartMessage> messages;
    std::uint64_t places = 0;
    for (const Schedule& schedule : part)
      if (!append_messages(schedule, places, messages)) return Ranks{};
    return by_hops(call, std::move(messages));
  });
}

namespace {

void generate_by_arrival(const Call& call, SharedWork& work, Builder& builder) {
  const auto ranks = work.get([&] { return ranks_by_number(call, [&] { return *numbers_by_hops(call); }); });
  run_reordered(call, *ranks, false, builder);
}

/// The default part: one whose ranks wait for different numbers of others.
constexpr std::string_view part_by_arrival(Collective collective) {
  switch (traits(collective).postcondition) {
    case Postcondition::allgather:
      return "gather_bcast";
    case Postcondition::bcast:
      return "chain";
    case Postcondition::reduce:
      return "pipeline";
    case Postcondition::allreduce:
      return "reduce_bcast";
    default:
      return "binomial";
  }
}

template <Collective collective>
constexpr PartSlot by_arrival_slots[] = {
    {"algorithm", "algorithm on the ranks by arrival", collective, part_by_arrival(collective)}};
template <Collective collective>
constexpr Composition by_arrival_composition = {
    .parts = by_arrival_slots<collective>, .unmet = unmet_of_by_arrival, .pieces = pieces_of_reordered};

template <Collective collective>
constexpr Algorithm by_arrival(CollectiveSet collectives) {
  return {.name = "by_arrival",
          .summary = "Any algorithm on ranks renumbered by arrival: the fewest others wait for late ranks.",
          .source = "Convene; compare Proficz 2018 and 2021 (SLT, SBN)",
          .collectives = collectives,
          .arrival_source = ArrivalSource::forecast,
          .rounds = "those of its part",
          .parameters = by_arrival_parameters,
          .composition = &by_arrival_composition<collective>,
          .generate = generate_by_arrival};
}

}  // namespace

extern constinit const Algorithm allgather_by_arrival =
    by_arrival<Collective::allgather>({Collective::allgather, Collective::allgatherv});
extern constinit const Algorithm gather_by_arrival =
    by_arrival<Collective::gather>({Collective::gather, Collective::gatherv});
extern constinit const Algorithm scatter_by_arrival =
    by_arrival<Collective::scatter>({Collective::scatter, Collective::scatterv});
extern constinit const Algorithm bcast_by_arrival = by_arrival<Collective::bcast>({Collective::bcast});
extern constinit const Algorithm reduce_by_arrival = by_arrival<Collective::reduce>({Collective::reduce});
extern constinit const Algorithm allreduce_by_arrival =
    by_arrival<Collective::allreduce>({Collective::allreduce});

}  // namespace convene::collective
