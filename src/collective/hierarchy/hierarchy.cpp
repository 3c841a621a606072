// SPDX-License-Identifier: BSD-3-Clause
#include "collective/hierarchy/hierarchy.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace convene::collective {
namespace {

constexpr Rank no_rank = 0xffffffffu;

/// Number of ranks of a phase, and the root's number among them.
using TeamShape = std::pair<Rank, Rank>;

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

/// The shapes of a part's phases on all nodes, each once.
std::set<TeamShape> shapes(const Hierarchy& hierarchy, Among among) {
  if (among == Among::nodes) return {{hierarchy.nodes(), hierarchy.root_node()}};
  std::set<TeamShape> result;
  for (const Team& team : teams(hierarchy, among))
    result.emplace(static_cast<Rank>(team.ranks.size()), team.root);
  return result;
}

Call call_of(const Spec& part, Collective collective, TeamShape shape, Among among, const Call& outer) {
  Call call{.collective = collective,
            .procs = shape.first,
            .root = is_rooted(collective) ? shape.second : 0,
            .parameters = part.parameters,
            .parts = part.parts,
            .commutative = outer.commutative};
  call.nodes.assign(call.procs, 0);
  if (among == Among::nodes) std::iota(call.nodes.begin(), call.nodes.end(), 0);
  return call;
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
  std::unordered_map<Rank, Rank> numbers;
  for (Rank rank = 0; rank < call.procs; ++rank) {
    const Rank node = numbers.emplace(call.nodes[rank], nodes()).first->second;
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
      parts_(call.parts),
      segments_(convene::collective::segments(algorithm, call)) {}

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
      if (call_.nodes[other] == call_.nodes[rank]) latest = std::max(latest, call_.arrivals[other]);
    result.push_back(latest);
  }
  return result;
}

void HierarchicalCall::pass(std::size_t slot, Collective collective, Among among, When when) {
  const Spec& part = parts_[slot];
  std::uint32_t most = 0;
  if (call_.arrivals.empty() || arrival_source(part) != ArrivalSource::forecast) {
    for (const TeamShape& shape : shapes(hierarchy_, among))
      most = std::max(most, rounds_of(part, call_of(part, collective, shape, among, call_)));
  } else {
    for (const Team& team : teams(hierarchy_, among)) {
      const TeamShape shape{static_cast<Rank>(team.ranks.size()), team.root};
      Call call = call_of(part, collective, shape, among, call_);
      call.arrivals = arrivals(team.ranks, when);
      most = std::max(most, rounds_of(part, std::move(call)));
    }
  }
  round_ += most;
}

void HierarchicalCall::pass(std::size_t slot, Collective collective, const Ranks& ranks, Rank root) {
  const TeamShape shape{static_cast<Rank>(ranks.size()), root};
  round_ += rounds_of(parts_[slot], call_of(parts_[slot], collective, shape, Among::node, call_));
}

std::string unmet_in_hierarchy(const Algorithm& algorithm, const Call& call) {
  if (call.nodes.empty()) return "needs the mapping of ranks to nodes";
  const Hierarchy hierarchy(call);
  for (Rank node = 0; node < hierarchy.nodes(); ++node)
    if (const Ranks& members = hierarchy.members(node); members.size() < hierarchy.lanes())
      return "needs " + std::to_string(hierarchy.lanes()) + " leaders on each node, and the node of rank " +
             std::to_string(members.front()) + " has only " + std::to_string(members.size()) +
             (members.size() == 1 ? " rank" : " ranks");
  if (!call.commutative && !hierarchy.has_runs())
    return "needs a commutative operator, or nodes with consecutive ranks";
  const std::vector<Spec>& parts = call.parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartSlot& slot = algorithm.composition->parts[i];
    if (shares_memory(parts[i])) {
      if (parts[i].algorithm->is_composed() || !can_share(slot, call.collective))
        return "cannot have a shared-memory part here";
      if (hierarchy.lanes() > 1) return "needs leaders=1 with a shared-memory part";
      for (const TeamShape& shape : shapes(hierarchy, slot.among))
        if (pieces_in_hierarchy(algorithm, call) %
                segments(*parts[i].algorithm, shape.first, parts[i].parameters) !=
            0)
          return "needs parts with a smaller common multiple of their numbers of segments";
    }
    for (const TeamShape& shape : shapes(hierarchy, slot.among)) {
      const std::string unmet =
          unmet_requirement(*parts[i].algorithm, call_of(parts[i], slot.collective, shape, slot.among, call));
      if (unmet.empty()) continue;
      const char* where = slot.among == Among::nodes ? " between nodes" : " within a node";
      return "cannot be: " + std::string(parts[i].algorithm->name) + where + " " + unmet + ", and has " +
             std::to_string(shape.first) + " there";
    }
  }
  return "";
}

std::uint32_t pieces_in_hierarchy(const Algorithm& algorithm, const Call& call) {
  const Hierarchy hierarchy(call);
  const std::vector<Spec>& parts = call.parts;
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartSlot& slot = algorithm.composition->parts[i];
    for (const TeamShape& shape : shapes(hierarchy, slot.among))
      all.push_back(
          segments(*parts[i].algorithm, call_of(parts[i], slot.collective, shape, slot.among, call)));
  }
  const bool is_vector = call.collective == Collective::bcast || is_reduction(call.collective);
  if (is_vector) return hierarchy.lanes() * common_segments(all);
  // A part's block is one or several of the whole's blocks: with as many places each, all segments of the
  // part have some.
  return *std::max_element(all.begin(), all.end());
}

}  // namespace convene::collective
