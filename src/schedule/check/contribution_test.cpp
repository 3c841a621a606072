// SPDX-License-Identifier: BSD-3-Clause
// Sums as contents: combine steps in the checker and in the printers.
#include "schedule/check/contribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "schedule/check/checker.hpp"
#include "schedule/core/builder.hpp"
#include "schedule/print/frames.hpp"
#include "schedule/print/print.hpp"
#include "schedule/print/svg/print_svg.hpp"

namespace convene::schedule {
namespace {

using testing::HasSubstr;

constexpr Range in(Place place) { return Range(Buffer::input, place); }
constexpr Range out(Place place) { return Range(Buffer::output, place); }

std::string fault_of(Expressions& sums, Content left, Content right) {
  std::string fault;
  sums.combine(left, right, fault);
  return fault;
}

TEST(Expressions, AreEqualOnlyWithEqualBrackets) {
  Expressions sums(3, {.segments = 1, .in_order = true});
  std::string fault;
  const Content left = sums.combine(sums.combine(0, 1, fault), 2, fault);
  const Content right = sums.combine(0, sums.combine(1, 2, fault), fault);
  EXPECT_EQ(fault, "");
  EXPECT_NE(left, right);
  EXPECT_EQ(left, sums.combine(sums.combine(0, 1, fault), 2, fault));
  EXPECT_TRUE(sums.is_sum(left, 2, 0) && sums.is_sum(right, 2, 0));
  EXPECT_FALSE(sums.is_sum(left, 1, 0));
}

TEST(Expressions, RefuseWhatNoReductionWants) {
  Expressions sums(70, {.segments = 2, .in_order = true});
  std::string fault;
  EXPECT_EQ(fault_of(sums, 0, 3), "combines rank 0's segment 0 with rank 1's segment 1");
  EXPECT_EQ(fault_of(sums, 2, 0),
            "combines rank 1's segment 0 with rank 0's segment 0, which is not in rank order");
  EXPECT_THAT(fault_of(sums, 0, 4), HasSubstr("not in rank order"));
  const Content both = sums.combine(136, 138, fault);
  EXPECT_THAT(fault_of(sums, both, 138), HasSubstr("the contribution of rank 69 counts twice"));
  EXPECT_THAT(fault_of(sums, nothing, 0), HasSubstr("no contribution"));
  EXPECT_EQ(fault, "");
}

TEST(Expressions, KnowTheirRanks) {
  Expressions sums(5, {.segments = 2});
  std::string fault;
  const Content sum = sums.combine(sums.combine(9, 1, fault), 3, fault);
  EXPECT_EQ(sums.ranks(sum), (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(sums.label(sum), "(0,1,4).1");
  EXPECT_EQ(sums.label(4), "2.0");
  EXPECT_EQ(sums.in_words(sum), "segment 1 of ranks 0,1,4");
}

/// Rank 1 sends its contribution to rank 0, which combines with `combine`.
template <class Combine>
Plan pair_plan(Combine&& combine) {
  Plan plan;
  for (Rank rank = 0; rank < 2; ++rank) {
    Builder builder;
    builder.begin(2, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, rank == 0 ? 1 : 0);
    if (rank == 1)
      builder.send(0, in(0));
    else
      combine(builder);
    plan.push_back(builder.finish());
  }
  return plan;
}

Contract pair_contract(bool in_order = true) {
  Contract contract(2);
  contract.reduction = {.segments = 1, .in_order = in_order};
  contract[0] = {{0}, {nothing}, {1}};
  contract[1] = {{1}, {}, {}};
  return contract;
}

void reduce(Builder& builder) {
  builder.recv(1, out(0));
  builder.combine(in(0), out(0));
}

void reduce_backwards(Builder& builder) {
  const Place like[] = {0};
  const Range inbox(builder.scratch(like), 0);
  builder.copy(in(0), out(0));
  builder.recv(1, inbox);
  builder.combine(inbox, out(0));
}

TEST(Checker, ChecksAReduction) {
  const Verdict verdict = check(pair_plan(reduce), pair_contract());
  EXPECT_EQ(verdict.why, "");
  EXPECT_EQ(verdict.statistics.most_blocks_combined, 1u);
}

TEST(Checker, KeepsTheOrderOfRanksWhereItMatters) {
  EXPECT_EQ(check(pair_plan(reduce_backwards), pair_contract(false)).why, "");
  EXPECT_EQ(check(pair_plan(reduce_backwards), pair_contract()).why,
            "rank 0, step 2 (round 0, combine scratch0 0 with output 0): combines rank 1's segment 0 with "
            "rank 0's segment "
            "0, which is not in rank order");
}

TEST(Checker, FindsWhatASumLacks) {
  EXPECT_EQ(check(pair_plan([](Builder& builder) { builder.recv(1, out(0)); }), pair_contract()).why,
            "rank 0: output place 0 should hold segment 0 of ranks 0 to 1 but holds rank 1's segment 0; last "
            "written by rank "
            "0, step 0 (round 0, recv message 0 from rank 1 into output 0)");
}

TEST(Checker, FindsACombineWhereNothingIsReduced) {
  Contract contract = pair_contract();
  contract.reduction = {};
  EXPECT_THAT(check(pair_plan(reduce), contract).why,
              HasSubstr("combines, but the collective has no operator"));
}

TEST(Checker, FindsACombineThatWritesTheInput) {
  EXPECT_THAT(check(pair_plan([](Builder& builder) {
                      builder.recv(1, out(0));
                      builder.combine(out(0), in(0));
                    }),
                    pair_contract(false))
                  .why,
              HasSubstr("writes into the caller's input"));
}

/// Both ranks exchange and combine, each with its own contribution on the left: their bits may differ.
TEST(Checker, ComparesExpressionsOfAllRanks) {
  Plan plan;
  Contract contract(2);
  contract.reduction = {.segments = 1, .in_order = false, .same_expression = true};
  for (Rank rank = 0; rank < 2; ++rank) {
    Builder builder;
    builder.begin(2, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, 1);
    builder.send(1 - rank, in(0));
    builder.recv(1 - rank, out(0));
    builder.combine(in(0), out(0));
    plan.push_back(builder.finish());
    contract[rank] = {{static_cast<Content>(rank)}, {nothing}, {1}};
  }
  EXPECT_EQ(check(plan, contract).why,
            "rank 1: output place 0 holds segment 0 of ranks 0,1, but combined in another order or grouping "
            "than on rank 0; last written by rank 1, step 2 (round 0, combine input 0 with output 0)");
  contract.reduction.same_expression = false;
  EXPECT_EQ(check(plan, contract).why, "");
}

const PlanInfo info{.collective = "reduce", .algorithm = "pair", .procs = 2};

TEST(ToText, ShowsCombines) {
  EXPECT_THAT(to_text(pair_plan(reduce), info, pair_contract(), {.steps = true, .rank = 0}),
              HasSubstr("     1      0  combine  input 0 with output 0         0\n"));
}

TEST(ToText, ShowsSumsByTheirRanks) {
  Plan plan;
  Contract contract(3);
  contract.reduction = {.segments = 1, .in_order = true};
  for (Rank rank = 0; rank < 3; ++rank) {  // a chain from rank 2 to rank 0
    Builder builder;
    builder.begin(3, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, rank == 0 ? 1 : 0);
    const Place like[] = {0};
    const Range sum = rank == 0 ? out(0) : Range(builder.scratch(like), 0);
    builder.round(1 - std::min(rank, 1u));
    if (rank < 2) builder.recv(rank + 1, sum);
    if (rank < 2) builder.combine(in(0), sum);
    builder.round(rank == 2 ? 0 : 1);
    if (rank > 0) builder.send(rank - 1, rank == 2 ? in(0) : sum);
    plan.push_back(builder.finish());
    contract[rank].input = {static_cast<Content>(rank)};
  }
  contract[0].output = {nothing};
  contract[0].wanted = {2};
  EXPECT_THAT(to_text(plan, info, contract), HasSubstr("     0              (1,2) from 1\n"));
}

TEST(ToJson, ShowsBothSidesOfACombine) {
  EXPECT_THAT(
      to_json(pair_plan(reduce), info),
      HasSubstr(R"({"id": 1, "kind": "combine", "round": 0, "from": [["input", 0]], "to": [["output", 0]], )"
                R"("after": [0]})"));
}

TEST(ToGoal, CalculatesCombines) {
  EXPECT_THAT(
      to_goal(pair_plan(reduce), info, {.bytes_per_block = 100, .combine_nanoseconds_per_byte = 0.25}),
      HasSubstr("l2: calc 25\n"));
}

TEST(Frames, ShowSums) {
  const Frames simulated = simulate_frames(pair_plan(reduce), pair_contract());
  ASSERT_EQ(simulated.frames.size(), 1u);
  const Cell& sum = simulated.frames[0].cells[0][1];  // below the input
  EXPECT_EQ(sum.change, Change::combined);
  EXPECT_EQ(simulated.expressions->label(sum.content), "(0,1)");
}

TEST(Svg, DrawsSums) {
  const std::string picture = to_svg(pair_plan(reduce), info, pair_contract());
  EXPECT_THAT(picture, HasSubstr(">0,1<"));
  EXPECT_THAT(picture, HasSubstr(">combined<"));
}

TEST(Svg, SaysWhichCombineCannotBeDrawn) {
  EXPECT_THROW(to_svg(pair_plan(reduce_backwards), info, pair_contract()), Error);
}

}  // namespace
}  // namespace convene::schedule
