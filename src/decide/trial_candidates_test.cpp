// SPDX-License-Identifier: BSD-3-Clause
#include "decide/trial_candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convene::decide {
namespace {

std::vector<std::string> texts(const CallContext& context, std::size_t most = 3) {
  std::vector<std::string> result;
  for (const Spec& spec : trial_candidates(context, most)) result.push_back(spec_text(spec));
  return result;
}

CallContext on_one_node(Collective collective, Rank procs, std::uint64_t total_bytes) {
  return {.collective = collective,
          .procs = procs,
          .total_bytes = total_bytes,
          .nodes = 1,
          .ranks_per_node = procs,
          .node_of_rank = std::vector<Rank>(procs, 0)};
}

TEST(TrialCandidates, BeginWithSharedMemoryOnOneNode) {
  const CallContext context = on_one_node(Collective::allgather, 8, 64);
  EXPECT_EQ(texts(context).front(), "shared");
  CallContext without = context;
  without.may_share = 0;
  EXPECT_THAT(texts(without), testing::Not(testing::Contains("shared")));
}

TEST(TrialCandidates, TakeFewRoundsForSmallBlocks) {
  CallContext context = on_one_node(Collective::allgather, 16, 16 * 8);
  context.may_share = 0;
  EXPECT_THAT(texts(context), testing::Not(testing::Contains("ring")));
}

TEST(TrialCandidates, MeetTheirRequirements) {
  for (const Collective collective : all_collectives) {
    if (!is_tried(collective)) continue;
    for (const Rank procs : {2u, 3u, 5u, 8u, 64u, 1000u}) {
      for (const std::uint64_t bytes : {std::uint64_t{8} * procs, std::uint64_t{1} << 20}) {
        const CallContext context = on_one_node(collective, procs, bytes);
        const std::vector<Spec> specs = trial_candidates(context, 3);
        EXPECT_FALSE(specs.empty()) << name(collective) << " " << procs;
        EXPECT_LE(specs.size(), 3u);
        for (const Spec& spec : specs) {
          EXPECT_FALSE(spec.algorithm->is_native());
          EXPECT_EQ(unmet_requirement(*spec.algorithm, {.collective = collective,
                                                        .procs = procs,
                                                        .parameters = spec.parameters,
                                                        .parts = spec.parts,
                                                        .nodes = context.node_of_rank}),
                    "");
        }
      }
    }
  }
}

TEST(TrialCandidates, KnowNodes) {
  CallContext context{.collective = Collective::allgather,
                      .procs = 16,
                      .total_bytes = 16 * 1024,
                      .nodes = 4,
                      .ranks_per_node = 4};
  for (Rank rank = 0; rank < 16; ++rank) context.node_of_rank.push_back(rank / 4);
  EXPECT_THAT(texts(context), testing::Not(testing::Contains("shared")));
  EXPECT_FALSE(texts(context).empty());
}

TEST(TrialCandidates, HaveNoneWhereSizesDiffer) {
  for (const Collective collective : {Collective::gatherv, Collective::scatterv, Collective::alltoallv})
    EXPECT_FALSE(is_tried(collective)) << name(collective);
}

TEST(TrialCandidates, AreIdentified) {
  const auto some = trial_candidates(on_one_node(Collective::allgather, 8, 64), 3);
  const auto fewer = trial_candidates(on_one_node(Collective::allgather, 8, 64), 2);
  EXPECT_EQ(identity_of(some), identity_of(some));
  EXPECT_NE(identity_of(some), identity_of(fewer));
  EXPECT_GE(identity_of(some), 0);
}

}  // namespace
}  // namespace convene::decide
