// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/print.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using nlohmann::json;
using testing::HasSubstr;

PlanInfo ring_info(Rank procs) { return {.collective = "allgather", .algorithm = "ring", .procs = procs}; }

TEST(ToText, ShowsRoundByRoundWhoSendsWhatToWhom) {
  EXPECT_EQ(
      to_text(ring_plan(3), ring_info(3), ring_contract(3)),
      R"(allgather by ring, 3 processes: 2 rounds, 6 messages, 6 blocks; the busiest rank sends 2 blocks in 2 messages

round 0
  rank  sends   receives
     0  0 to 1  2 from 2
     1  1 to 2  0 from 0
     2  2 to 0  1 from 1

round 1
  rank  sends   receives
     0  2 to 1  1 from 2
     1  0 to 2  2 from 0
     2  1 to 0  0 from 1
)");
}

TEST(ToText, ShowsTheStepsOfOneRank) {
  EXPECT_EQ(
      to_text(ring_plan(3), ring_info(3), ring_contract(3), {.steps = true, .rank = 1}),
      R"(allgather by ring, 3 processes: 2 rounds, 6 messages, 6 blocks; the busiest rank sends 2 blocks in 2 messages

rank 1
  step  round  does                                   after
     0      0  copy  input 0 to output 1
     1      0  send  output 1 to rank 2, message 0    0
     2      0  recv  output 0 from rank 0, message 0
     3      1  send  output 0 to rank 2, message 1    2
     4      1  recv  output 2 from rank 0, message 1
)");
}

TEST(ToText, NamesParametersAndSegments) {
  PlanInfo info = ring_info(3);
  info.parameters = {{"segments", "2"}};
  info.segments = 2;  // the contents of the ring's blocks, read as segments
  const std::string text = to_text(ring_plan(3), info, ring_contract(3));
  EXPECT_THAT(text, HasSubstr("allgather by ring (segments=2), 3 processes"));
  EXPECT_THAT(text, HasSubstr("     2  1.0 to 0  0.1 from 1\n"));
}

TEST(ToText, CutsLongLists) {
  const auto half = [](Rank rank) {
    Builder builder;
    builder.begin(2, rank);
    builder.buffer(Buffer::input, 100);
    builder.buffer(Buffer::output, 200);
    rank == 0 ? builder.send(1, Range(Buffer::input, 0, 50, 2))
              : builder.recv(0, Range(Buffer::output, 0, 50, 2));
    return builder.finish();
  };
  Contract contract(2);
  for (RankContract& mine : contract) {
    mine.input.resize(100);
    std::iota(mine.input.begin(), mine.input.end(), 0);
    mine.output.assign(200, nothing);
    mine.wanted = mine.output;
  }
  EXPECT_THAT(to_text({half(0), half(1)}, ring_info(2), contract),
              HasSubstr("50 blocks (0,2,4,6,8,10,12,…) to 1\n"));
}

TEST(ToText, PrintsAPlanThatIsNotWhole) {
  Plan plan = ring_plan(3);
  plan[1] = build_ring(2, 1);
  EXPECT_THAT(to_text(plan, ring_info(3), ring_contract(3)), HasSubstr("not a whole plan: rank"));
}

TEST(ToText, PrintsOneProcessAlone) {
  EXPECT_EQ(
      to_text(ring_plan(1), ring_info(1), ring_contract(1)),
      "allgather by ring, 1 process: 0 rounds, 0 messages, 0 blocks; the busiest rank sends 0 blocks in 0 "
      "messages\n");
}

