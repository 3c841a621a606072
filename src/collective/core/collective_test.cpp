// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/collective.hpp"

#include <gtest/gtest.h>

#include <set>

#include "collective/core/call.hpp"

namespace convene::collective {
namespace {

TEST(CollectiveTable, NamesAreFound) {
  std::set<std::string_view> names;
  for (const Collective collective : all_collectives) {
    EXPECT_EQ(find_collective(name(collective)), collective);
    names.insert(name(collective));
  }
  EXPECT_EQ(names.size(), collectives_count);
  EXPECT_EQ(find_collective("allgatherw"), std::nullopt);
}

TEST(CollectiveTable, PartnersDifferInTheirBlocksAlone) {
  for (const Collective collective : all_collectives) {
    const CollectiveTraits& of = traits(collective);
    if (!of.partner) continue;
    const CollectiveTraits& other = traits(*of.partner);
    EXPECT_EQ(of.postcondition, other.postcondition) << of.name;
    EXPECT_EQ(of.has_root, other.has_root) << of.name;
    EXPECT_EQ(of.has_operator, other.has_operator) << of.name;
    EXPECT_EQ(of.in_place, other.in_place) << of.name;
    EXPECT_NE(has_unequal_blocks(collective), has_unequal_blocks(*of.partner)) << of.name;
  }
}

TEST(CollectiveTable, ArgumentsAreThoseOfMpi) {
  for (const Collective collective : all_collectives) {
    const CollectiveTraits& of = traits(collective);
    for (const BufferTraits& buffer : {of.send, of.recv}) {
      EXPECT_EQ(buffer.present == On::no_rank, buffer.counts == Counts::none) << of.name;
      EXPECT_EQ(buffer.counts == Counts::none, buffer.types == Types::none) << of.name;
      EXPECT_TRUE(!buffer.displacements || buffer.counts > Counts::one) << of.name;
      EXPECT_TRUE(buffer.present != On::root || of.has_root) << of.name;
    }
    EXPECT_TRUE(!of.has_operator || of.shares_counts) << of.name;
  }
  EXPECT_EQ(traits(Collective::barrier).recv.present, On::no_rank);
  EXPECT_EQ(traits(Collective::gatherv).recv.present, On::root);
  EXPECT_EQ(traits(Collective::neighbor_allgatherv).recv.counts, Counts::per_neighbor);
  EXPECT_FALSE(traits(Collective::reduce_scatter).recv.displacements);
}

TEST(CollectiveTable, TraitsAreThoseOfEachCollective) {
  const auto those = [](auto has) {
    std::string text;
    for (const Collective collective : all_collectives)
      if (has(collective)) text += (text.empty() ? "" : " ") + std::string(name(collective));
    return text;
  };
  EXPECT_EQ(those(is_rooted), "gather gatherv scatter scatterv bcast reduce");
  EXPECT_EQ(those(is_reduction), "reduce allreduce reduce_scatter_block reduce_scatter scan exscan");
  EXPECT_EQ(those(has_one_vector), "bcast reduce allreduce scan exscan");
  EXPECT_EQ(those(is_neighborhood),
            "neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv");
  EXPECT_EQ(those(has_unequal_blocks),
            "allgatherv gatherv scatterv alltoallv alltoallw reduce_scatter neighbor_allgatherv "
            "neighbor_alltoallv");
  const auto aliases = [](Collective collective) {
    const Call call = with_graph({.collective = collective, .procs = 4, .in_place = true});
    return in_place_alias(call, 1).has_value();
  };
  EXPECT_EQ(those(aliases),
            "allgather allgatherv gather gatherv scatter scatterv reduce allreduce scan exscan");
}

TEST(CollectiveSet, IsInTheOrderOfTheTable) {
  const CollectiveSet set = {Collective::scan, Collective::gather, Collective::neighbor_allgatherv};
  EXPECT_EQ(set.front(), Collective::gather);
  EXPECT_TRUE(set.contains(Collective::scan));
  EXPECT_FALSE(set.contains(Collective::gatherv));
  EXPECT_EQ(std::vector<Collective>(set.begin(), set.end()),
            (std::vector{Collective::gather, Collective::scan, Collective::neighbor_allgatherv}));
  const CollectiveSet all = CollectiveSet::all();
  EXPECT_TRUE(std::equal(all.begin(), all.end(), all_collectives.begin(), all_collectives.end()));
}

}  // namespace
}  // namespace convene::collective
