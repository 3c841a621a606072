// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical reduce: the contributions of a node's ranks are combined at a leader, those of the nodes at the root,
// each by any reduce algorithm. With several leaders a node, each does so for its lane, a part of the vector, and those
// on the root's node send theirs to the root in the end. Hierarchical allreduce: leaders combine by any allreduce
// algorithm, and each hands down the result to its node.
//
// Source:   Träff and Hunold 2020 (lanes); Zhu et al. 2009 (one leader).
// Requires: what its parts require of the numbers of nodes and of ranks on a node; on each node as many ranks as leaders.
//           An operator that does not commute: nodes whose ranks follow one another.
// Cost:     the rounds of its parts, one more with several leaders; each node's sum leaves it once. A leader keeps a sum of
//           its lane, and what its parts keep.
#include "collective/hierarchy.hpp"
#include "collective/reduction.hpp"

namespace convene {

extern const Algorithm reduce_hier, allreduce_hier;

namespace {

enum Slot : std::size_t { between, within, down };

/// Contributions of this node to a lane are combined at its leader, into `sum`.
void reduce_in_node(HierarchicalCall& at, const Call& call, Builder& builder, Rank lane,
                    const View::Places& sum, bool in_place) {
  const Hierarchy& nodes = at.nodes();
  const Ranks& members = nodes.own_members();
  const View::Places mine = at.lane(Buffer::input, lane);
  if (members.size() == 1) return builder.copy(mine, sum);
  const Rank leader = nodes.leader(nodes.own_node(), lane);
  at.run(within,
         {.collective = Collective::reduce,
          .ranks = members,
          .root = number_in(members, leader),
          .in_place = in_place,
          .input = {mine},
          .output = leader == call.rank ? std::vector<View::Places>{sum} : std::vector<View::Places>{},
          .blocks = {at.lane(Buffer::output, lane)}});
}

void generate_reduce(const Call& call, Builder& builder) {
  HierarchicalCall at(reduce_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank own = nodes.own_lane();
  const bool leads = nodes.is_leader(), is_alone = nodes.own_members().size() == 1;
  const View::Places sum = call.is_root()       ? at.lane(Buffer::output, own)
                           : leads && !is_alone ? at.scratch_of_lane(own)
                                                : at.lane(Buffer::input, own);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    if (!is_alone || call.is_root())
      reduce_in_node(at, call, builder, lane, sum,
                     call.in_place && nodes.leader(nodes.own_node(), lane) == call.root);
  at.pass(within, Collective::reduce, Among::node);

  if (leads && nodes.nodes() > 1)
    at.run(between,
           {.collective = Collective::reduce,
            .ranks = nodes.leaders_of_lane(own),
            .root = nodes.root_node(),
            .in_place = true,  // its node's sum is where all nodes' will be
            .input = {sum},
            .output = nodes.is_on_root_node() ? std::vector<View::Places>{sum} : std::vector<View::Places>{},
            .blocks = {at.lane(Buffer::output, own)}});
  at.pass(between, Collective::reduce, Among::nodes);

  if (!leads || !nodes.is_on_root_node()) return;
  builder.round(at.round());
  if (!call.is_root()) return builder.send(call.root, sum);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    if (lane != own) builder.recv(nodes.leader(nodes.root_node(), lane), at.lane(Buffer::output, lane));
}

void generate_allreduce(const Call& call, Builder& builder) {
  HierarchicalCall at(allreduce_hier, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Rank own = nodes.own_lane();
  const View::Places sum = at.lane(Buffer::output, own);
  for (Rank lane = 0; lane < nodes.lanes(); ++lane)
    reduce_in_node(at, call, builder, lane, at.lane(Buffer::output, lane), call.in_place);
  at.pass(within, Collective::reduce, Among::node);

  if (nodes.is_leader() && nodes.nodes() > 1)
    at.run(between, {.collective = Collective::allreduce,
                     .ranks = nodes.leaders_of_lane(own),
                     .in_place = true,
                     .input = {sum},
                     .output = {sum},
                     .blocks = {sum}});
  at.pass(between, Collective::allreduce, Among::nodes);

  const Ranks& members = nodes.own_members();
  for (Rank lane = 0; lane < nodes.lanes() && members.size() > 1; ++lane)
    at.run(down, {.collective = Collective::bcast,
                  .ranks = members,
                  .root = number_in(members, nodes.leader(nodes.own_node(), lane)),
                  .output = {at.lane(Buffer::output, lane)},
                  .blocks = {at.lane(Buffer::output, lane)}});
}

const Composition of_reduce = {
    .parts = {{"between", "how the nodes' sums are combined", Collective::reduce, "binomial", Among::nodes},
              {"within", "how the contributions of a node are combined", Collective::reduce, "linear",
               Among::node}},
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
};
const Composition of_allreduce = {
    .parts = {{"between", "how the nodes' sums are combined", Collective::allreduce, "recursive_doubling",
               Among::nodes},
              {"reduce", "how the contributions of a node are combined", Collective::reduce, "linear",
               Among::node},
              {"bcast", "how a leader hands on the result to its node", Collective::bcast, "linear",
               Among::node}},
    .unmet = unmet_in_hierarchy,
    .pieces = pieces_in_hierarchy,
};

}  // namespace

extern const Algorithm reduce_hier = {
    .name = "hier",
    .summary =
        "Contributions are combined at node leaders, and from there at the root, each by an algorithm.",
    .source = "Zhu et al. 2009; Träff and Hunold 2020",
    .collectives = {Collective::reduce},
    .rounds = "those of its parts, one more with several leaders",
    .parameters = {leaders_parameter},
    .composition = &of_reduce,
    .generate = generate_reduce,
};

extern const Algorithm allreduce_hier = {
    .name = "hier",
    .summary =
        "Contributions are combined at node leaders, then among them, and the result goes down, each by an "
        "algorithm.",
    .source = "Zhu et al. 2009; Träff and Hunold 2020",
    .collectives = {Collective::allreduce},
    .rounds = "those of its parts",
    .parameters = {leaders_parameter},
    .composition = &of_allreduce,
    .generate = generate_allreduce,
};

}  // namespace convene
