// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical all-to-all: a leader gathers all blocks of its group, leaders of different nodes exchange the
// blocks between their nodes, and scatter them to the ranks of their nodes. Between nodes one message
// replaces one for each pair of ranks: for small blocks.
//
// Source:   Kandalla et al. 2009 (leaders and groups).
// Requires: on each node as many ranks as leaders. For parts whose blocks must be equal: nodes and groups of
//           equal size.
// Cost:     the rounds of its parts; every block is sent up to three times; a leader stores 2PG blocks, where
//           G is the size of its group.
#include <algorithm>
#include <numeric>

#include "collective/hierarchy/hierarchy.hpp"

namespace convene::collective {

extern const Algorithm alltoall_hier;

namespace {

/// Blocks by source and target: a row for each source, a column for each target.
struct Table {
  Buffer buffer;
  Ranks sources, targets;

  Range at(Rank source, Rank target, std::uint32_t segments) const {
    const auto number = [](const Ranks& ranks, Rank rank) {
      return static_cast<Rank>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    };
    const auto row = number(sources, source), column = number(targets, target);
    return Range(buffer, (row * static_cast<Rank>(targets.size()) + column) * segments, segments);
  }
  Embedding::Places blocks(const Ranks& from, const Ranks& to, std::uint32_t segments) const {
    Embedding::Places places;
    for (const Rank source : from)
      for (const Rank target : to) places.push_back(at(source, target, segments));
    return places;
  }
};

void generate_alltoall_hier(const Call& call, Builder& builder) {
  HierarchicalCall at(alltoall_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank lane = nodes.own_lane();
  const std::uint32_t segments = at.segments();
  const Ranks all = at.all(Buffer::input).there, own = {call.rank}, members = nodes.own_members();
  const Ranks group = nodes.group(nodes.own_node(), lane);
  const bool leads = nodes.is_leader();
  const auto scratch = [&](const Ranks& sources, const Ranks& targets) {
    std::vector<Place> sized_like;
    for (std::size_t i = 0; i < sources.size() * targets.size() * segments; ++i)
      sized_like.push_back(static_cast<Place>(i % segments));  // blocks are of equal size
    return Table{builder.scratch(sized_like), sources, targets};
  };
  /// The sizes of `blocks` blocks.
  const auto sizes = [&](std::size_t blocks) {
    return Embedding::Places(blocks, Range(Buffer::output, 0, segments));
  };
  const Table mine{Buffer::input, own, all}, arrived{Buffer::output, all, own};

  const bool gathers = leads && group.size() > 1;
  const Table out = gathers ? scratch(group, all) : mine;
  if (group.size() > 1) {
    Phase phase{.collective = Collective::gather,
                .ranks = group,
                .root = number_in(group, nodes.leader(nodes.own_node(), lane)),
                .input = {mine.blocks(own, all, segments)}};
    for (const Rank source : group) {
      if (leads) phase.output.push_back(out.blocks({source}, all, segments));
      phase.blocks.push_back(sizes(all.size()));
    }
    at.run(up, std::move(phase));
  }
  at.pass(up, Collective::gather, Among::group);

  Table in = out;
  if (leads && nodes.nodes() > 1) {
    in = members.size() > 1 ? scratch(nodes.ranks_of_lane(lane), members) : arrived;
    Phase phase{.collective = Collective::alltoall, .ranks = nodes.leaders_of_lane(lane)};
    for (Rank node = 0; node < nodes.nodes(); ++node) {
      phase.input.push_back(out.blocks(group, nodes.members(node), segments));
      phase.output.push_back(in.blocks(nodes.group(node, lane), members, segments));
      phase.blocks.push_back(sizes(phase.output.back().size()));
    }
    at.run(between, std::move(phase));
  }
  at.pass(between, Collective::alltoall, Among::nodes);

  if (members.size() == 1 && nodes.nodes() > 1) return;
  for (Rank of = 0; of < nodes.lanes(); ++of) {
    const Ranks sources = nodes.ranks_of_lane(of);
    Phase phase{.collective = Collective::scatter,
                .ranks = members,
                .root = number_in(members, nodes.leader(nodes.own_node(), of)),
                .output = {arrived.blocks(sources, own, segments)}};
    for (const Rank target : members) {
      if (leads && of == lane) phase.input.push_back(in.blocks(sources, {target}, segments));
      phase.blocks.push_back(sizes(sources.size()));
    }
    at.run(down, std::move(phase));
  }
}

/// True if a part accepts blocks between nodes of unequal sizes: it implements alltoallv without relaying.
/// Relayed blocks are padded, which is only done for a whole call.
bool tolerates_unequal_blocks(const Spec& part, Rank nodes) {
  Call call{.collective = Collective::alltoallv,
            .procs = nodes,
            .parameters = part.parameters,
            .parts = part.parts};
  call.nodes.resize(nodes);
  std::iota(call.nodes.begin(), call.nodes.end(), 0);
  return part.algorithm->serves(call.collective) && !relays(part) &&
         unmet_requirement(*part.algorithm, call).empty();
}

/// For a part that needs equal blocks, all nodes and all groups must be of equal size.
std::string unmet_of_alltoall(const Algorithm& algorithm, const Call& call) {
  if (std::string why = unmet_in_hierarchy(algorithm, call); !why.empty()) return why;
  const Spec& exchange = call.parts[between];
  const Hierarchy nodes(call);
  if (tolerates_unequal_blocks(exchange, nodes.nodes())) return "";
  for (Rank node = 0; node < nodes.nodes(); ++node)
    for (Rank lane = 0; lane < nodes.lanes(); ++lane)
      if (nodes.members(node).size() != nodes.members(0).size() ||
          nodes.group(node, lane).size() != nodes.group(0, 0).size())
        return "cannot be: " + std::string(exchange.algorithm->name) +
               " between nodes needs nodes of equal size, and the same number of ranks for each leader";
  return "";
}

constexpr PartSlot alltoall_hier_parts[] = {
    {"between", "exchange between the leaders of different nodes", Collective::alltoall, "pairwise",
     Among::nodes},
    {"gather", "gather to the leader within its group", Collective::gather, "linear", Among::group, true},
    {"scatter", "scatter by the leader within its group", Collective::scatter, "linear", Among::node, true}};

constexpr Composition alltoall_hier_composition = {
    .parts = alltoall_hier_parts,
    .unmet = unmet_of_alltoall,
    .pieces = pieces_in_hierarchy,
};

}  // namespace

extern constinit const Algorithm alltoall_hier = {
    .name = "hier",
    .summary =
        "Leaders gather the blocks of their nodes, exchange them between nodes, and scatter what they "
        "receive.",
    .source = "Kandalla et al. 2009",
    .collectives = {Collective::alltoall},
    .rounds = "those of its parts",
    .parameters = std::span(hierarchy_parameters).first<1>(),
    .composition = &alltoall_hier_composition,
    .generate = generate_alltoall_hier,
};

}  // namespace convene::collective
