// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/read/plan_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using testing::HasSubstr;

constexpr Rank procs = 3;

PlanInfo ring_info(Rank number) { return {.collective = "allgather", .algorithm = "ring", .procs = number}; }

Plan read(const std::string& text) {
  const PlanReader reader(text, "ring.json");
  return reader.read(std::vector<CallBuffers>(reader.info().procs, {1, reader.info().procs}), false);
}

std::string ring() { return to_json(ring_plan(procs), ring_info(procs)); }

/// The ring's text with the first `what` replaced.
std::string changed(const std::string& what, const std::string& by) {
  std::string text = ring();
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(PlanReader, ReadsWhatIsPrinted) {
  EXPECT_EQ(to_json(read(ring()), ring_info(procs)), ring());
  EXPECT_TRUE(check(read(ring()), ring_contract(procs)).ok());
}

/// Pairs of ranks exchange three blocks, and keep one in scratch.
TEST(PlanReader, ReadsRangesOfLargePlans) {
  constexpr Rank many = most_procs_in_slots + 2;
  Plan plan;
  for (Rank rank = 0; rank < many; ++rank) {
    Builder builder;
    builder.begin(many, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, many);
    const Buffer kept = builder.scratch(std::vector<Place>{rank});
    builder.copy(Range(Buffer::input, 0), Range(kept, 0));
    builder.send(rank ^ 1, Range(Buffer::output, many - 2, 3, 2));
    builder.recv(rank ^ 1, Range(Buffer::output, rank, 3, many - 3));
    plan.push_back(builder.finish());
  }
  const std::string text = to_json(plan, ring_info(many));
  EXPECT_EQ(to_json(read(text), ring_info(many)), text);
}

TEST(PlanReader, ReadsTheDescription) {
  PlanInfo info = ring_info(procs);
  info.root = 2;
  info.parameters = {{"segments", "4"}, {"send", "packed"}};
  info.segments = 4;
  info.in_place = true;
  info.graph = "torus:3";
  info.arrivals = {2, 0, 1};
  const PlanReader reader(to_json(ring_plan(procs), info), "ring.json");
  EXPECT_EQ(reader.info().collective, "allgather");
  EXPECT_EQ(reader.info().algorithm, "ring");
  EXPECT_EQ(reader.info().root, 2u);
  EXPECT_EQ(reader.info().parameters, info.parameters);
  EXPECT_EQ(reader.info().segments, 4u);
  EXPECT_TRUE(reader.info().in_place);
  EXPECT_EQ(reader.info().graph, "torus:3");
  EXPECT_EQ(reader.info().arrivals, info.arrivals);
}

TEST(PlanReader, SizesScratchByItsUse) {
  const std::string text = R"({"collective": "allgather", "procs": 1, "ranks": [{"rank": 0, "steps": [
    {"kind": "copy", "from": [["input", 0]], "to": [["scratch0", 4]]},
    {"kind": "copy", "from": [["scratch0", 4]], "to": [["output", 0]], "after": [0]}]}]})";
  const Plan plan = read(text);
  EXPECT_EQ(plan[0].places(scratch(0)), 5u);
  EXPECT_TRUE(check(plan, ring_contract(1)).ok());
}

TEST(PlanReader, RefusesWhatIsNoPlan) {
  EXPECT_THAT(error_of("[1]"), HasSubstr("ring.json:1: must be an object, not a list"));
  EXPECT_THAT(error_of("{}"), HasSubstr("lacks \"collective\"; add it"));
  EXPECT_THAT(error_of("{"), HasSubstr("this is not JSON"));
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(changed("\"procs\": 3", "\"procs\": 4")),
              HasSubstr("\"ranks\" must have 4 entries, not 3"));
  EXPECT_THAT(error_of(changed("\"procs\": 3", "\"procs\": 0")),
              HasSubstr("\"procs\" must be a whole number from 1 to 1048576, not 0"));
  EXPECT_THAT(error_of(changed("\"root\": 0", "\"root\": 3")), HasSubstr("from 0 to 2, not 3"));
  EXPECT_THAT(error_of(changed("\"root\"", "\"rot\"")), HasSubstr("did you mean root"));
  EXPECT_THAT(error_of(changed("\"rank\": 1", "\"rank\": 2")), HasSubstr("rank 1: \"rank\" must be 1"));
}

