// SPDX-License-Identifier: BSD-3-Clause
#include "decide/selection.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"

namespace convene::decide {
namespace {

Selection from_rules(std::string_view rules, std::string_view uses = "") {
  const std::string text = "{\"convene_rules\": 1, \"rules\": [" + std::string(rules) + "]}";
  return {parse_uses(uses), parse_rules(text, "dir/r.json"), "r.json"};
}

std::string why(const Choice& choice) { return std::string(reason_text(choice.reason, choice.detail)); }

TEST(Reason, HasATextOfItsOwn) {
  std::set<std::string_view> texts;
  constexpr auto last = static_cast<int>(Reason::neighbors_contradict);
  for (int reason = 0; reason <= last; ++reason)
    texts.insert(reason_text(static_cast<Reason>(reason), "the detail"));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(last) - 4);  // six have the detail
  EXPECT_EQ(reason_text(Reason::rule, "rule 1 of r.json"), "rule 1 of r.json");
  EXPECT_FALSE(texts.contains(""));
  EXPECT_FALSE(texts.contains("?"));
}

TEST(Selection, IsNativeByDefault) {
  const Selection selection;
  EXPECT_TRUE(selection.all_native());
  EXPECT_FALSE(selection.needs_topology());
  for (Collective collective : all_collectives) {
    const Choice choice = selection.choose({collective, 5, 40});
    EXPECT_TRUE(choice.spec.algorithm->is_native());
    EXPECT_EQ(why(choice), "default");
    EXPECT_EQ(choice.declared, "");
  }
}

TEST(Selection, ForcedChoicesComeFirst) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "use": "bruck"}, {"collective": "allgatherv", "use": "bruck"})",
      "allgather=sparbit;send=packed");
  const Choice choice = selection.choose({Collective::allgather, 5, 40});
  EXPECT_EQ(spec_text(choice.spec), "sparbit;send=packed");
  EXPECT_EQ(why(choice), "forced");
  EXPECT_EQ(why(selection.choose({Collective::allgatherv, 5, 40})), "rule 2 of r.json");
  EXPECT_FALSE(selection.all_native());
}

TEST(Selection, ForcedChoiceThatCannotRunIsAnError) {
  const Selection selection = Selection::from("allgather=neighbor_exchange", "");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 40}).spec.algorithm->name, "neighbor_exchange");
  try {
    selection.choose({Collective::allgather, 5, 40});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "allgather=neighbor_exchange needs an even number of processes; this communicator has 5; rules "
        "skip such calls (--rules FILE, CONVENE_RULES)");
  }
}

TEST(Selection, FirstRuleThatFits) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "procs": 8, "use": "bruck"}, {"collective": "allgather", "bytes": {"max": 64},
         "use": "sparbit"}, {"collective": "allgather", "use": "ring"})");
  EXPECT_EQ(why(selection.choose({Collective::allgather, 8, 8})), "rule 1 of r.json");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 256}).spec.algorithm->name, "sparbit");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 260}).spec.algorithm->name, "ring");
  EXPECT_TRUE(selection.choose({Collective::allgatherv, 4, 260}).spec.algorithm->is_native());
}

TEST(Selection, RuleThatCannotRunIsSkippedAndSaid) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "use": "neighbor_exchange"}, {"collective": "allgather", "procs": 5,
         "use": "ring"}, {"collective": "allgather", "procs": 9, "use": "recursive_doubling"})");
  EXPECT_EQ(selection.choose({Collective::allgather, 4, 8}).declared, "");
  const Choice next = selection.choose({Collective::allgather, 5, 8});
  EXPECT_EQ(next.spec.algorithm->name, "ring");
  EXPECT_EQ(next.declared,
            "rule 1 of r.json is skipped: neighbor_exchange needs an even number of processes; this "
            "communicator has 5");
  const Choice none = selection.choose({Collective::allgather, 7, 8});
  EXPECT_TRUE(none.spec.algorithm->is_native());
  EXPECT_NE(none.declared, "");
}

