// SPDX-License-Identifier: BSD-3-Clause
#include "collective/hierarchy/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace convene::collective {
namespace {

constexpr Rank no_rank = 0xffffffffu;

/// What the schedule of a part on some ranks depends on: their number, the root's number among them, their
/// machine nodes (in the order of the first ranks) and their domains.
struct TeamShape {
  Rank procs, root;
  std::vector<Rank> nodes;
  std::vector<Domains> domains;  // empty if the part does not depend on them
  friend auto operator<=>(const TeamShape&, const TeamShape&) = default;
};

/// The ranks of a part's phase, and the root's number among them.
struct Team {
  Ranks ranks;
  Rank root;
};

/// The teams of all phases of a part.
std::vector<Team> teams(const Hierarchy& hierarchy, Among among) {
  std::vector<Team> result;
  for (Rank lane = 0; lane < hierarchy.lanes(); ++lane) {
    if (among == Among::nodes) {
      result.push_back({hierarchy.leaders_of_lane(lane), hierarchy.root_node()});
      continue;
    }
    for (Rank node = 0; node < hierarchy.nodes(); ++node) {
      const Ranks ranks = among == Among::node ? hierarchy.members(node) : hierarchy.group(node, lane);
      result.push_back({ranks, number_in(ranks, hierarchy.leader(node, lane))});
    }
  }
  return result;
}

TeamShape shape_of(const Team& team, const Spec& part, const Call& outer) {
  TeamShape shape{static_cast<Rank>(team.ranks.size()), team.root, {}, {}};
  std::unordered_map<Rank, Rank> numbers;
  for (const Rank rank : team.ranks)
    shape.nodes.push_back(
        numbers.emplace(outer.nodes[rank], static_cast<Rank>(numbers.size())).first->second);
  if (depends_on_domains(part) && !outer.domains.empty())
    for (const Rank rank : team.ranks) shape.domains.push_back(outer.domains[rank]);
  return shape;
}

/// The shapes of a part's phases on all nodes, each once.
std::set<TeamShape> shapes(const Hierarchy& hierarchy, Among among, const Spec& part, const Call& outer) {
  std::set<TeamShape> result;
  for (const Team& team : teams(hierarchy, among)) result.insert(shape_of(team, part, outer));
  return result;
}

Call call_of(const Spec& part, Collective collective, const TeamShape& shape, const Call& outer) {
  return {.collective = collective,
          .procs = shape.procs,
          .root = is_rooted(collective) ? shape.root : 0,
          .parameters = part.parameters,
          .parts = part.parts,
          .nodes = shape.nodes,
          .domains = shape.domains,
          .commutative = outer.commutative};
}

/// True if a phase may share memory: all ranks know the size of the largest block, and no rank has a part of
/// its result before (which a broadcast of all ranks' blocks would deliver again).
bool can_share(const PartSlot& slot, Collective whole) {
  if (has_one_vector(whole)) return true;
  return sizes_known(whole) == SizesKnown::by_all && whole != Collective::barrier &&
         slot.collective != Collective::bcast;
}

}  // namespace

Hierarchy::Hierarchy(const Call& call)
    : rank_(call.rank),
      root_(is_rooted(call.collective) ? call.root : no_rank),
      lanes_(static_cast<Rank>(call.parameters[0])) {
  if (call.nodes.size() != call.procs)
    throw std::logic_error("a hierarchical call does not know the nodes of its ranks");
  node_of_rank_ = units_of(call);
  for (Rank rank = 0; rank < call.procs; ++rank) {
    const Rank node = node_of_rank_[rank];
    if (node == nodes()) members_.emplace_back();
    members_[node].push_back(rank);
    if (rank == rank_) own_node_ = node;
    if (rank == root_) root_node_ = node;
  }
  const auto size = static_cast<std::uint64_t>(own_members().size());
  while (number_in(own_members(), rank_) >= size * (own_lane_ + 1) / lanes_ && own_lane_ + 1 < lanes_)
    ++own_lane_;
}