TEST(ToJson, IsTheContract) {
  PlanInfo info = ring_info(2);
  info.root = 1;
  info.parameters = {{"send", "a \"quoted\" word"}, {"segments", "16"}};
  const json wanted = json::parse(R"({
    "collective": "allgather", "algorithm": "ring", "procs": 2, "root": 1,
    "parameters": {"send": "a \"quoted\" word", "segments": 16},
    "rounds": 1, "messages": 2, "blocks": 2,
    "ranks": [
      {"rank": 0, "steps": [
        {"id": 0, "kind": "copy", "round": 0, "from": [["input", 0]], "to": [["output", 0]], "after": []},
        {"id": 1, "kind": "send", "peer": 1, "match": 0, "round": 0, "slots": [["output", 0]], "after": [0]},
        {"id": 2, "kind": "recv", "peer": 1, "match": 0, "round": 0, "slots": [["output", 1]], "after": []}]},
      {"rank": 1, "steps": [
        {"id": 0, "kind": "copy", "round": 0, "from": [["input", 0]], "to": [["output", 1]], "after": []},
        {"id": 1, "kind": "send", "peer": 0, "match": 0, "round": 0, "slots": [["output", 1]], "after": [0]},
        {"id": 2, "kind": "recv", "peer": 0, "match": 0, "round": 0, "slots": [["output", 0]], "after": []}]}]})");
  EXPECT_EQ(json::parse(to_json(ring_plan(2), info)), wanted);
}

TEST(ToJson, KeepsTheOrderOfKeysAndOfSlots) {
  Builder builder;
  builder.begin(2, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, 5);
  const std::vector<Place> like{3, 4};
  builder.scratch(like);
  const Buffer second = builder.scratch(like);
  builder.copy({{Range(Buffer::output, 3, 4, 2)}}, {{Range(second, 0, 2), Range(second, 0, 2)}});
  const std::string text = to_json({builder.finish()}, ring_info(2));
  EXPECT_THAT(text,
              HasSubstr(R"({"id": 0, "kind": "copy", "round": 0, )"
                        R"("from": [["output", 3], ["output", 0], ["output", 2], ["output", 4]], )"
                        R"("to": [["scratch1", 0], ["scratch1", 1], ["scratch1", 0], ["scratch1", 1]], )"
                        R"("after": []})"));
}

/// A plan in which every rank swaps one block with its neighbour: large plans of it are small.
Plan pairs_plan(Rank procs) {
  Plan plan;
  for (Rank rank = 0; rank < procs; ++rank) {
    Builder builder;
    builder.begin(procs, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, procs);
    builder.copy(Range(Buffer::input, 0), Range(Buffer::output, rank));
    builder.recv(rank ^ 1, Range(Buffer::output, rank ^ 1, 3, 2));
    plan.push_back(builder.finish());
  }
  return plan;
}

TEST(ToJson, NamesRangesInLargePlans) {
  const auto rank_5 = [](Rank procs) {
    return json::parse(to_json(pairs_plan(procs), ring_info(procs)))["ranks"][5];
  };
  constexpr Rank procs = most_procs_in_slots + 2;
  const json large = rank_5(procs), small = rank_5(procs - 2);
  EXPECT_EQ(large["places"], json::parse(R"({"input": 1, "output": 514})"));
  EXPECT_EQ(large["steps"][0]["to"], json::parse(R"([["output", 5, 1, 1]])"));
  EXPECT_EQ(large["steps"][1]["slots"], json::parse(R"([["output", 4, 2, 3]])"));
  EXPECT_FALSE(small.contains("places"));
  EXPECT_EQ(small["steps"][0]["to"], json::parse(R"([["output", 5]])"));
  EXPECT_EQ(small["steps"][1]["slots"], json::parse(R"([["output", 4], ["output", 6], ["output", 8]])"));
}

TEST(ToGoal, IsLogGOPSimsFormat) {
  EXPECT_EQ(to_goal(ring_plan(2), ring_info(2), {.bytes_per_block = 100, .copy_nanoseconds_per_byte = 0.25}),
            R"(num_ranks 2

rank 0 {
l1: calc 25
l2: send 100b to 1 tag 0
l3: recv 100b from 1 tag 0
l2 requires l1
}

rank 1 {
l1: calc 25
l2: send 100b to 0 tag 0
l3: recv 100b from 0 tag 0
l2 requires l1
}
)");
}

TEST(ToGoal, CutsBlocksIntoSegments) {
  PlanInfo info = ring_info(2);
  info.segments = 3;
  EXPECT_THAT(to_goal(ring_plan(2), info, {.bytes_per_block = 100}), HasSubstr("send 34b to 1 tag 0"));
}

}  // namespace
}  // namespace convene::schedule