TEST(Selection, KnowsWhatItNeeds) {
  const char* const by_nodes = R"({"collective": "allgather", "nodes": 2, "use": "ring"})";
  EXPECT_TRUE(from_rules(by_nodes).needs_topology());
  EXPECT_FALSE(from_rules(by_nodes, "allgather=ring").needs_topology());
  EXPECT_FALSE(from_rules(R"({"collective": "allgather", "procs": 2, "use": "ring"})").needs_topology());
}

TEST(Selection, RulesThatAskForNodesMayFitOnceTheseAreKnown) {
  const Selection selection = from_rules(
      R"({"collective": "allgather", "procs": 4, "nodes": {"min": 2}, "use": "ring"},
         {"collective": "allgather", "use": "bruck"})");
  const Choice unknown = selection.choose({Collective::allgather, 4, 16});
  EXPECT_EQ(unknown.spec.algorithm->name, "bruck");
  EXPECT_TRUE(unknown.wants_nodes);
  EXPECT_FALSE(selection.choose({Collective::allgather, 5, 16}).wants_nodes);
  CallContext context{Collective::allgather, 4, 16};
  context.nodes = 2;
  EXPECT_EQ(selection.choose(context).spec.algorithm->name, "ring");
}

TEST(Selection, CompositionsAskForNodes) {
  const Selection forced = Selection::from("allgather=hier(sparbit,linear;leaders=2)", "");
  EXPECT_TRUE(forced.needs_topology());
  const Choice unknown = forced.choose({Collective::allgather, 4, 16});
  EXPECT_TRUE(unknown.spec.algorithm->is_native());
  EXPECT_EQ(why(unknown), "nodes unknown");
  EXPECT_TRUE(unknown.wants_nodes);
  EXPECT_NE(unknown.declared, "");
  CallContext context{Collective::allgather, 4, 16};
  context.node_of_rank = {0, 1, 0, 1};
  const Choice known = forced.choose(context);
  EXPECT_EQ(spec_text(known.spec), "hier(sparbit,linear;leaders=2)");
  EXPECT_FALSE(known.wants_nodes);
  context.node_of_rank = {0, 1, 0, 0};
  try {
    forced.choose(context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "allgather=hier(sparbit,linear;leaders=2) needs 2 leaders on each node, and the node of rank 1 "
        "has only 1 rank; this communicator has 4; rules skip such calls (--rules FILE, CONVENE_RULES)");
  }
}

TEST(Selection, RulesWithCompositionsAreSkippedWhereTheyCannotRun) {
  const Selection selection = from_rules(
      R"rules({"collective": "allgather", "use": "hier(recursive_doubling,linear)"},
              {"collective": "allgather", "use": "remap(ring)"},
              {"collective": "allgather", "use": "ring"})rules");
  EXPECT_TRUE(selection.needs_topology());
  CallContext context{Collective::allgather, 3, 12};
  const Choice unknown = selection.choose(context);
  EXPECT_EQ(unknown.spec.algorithm->name, "ring");
  EXPECT_TRUE(unknown.wants_nodes);
  context.node_of_rank = {0, 1, 2};
  const Choice known = selection.choose(context);
  EXPECT_EQ(known.spec.algorithm->name, "remap");
  EXPECT_TRUE(
      known.declared.starts_with("rule 1 of r.json is skipped: hier(recursive_doubling,linear) cannot be: "
                                 "recursive_doubling between nodes needs"))
      << known.declared;
}

