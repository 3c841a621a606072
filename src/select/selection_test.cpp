// SPDX-License-Identifier: BSD-3-Clause
#include "select/selection.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene {
namespace {

Selection from_rules(std::string_view rules, std::string_view uses = "") {
  const std::string text = "{\"convene_rules\": 1, \"rules\": [" + std::string(rules) + "]}";
  return {parse_uses(uses), parse_rules(text, "dir/r.json"), "r.json"};
}

TEST(Selection, IsNativeByDefault) {
  const Selection selection;
  EXPECT_TRUE(selection.all_native());
  EXPECT_FALSE(selection.needs_topology());
  for (Collective collective : all_collectives) {
    const Choice choice = selection.choose({collective, 5, 40});
    EXPECT_TRUE(choice.algorithm->is_native());
    EXPECT_EQ(choice.reason, "default");
    EXPECT_EQ(choice.declared, "");
  }
}

TEST(Selection, ForcedChoicesComeFirst) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "use": "bruck"}, {"collective": "allgatherv", "use": "bruck"})",
      "allgather=sparbit;send=packed");
  const Choice choice = selection.choose({Collective::allgather, 5, 40});
  EXPECT_EQ(spec_text(*choice.algorithm, choice.parameters), "sparbit;send=packed");
  EXPECT_EQ(choice.reason, "forced");
  EXPECT_EQ(selection.choose({Collective::allgatherv, 5, 40}).reason, "rule 2 of r.json");
  EXPECT_FALSE(selection.all_native());
}

TEST(Selection, ForcedChoiceThatCannotRunIsAnError) {
  const Selection selection = Selection::from("allgather=neighbor_exchange", "");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 40}).algorithm->name, "neighbor_exchange");
  try {
    selection.choose({Collective::allgather, 5, 40});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "allgather=neighbor_exchange needs an even number of processes; this communicator has 5");
  }
}

TEST(Selection, FirstRuleThatFits) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "procs": 8, "use": "bruck"}, {"collective": "allgather", "bytes": {"max": 64},
         "use": "sparbit"}, {"collective": "allgather", "use": "ring"})");
  EXPECT_EQ(selection.choose({Collective::allgather, 8, 8}).reason, "rule 1 of r.json");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 256}).algorithm->name, "sparbit");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 260}).algorithm->name, "ring");
  EXPECT_TRUE(selection.choose({Collective::allgatherv, 4, 260}).algorithm->is_native());
}

TEST(Selection, RuleThatCannotRunIsSkippedAndSaid) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "use": "neighbor_exchange"}, {"collective": "allgather", "procs": 5,
         "use": "ring"}, {"collective": "allgather", "procs": 9, "use": "recursive_doubling"})");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 8}).declared, "");
  const Choice next = selection.choose({Collective::allgather, 5, 8});
  EXPECT_EQ(next.algorithm->name, "ring");
  EXPECT_EQ(next.declared,
            "rule 1 of r.json is skipped: neighbor_exchange needs an even number of processes; this "
            "communicator has 5");
  const Choice none = selection.choose({Collective::allgather, 7, 8});
  EXPECT_TRUE(none.algorithm->is_native());
  EXPECT_NE(none.declared, "");
}

TEST(Selection, KnowsWhatItNeeds) {
  const char* const by_nodes = R"({"collective": "allgather", "nodes": 2, "use": "ring"})";
  EXPECT_TRUE(from_rules(by_nodes).needs_topology());
  EXPECT_FALSE(from_rules(by_nodes, "allgather=ring").needs_topology());
  EXPECT_FALSE(from_rules(R"({"collective": "allgather", "procs": 2, "use": "ring"})").needs_topology());
}

TEST(Selection, KnowsWhatIsAlwaysNative) {
  EXPECT_TRUE(Selection::from("allgather=native", "").all_native());
  EXPECT_TRUE(from_rules(R"({"collective": "allgather", "procs": 2, "use": "native"})").all_native());
  const Selection one = Selection::from("allgatherv=ring", "");
  EXPECT_TRUE(one.always_native(Collective::allgather));
  EXPECT_FALSE(one.always_native(Collective::allgatherv));
  EXPECT_TRUE(from_rules(R"({"collective": "allgather", "use": "ring"})", "allgather=native").all_native());
}

}  // namespace
}  // namespace convene