Ranks Hierarchy::group(Rank node, Rank lane) const {
  const Ranks& all = members_[node];
  const auto edge = [&](Rank of) {
    return all.begin() + static_cast<std::ptrdiff_t>(all.size() * of / lanes_);
  };
  return {edge(lane), edge(lane + 1)};
}

Rank Hierarchy::leader(Rank node, Rank lane) const {
  const Ranks& all = members_[node];
  const std::size_t first = all.size() * lane / lanes_, end = all.size() * (lane + 1) / lanes_;
  if (node != root_node_ || root_ == no_rank) return all[first];
  const Rank number = number_in(all, root_);
  return first <= number && number < end ? root_ : all[first];
}

Ranks Hierarchy::leaders_of_lane(Rank lane) const {
  Ranks result;
  for (Rank node = 0; node < nodes(); ++node) result.push_back(leader(node, lane));
  return result;
}

Ranks Hierarchy::leaders_of_node(Rank node) const {
  Ranks result;
  for (Rank lane = 0; lane < lanes_; ++lane) result.push_back(leader(node, lane));
  return result;
}

Ranks Hierarchy::ranks_of_lane(Rank lane) const {
  Ranks result;
  for (Rank node = 0; node < nodes(); ++node) {
    const Ranks here = group(node, lane);
    result.insert(result.end(), here.begin(), here.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool Hierarchy::has_runs() const {
  return std::all_of(members_.begin(), members_.end(), [](const Ranks& members) {
    return members.back() - members.front() + 1 == members.size();
  });
}

HierarchicalCall::HierarchicalCall(const Algorithm& algorithm, const Call& call, Builder& builder)
    : call_(call),
      builder_(builder),
      hierarchy_(call),
      slots_(algorithm.composition->parts),
      parts_(call.parts),
      segments_(convene::collective::segments(algorithm, call)) {
  if (!builder.shares_on_node()) return;
  shared_ = shared_layout(algorithm, call);
  for (Rank node = 0; node < hierarchy_.own_node(); ++node)
    team_on_node_ += call.nodes[hierarchy_.members(node).front()] == call.nodes[call.rank];
}

void HierarchicalCall::run(std::size_t slot, Phase phase, When when) const {
  phase.arrivals = arrivals(phase.ranks, when);
  if (!shared_.slots.empty() && shares_memory(parts_[slot])) {
    const SharedLayout::Slot& places = shared_.slots[slot];
    const Rank team = slots_[slot].among == Among::nodes ? 0 : team_on_node_;
    builder_.share_from(places.first + team * places.of_team);
  }
  run_phase(parts_[slot], std::move(phase), call_, round_, builder_);
}

HierarchicalCall::Held HierarchicalCall::all(Buffer buffer) const {
  Ranks ranks(call_.procs);
  std::iota(ranks.begin(), ranks.end(), 0);
  return {buffer, std::move(ranks)};
}

HierarchicalCall::Held HierarchicalCall::scratch(Ranks ranks) const {
  std::vector<Place> sized_like;
  for (const Rank rank : ranks)
    for (std::uint32_t segment = 0; segment < segments_; ++segment)
      sized_like.push_back(rank * segments_ + segment);
  return {builder_.scratch(sized_like), std::move(ranks)};
}

Embedding::Places HierarchicalCall::block(const Held& held, Rank rank) const {
  const auto at = std::lower_bound(held.there.begin(), held.there.end(), rank) - held.there.begin();
  return {Range(held.buffer, static_cast<Place>(at) * segments_, segments_)};
}

Embedding::Places HierarchicalCall::blocks(const Held& held, const Ranks& ranks) const {
  Embedding::Places places;
  for (const Rank rank : ranks) places.push_back(block(held, rank).front());
  return places;
}

std::vector<Embedding::Places> HierarchicalCall::each(const Held& held, const Ranks& ranks) const {
  std::vector<Embedding::Places> result;
  for (const Rank rank : ranks) result.push_back(block(held, rank));
  return result;
}

std::vector<Embedding::Places> HierarchicalCall::by_node(const Held& held, Rank lane) const {
  std::vector<Embedding::Places> result;
  for (Rank node = 0; node < hierarchy_.nodes(); ++node)
    result.push_back(blocks(held, hierarchy_.group(node, lane)));
  return result;
}

std::vector<Embedding::Places> HierarchicalCall::by_lane(const Held& held) const {
  std::vector<Embedding::Places> result;
  for (Rank lane = 0; lane < hierarchy_.lanes(); ++lane)
    result.push_back(blocks(held, hierarchy_.ranks_of_lane(lane)));
  return result;
}

Embedding::Places HierarchicalCall::lane(Buffer buffer, Rank lane) const {
  const std::uint32_t each = segments_ / hierarchy_.lanes();
  return {Range(buffer, lane * each, each)};
}

Embedding::Places HierarchicalCall::scratch_of_lane(Rank of) const {
  const std::uint32_t each = segments_ / hierarchy_.lanes();
  std::vector<Place> sized_like(each);
  std::iota(sized_like.begin(), sized_like.end(), of * each);
  return {Range(builder_.scratch(sized_like), 0, each)};
}

std::vector<std::int32_t> HierarchicalCall::arrivals(const Ranks& ranks, When when) const {
  std::vector<std::int32_t> result;
  if (call_.arrivals.empty() || when == When::unknown) return result;
  for (const Rank rank : ranks) {
    std::int32_t latest = call_.arrivals[rank];
    for (Rank other = 0; when == When::node_arrived && other < call_.procs; ++other)
      if (hierarchy_.node_of(other) == hierarchy_.node_of(rank))
        latest = std::max(latest, call_.arrivals[other]);
    result.push_back(latest);
  }
  return result;
}

void HierarchicalCall::pass(std::size_t slot, Collective collective, Among among, When when) {
  const Spec& part = parts_[slot];
  std::uint32_t most = 0;
  if (call_.arrivals.empty() || arrival_source(part) != ArrivalSource::forecast) {
    for (const TeamShape& shape : shapes(hierarchy_, among, part, call_))
      most = std::max(most, rounds_of(part, call_of(part, collective, shape, call_)));
  } else {
    for (const Team& team : teams(hierarchy_, among)) {
      Call call = call_of(part, collective, shape_of(team, part, call_), call_);
      call.arrivals = arrivals(team.ranks, when);
      most = std::max(most, rounds_of(part, std::move(call)));
    }
  }
  round_ += most;
}

void HierarchicalCall::pass(std::size_t slot, Collective collective, const Ranks& ranks, Rank root) {
  const Spec& part = parts_[slot];
  round_ += rounds_of(part, call_of(part, collective, shape_of({ranks, root}, part, call_), call_));
}

namespace {

/// A requirement of a part with shared memory that a call does not meet: a clause, or empty.
std::string unmet_by_shared_part(const Algorithm& algorithm, const Call& call, const Hierarchy& hierarchy,
                                 std::size_t i) {
  const PartSlot& slot = algorithm.composition->parts[i];
  const Spec& part = call.parts[i];
  const Algorithm& of_part = *part.algorithm;
  const bool knows_layout = algorithm.composition->shared_places != nullptr;
  const bool is_fit = of_part.is_composed()
                          ? knows_layout && depends_on_domains(part) && of_part.composition->shared_places
                          : knows_layout || !depends_on_domains(algorithm, call.parameters, call.parts);
  const auto all = shapes(hierarchy, slot.among, part, call);
  // The blocks of nodes differ in size.
  const bool differs = slot.among == Among::nodes && !has_one_vector(call.collective) &&
                       std::any_of(all.begin(), all.end(), [](const auto& each) { return each.procs > 1; });
  if (!is_fit || differs || !can_share(slot, call.collective)) return "cannot have a shared-memory part here";
  if (hierarchy.lanes() > 1) return "needs leaders=1 with a shared-memory part";
  const std::uint32_t pieces = pieces_in_hierarchy(algorithm, call);
  for (const TeamShape& shape : all)
    if (pieces % segments(of_part, call_of(part, slot.collective, shape, call)) != 0)
      return "needs parts with a smaller common multiple of their numbers of segments";
  return "";
}

}  // namespace

std::string unmet_in_hierarchy(const Algorithm& algorithm, const Call& call) {
  if (call.nodes.empty()) return "needs the mapping of ranks to nodes";
  const Hierarchy hierarchy(call);
  const std::string_view unit = divides_nodes(call.parameters) ? "domain" : "node";
  for (Rank node = 0; node < hierarchy.nodes(); ++node)
    if (const Ranks& members = hierarchy.members(node); members.size() < hierarchy.lanes())
      return fmt::format("needs {} leaders on each {}, and the {} of rank {} has only {} {}",
                         hierarchy.lanes(), unit, unit, members.front(), members.size(),
                         members.size() == 1 ? "rank" : "ranks");
  if (!call.commutative && !hierarchy.has_runs())
    return fmt::format("needs a commutative operator, or {}s with consecutive ranks", unit);
  const std::vector<Spec>& parts = call.parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartSlot& slot = algorithm.composition->parts[i];
    for (const TeamShape& shape : shapes(hierarchy, slot.among, parts[i], call)) {
      const std::string unmet =
          unmet_requirement(*parts[i].algorithm, call_of(parts[i], slot.collective, shape, call));
      if (unmet.empty()) continue;
      return fmt::format(
          "cannot be: {} {} {}, and has {} there", parts[i].algorithm->name,
          slot.among == Among::nodes ? fmt::format("between {}s", unit) : fmt::format("within a {}", unit),
          unmet, shape.procs);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (shares_memory(parts[i]))
      if (std::string why = unmet_by_shared_part(algorithm, call, hierarchy, i); !why.empty()) return why;
  return "";
}

std::uint32_t pieces_in_hierarchy(const Algorithm& algorithm, const Call& call) {
  const Hierarchy hierarchy(call);
  const std::vector<Spec>& parts = call.parts;
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartSlot& slot = algorithm.composition->parts[i];
    for (const TeamShape& shape : shapes(hierarchy, slot.among, parts[i], call))
      all.push_back(segments(*parts[i].algorithm, call_of(parts[i], slot.collective, shape, call)));
  }
  const bool is_vector = call.collective == Collective::bcast || is_reduction(call.collective);
  if (is_vector) return hierarchy.lanes() * common_segments(all);
  // A part's block is one or several of the whole's blocks: with as many places each, all segments of the
  // part have some.
  return *std::max_element(all.begin(), all.end());
}

SharedLayout shared_layout(const Algorithm& algorithm, const Call& call) {
  const Hierarchy hierarchy(call);
  const std::uint32_t pieces = pieces_in_hierarchy(algorithm, call);
  std::unordered_map<Rank, std::uint64_t> domains;  // by machine node
  std::uint64_t most_domains = 0;
  for (Rank node = 0; node < hierarchy.nodes(); ++node)
    most_domains = std::max(most_domains, ++domains[call.nodes[hierarchy.members(node).front()]]);
  SharedLayout layout;
  for (std::size_t i = 0; i < call.parts.size(); ++i) {
    const Spec& part = call.parts[i];
    const PartSlot& slot = algorithm.composition->parts[i];
    layout.slots.push_back({layout.places, 0});
    SharedLayout::Slot& places = layout.slots.back();
    if (!shares_memory(part)) continue;
    for (const TeamShape& shape : shapes(hierarchy, slot.among, part, call)) {
      const Call of = call_of(part, slot.collective, shape, call);
      const std::uint32_t each = pieces / segments(*part.algorithm, of);
      places.of_team = std::max(places.of_team, shared_places(*part.algorithm, of) * each);
    }
    layout.places += places.of_team * (slot.among == Among::nodes ? 1 : most_domains);
  }
  return layout;
}

std::uint64_t shared_in_hierarchy(const Algorithm& algorithm, const Call& call) {
  return shared_layout(algorithm, call).places;
}

}  // namespace convene::collective