TEST(Selection, WhereTheMpiHasNoneThereIsAlwaysOne) {
  for (const Collective collective : all_collectives)
    for (Rank procs = 1; procs <= 9; ++procs)
      for (const bool commutative : {true, false}) {
        CallContext context{collective, procs, 12};
        context.commutative = commutative;
        context.reproducible = true;
        context.has_native = false;
        const Choice choice = Selection().choose(context);
        ASSERT_NE(choice.spec.algorithm, nullptr);
        EXPECT_FALSE(choice.spec.algorithm->is_native()) << name(collective);
        EXPECT_EQ(why(choice), "the MPI has none");
      }
  CallContext context{Collective::allgather, 4, 12};
  context.has_native = false;
  EXPECT_EQ(why(Selection::from("allgather=sparbit", "").choose(context)), "forced");
}

TEST(Selection, KnowsWhatIsAlwaysNative) {
  EXPECT_TRUE(Selection::from("allgather=native", "").all_native());
  EXPECT_TRUE(from_rules(R"({"collective": "allgather", "procs": 2, "use": "native"})").all_native());
  const Selection one = Selection::from("allgatherv=ring", "");
  EXPECT_TRUE(one.always_native(Collective::allgather));
  EXPECT_FALSE(one.always_native(Collective::allgatherv));
  EXPECT_TRUE(from_rules(R"({"collective": "allgather", "use": "ring"})", "allgather=native").all_native());
}

TEST(Selection, RanksShareMemoryInBlockingCallsOfOneNode) {
  const Selection selection = Selection::from("bcast=shared;segments=4", "");
  EXPECT_TRUE(selection.may_share_memory(Collective::bcast));
  EXPECT_FALSE(selection.may_share_memory(Collective::allgather));
  CallContext there{.collective = Collective::bcast,
                    .procs = 4,
                    .total_bytes = 1000,
                    .nodes = 1,
                    .ranks_per_node = 4,
                    .node_of_rank = {0, 0, 0, 0}};
  EXPECT_EQ(why(selection.choose(there)), "forced");

  there.may_share = 0;
  const Choice other = selection.choose(there);
  EXPECT_TRUE(other.spec.algorithm->is_native());
  EXPECT_EQ(why(other), "no shared memory");
  EXPECT_EQ(other.declared, "shared uses shared memory, but none is mapped for this call");

  there.may_share = 1000;  // two parents with two places each, of 250 bytes in four cache lines
  EXPECT_EQ(selection.choose(there).declared,
            "shared needs 1 KiB of shared memory per node, but CONVENE_SHARED_MEMORY allows 1000 B");
  there.may_share = 1024;
  EXPECT_EQ(why(selection.choose(there)), "forced");

  there.node_of_rank = {0, 0, 1, 1};
  EXPECT_THROW(selection.choose(there), Error);
}

/// The ranks need not know the sizes of blocks to know that of the memory.
TEST(Selection, HeadsOfBlocksHaveASizeOfTheirOwn) {
  const Selection selection = Selection::from("alltoallv=shared_head;head=1000", "");
  CallContext there{.collective = Collective::alltoallv, .procs = 4, .nodes = 1, .ranks_per_node = 4};
  there.node_of_rank = {0, 0, 0, 0};
  there.may_share = 12 * 1024;  // 12 pairs, 16 cache lines each
  EXPECT_EQ(why(selection.choose(there)), "forced");
  there.may_share = 8 * 1024;
  EXPECT_EQ(selection.choose(there).declared,
            "shared_head;head=1000 needs 12 KiB of shared memory per node, but CONVENE_SHARED_MEMORY allows "
            "8 KiB");
}

TEST(Selection, RulesSkipWhatCannotShareMemory) {
  const Selection selection = from_rules(R"({"collective": "barrier", "use": "shared"})");
  CallContext there{.collective = Collective::barrier, .procs = 2, .nodes = 1, .ranks_per_node = 2};
  there.node_of_rank = {0, 0};
  EXPECT_EQ(selection.choose(there).spec.algorithm->name, "shared");
  there.may_share = 0;
  const Choice other = selection.choose(there);
  EXPECT_TRUE(other.spec.algorithm->is_native());
  EXPECT_NE(other.declared.find("none is mapped"), std::string::npos);
}

}  // namespace
}  // namespace convene::decide