TEST(PlanReader, RefusesStepsThatCannotBe) {
  EXPECT_THAT(error_of(changed("\"send\"", "\"sned\"")), HasSubstr("did you mean send"));
  EXPECT_THAT(error_of(changed("\"peer\": 1", "\"peer\": 3")),
              HasSubstr("ring.json:4: rank 0, step 1: \"peer\" must be a whole number from 0 to 2, not 3"));
  EXPECT_THAT(error_of(changed("\"peer\": 1", "\"peer\": 0")), HasSubstr("\"peer\" is the rank itself"));
  EXPECT_THAT(error_of(changed("\"peer\": 1, ", "")), HasSubstr("rank 0, step 1: lacks \"peer\""));
  EXPECT_THAT(error_of(changed("\"id\": 1", "\"id\": 2")), HasSubstr("steps are numbered in their order"));
  EXPECT_THAT(error_of(changed("\"after\": [0]", "\"after\": [3]")), HasSubstr("\"after\" has 3"));
  EXPECT_THAT(error_of(changed("\"after\": []", "\"after\": [0]")), HasSubstr("this is the first"));
  EXPECT_THAT(error_of(changed("[\"output\", 0]", "[\"output\", 3]")),
              HasSubstr("has place 3 of output; it must be from 0 to 2"));
  EXPECT_THAT(error_of(changed("[\"output\", 0]", "[\"ouput\", 0]")), HasSubstr("names the buffer 'ouput'"));
  EXPECT_THAT(error_of(changed("[\"output\", 0]", "[\"output\"]")), HasSubstr("must have slots"));
  EXPECT_THAT(error_of(changed("[[\"input\", 0]]", "[]")), HasSubstr("\"from\" has no slot"));
  EXPECT_THAT(error_of(changed("[[\"input\", 0]]", "[[\"input\", 0], [\"input\", 0]]")),
              HasSubstr("\"from\" has 2 slots and \"to\" 1"));
  EXPECT_THAT(error_of(changed("\"from\": [[\"input\", 0]]", "\"from\": [[\"shared\", 0]]")),
              HasSubstr("state their number in the rank's \"places\""));
  EXPECT_THAT(error_of(changed("\"steps\"", "\"places\": {\"output\": 4}, \"steps\"")),
              HasSubstr("gives output 4 places, but in this call it has 3"));
  EXPECT_THAT(error_of(changed("\"kind\": \"copy\"", "\"kind\": \"copy\", \"peer\": 1")),
              HasSubstr("a copy has no \"peer\"; leave it out"));
  EXPECT_THAT(error_of(changed("\"kind\": \"copy\"", "\"kind\": \"signal\"")), HasSubstr("leave it out"));
}

TEST(PlanReader, RefusesMessagesWithoutAnotherEnd) {
  EXPECT_THAT(error_of(changed("\"kind\": \"send\", \"peer\": 1", "\"kind\": \"send\", \"peer\": 2")),
              HasSubstr("ring.json: rank "));
  EXPECT_THAT(
      error_of(changed("\"slots\": [[\"output\", 0]]", "\"slots\": [[\"output\", 0], [\"output\", 1]]")),
      HasSubstr("give every send one recv of the same number of slots"));
}

TEST(PlanReader, LimitsWhatItMakes) {
  EXPECT_THAT(error_of(changed("\"steps\"", "\"places\": {\"scratch0\": 200000000}, \"steps\"")),
              HasSubstr("make them smaller"));
  EXPECT_THAT(error_of(changed("[\"output\", 0]", "[\"scratch0\", 200000000]")),
              HasSubstr("make them smaller"));
}

}  // namespace
}  // namespace convene::schedule
