// SPDX-License-Identifier: BSD-3-Clause
#include "decide/rules.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.hpp"

namespace convene::decide {
namespace {

constexpr std::string_view valid = R"({"convene_rules": 1,
 "rules": [
  {"collective": "allgather", "procs": 8, "bytes": "4KiB", "use": "sparbit;send=packed"},
  {"collective": "allgather", "procs": [2, 64], "bytes": ["8", "1MiB"], "nodes": {"min": 2},
   "ranks_per_node": [1, 4], "use": "ring"},
  {"collective": "allgatherv", "bytes": {"max": 100}, "use": "bruck;ports=2"}
 ]}
)";

/// The error of a file, or "(no error)".
std::string error_of(std::string_view text) {
  try {
    parse_rules(text, "r.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

/// The same for a file whose line 3 is this rule.
std::string error_of_rule(const std::string& rule) {
  return error_of("{\"convene_rules\": 1,\n\"rules\": [\n" + rule + "\n]}");
}

TEST(Rules, CommentsAreForPeople) {
  const auto rules = parse_rules(R"({"convene_rules": 1, "comment": "measured", "rules": [
    {"collective": "allgather", "use": "ring", "comment": ["0.7 of native", 3]}]})",
                                 "r.json");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(spec_text(rules[0].use), "ring");
}

TEST(Rules, ReadsEveryField) {
  const auto rules = parse_rules(valid, "r.json");
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].line, 3u);
  EXPECT_EQ(rules[0].procs.least, 8u);
  EXPECT_EQ(rules[0].procs.most, 8u);
  EXPECT_EQ(rules[0].bytes.least, 4096u);
  EXPECT_EQ(spec_text(rules[0].use), "sparbit;send=packed");
  EXPECT_FALSE(rules[0].needs_topology());
  EXPECT_EQ(rules[1].line, 4u);
  EXPECT_EQ(rules[1].bytes.most, 1048576u);
  EXPECT_EQ(rules[1].nodes.least, 2u);
  EXPECT_EQ(rules[1].ranks_per_node.most, 4u);
  EXPECT_TRUE(rules[1].needs_topology());
  EXPECT_EQ(rules[2].line, 6u);
  EXPECT_EQ(rules[2].number, 3u);
  EXPECT_EQ(rules[2].collective, Collective::allgatherv);
  EXPECT_EQ(rules[2].bytes.least, 0u);
  EXPECT_EQ(rules[2].bytes.most, 100u);
}

TEST(Rules, FitByCollectiveProcsBytesAndNodes) {
  const auto rules = parse_rules(valid, "r.json");
  EXPECT_TRUE(rules[0].fits({Collective::allgather, 8, 8 * 4096}));
  EXPECT_TRUE(rules[0].fits({Collective::allgather, 8, 8 * 4096 + 7}));  // the mean block, rounded down
  EXPECT_FALSE(rules[0].fits({Collective::allgather, 8, 8 * 4096 - 1}));
  EXPECT_FALSE(rules[0].fits({Collective::allgather, 9, 9 * 4096}));
  EXPECT_FALSE(rules[0].fits({Collective::allgatherv, 8, 8 * 4096}));
  EXPECT_TRUE(rules[1].fits({Collective::allgather, 8, 64, 2, 4}));
  EXPECT_FALSE(rules[1].fits({Collective::allgather, 8, 64, 1, 4}));
  EXPECT_FALSE(rules[1].fits({Collective::allgather, 8, 64, 2, 5}));
  EXPECT_FALSE(rules[1].fits({Collective::allgather, 8, 64}));  // the nodes are not known
}

TEST(Rules, UnknownNodesFitNoRuleThatAsksForThem) {
  const auto rules = parse_rules(
      R"({"convene_rules": 1, "rules": [{"collective": "allgather", "nodes": {"max": 4}, "use": "ring"}]})",
      "r.json");
  EXPECT_TRUE(rules[0].fits({Collective::allgather, 4, 64, 4, 1}));
  EXPECT_FALSE(rules[0].fits({Collective::allgather, 4, 64, 0, 0}));
}

TEST(Rules, FileShape) {
  EXPECT_EQ(error_of("[]"),
            R"(r.json:1: a rules file must be an object, as in {"convene_rules": 1, "rules": [...]}, )"
            "not a list");
  EXPECT_EQ(error_of("{}"), R"(r.json:1: this is not a rules file: it lacks "convene_rules": 1)");
  EXPECT_EQ(error_of("{\"convene_rules\": 1}"),
            R"(r.json:1: "rules" is missing; add {"convene_rules": 1, "rules": [...]})");
  EXPECT_EQ(error_of("{\n\"convene_rules\": 2\n, \"rules\": []}"),
            R"(r.json:2: this version of Convene reads rules with "convene_rules": 1, not 2)");
  EXPECT_EQ(error_of("{\"convene_rules\": 1,\n\n\"rules\": 5\n}"),
            "r.json:3: \"rules\" must be a list of rules, not 5");
  EXPECT_EQ(error_of("{\"convene_rules\": 1,\n\"rule\": []}"),
            "r.json:2: there is no field 'rule'; did you mean rules? Known: convene_rules, rules, comment");
  EXPECT_EQ(error_of("{\"convene_rules\": 1, \"rules\": []}"), "(no error)");
}

TEST(Rules, BrokenJsonIsSaidWithItsLine) {
  EXPECT_TRUE(error_of("").starts_with("r.json:1: this is not JSON: ")) << error_of("");
  EXPECT_TRUE(error_of("{\n\"convene_rules\": 1,\n}").starts_with("r.json:3: this is not JSON: "));
  EXPECT_TRUE(error_of("{\n\"a\": \"b\nc\"}").starts_with("r.json:2: this is not JSON: "));
  EXPECT_TRUE(
      error_of("{\"convene_rules\": 1,\n\"rules\": []}\nx").starts_with("r.json:3: this is not JSON: "));
  EXPECT_TRUE(error_of("{\"convene_rules\": 1e999}").starts_with("r.json:1: this number is out of range"));
  EXPECT_EQ(error_of(std::string(100, '[')),
            "r.json:1: this is nested too deeply; at most 64 levels are read");
  EXPECT_EQ(error_of("{\n\"rules\": [],\n\"rules\": []}"),
            "r.json:3: the name 'rules' is given twice; leave one out");
}

TEST(Rules, FieldsOfARule) {
  EXPECT_EQ(error_of_rule("7"), "r.json:3: rule 1: a rule must be an object, not 7");
  EXPECT_EQ(error_of_rule(R"({"use": "ring"})"),
            R"(r.json:3: rule 1 has no "collective"; write "collective": "allgather")");
  EXPECT_EQ(error_of_rule("{\"collective\": \"allgather\",\n\"use\": null}"),
            R"(r.json:4: "use" of rule 1 must be a text, not null; write "use": "sparbit")");
  EXPECT_TRUE(
      error_of_rule(R"({"collective": "allgahter", "use": "ring"})")
          .starts_with(
              R"(r.json:3: "collective" of rule 1: there is no collective 'allgahter'; did you mean )"));
  EXPECT_TRUE(
      error_of_rule("{\"collective\": \"allgather\",\n\"use\": \"sparbti\"}")
          .starts_with(R"(r.json:4: "use" of rule 1: there is no allgather algorithm 'sparbti'; did you )"));
  EXPECT_EQ(error_of_rule("{\"collective\": \"allgather\",\n\"proc\": 4, \"use\": \"ring\"}"),
            "r.json:4: rule 1: there is no field 'proc'; did you mean procs? Known: collective, procs, "
            "bytes, nodes, "
            "ranks_per_node, use, comment");
}

std::string error_of_field(const std::string& field) {
  return error_of_rule("{\"collective\": \"allgather\", \"use\": \"ring\",\n" + field + "\n}");
}

TEST(Rules, Bounds) {
  EXPECT_EQ(error_of_field(R"("procs": 0)"), "r.json:4: \"procs\" of rule 1 must be at least 1, not 0");
  EXPECT_EQ(error_of_field(R"("procs": -3)"), "r.json:4: \"procs\" of rule 1 must be a whole number, not -3");
  EXPECT_EQ(error_of_field(R"("procs": 2.5)"),
            "r.json:4: \"procs\" of rule 1 must be a whole number, not 2.5");
  EXPECT_EQ(error_of_field(R"("procs": "8")"),
            "r.json:4: \"procs\" of rule 1 must be a whole number, not '8'");
  EXPECT_EQ(error_of_field(R"("procs": [2])"),
            "r.json:4: \"procs\" of rule 1 must be a list of two numbers, minimum and maximum, not 1");
  EXPECT_EQ(error_of_field(R"("nodes": [4, 2])"),
            "r.json:4: \"nodes\" of rule 1 matches nothing: its minimum, 4, exceeds its maximum, 2");
  EXPECT_EQ(error_of_field(R"("bytes": ["1MiB", 8])"),
            "r.json:4: \"bytes\" of rule 1 matches nothing: its minimum, 1048576, exceeds its maximum, 8");
  EXPECT_EQ(error_of_field(R"("bytes": "4KB")"),
            "r.json:4: \"bytes\" of rule 1: '4KB' is not a size: unknown unit 'KB'; give bytes as in 8, "
            "4KiB or 1MiB");
  EXPECT_EQ(error_of_field(R"("bytes": true)"),
            "r.json:4: \"bytes\" of rule 1 must be a size such as 8 or \"4KiB\", not true");
  EXPECT_EQ(error_of_field(R"("bytes": {})"),
            "r.json:4: \"bytes\" of rule 1 is empty; give it a \"min\", a \"max\" or both");
  EXPECT_EQ(error_of_field(R"("bytes": {"least": 4})"),
            "r.json:4: \"bytes\" of rule 1: there is no field 'least'; known: min, max");
  EXPECT_EQ(error_of_field(R"("bytes": 0)"), "(no error)");
}

TEST(Rules, FileThatCannotBeRead) {
  try {
    load_rules("no/such/rules.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the rules file no/such/rules.json cannot be read: No such file or directory");
  }
}

/// Any file gives rules, or one sentence that begins with the file's name and a line.
void check_text(const std::string& text) {
  try {
    for (const Rule& rule : parse_rules(text, "r.json")) RC_ASSERT(rule.use.algorithm != nullptr);
  } catch (const Error& error) {
    const std::string_view what = error.what();
    RC_ASSERT(what.starts_with("r.json:"));
    for (char c : what) RC_ASSERT(c >= 0x20 && c < 0x7f);
  }
}

RC_GTEST_PROP(RulesFuzz, AnyBytes, (const std::string& text)) { check_text(text); }

RC_GTEST_PROP(RulesFuzz, MutatedFiles, ()) {
  std::string text(valid);
  const int changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(0, 8);
    const auto with = *rc::gen::oneOf(
        rc::gen::arbitrary<std::string>(),
        rc::gen::element<std::string>("{", "}", "[", "]", ",", ":", "\"", "\n", "0", "-1", "1e9", "null",
                                      "\\u0000", "\xff", "18446744073709551616", "true", "\"min\": 3"));
    text.replace(at, length, with);
  }
  check_text(text);
}

RC_GTEST_PROP(RulesFuzz, JsonOfAnyShape, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "{", "}", "[", "]", ",", ":", "\"convene_rules\"", "\"rules\"", "\"use\"", "\"ring\"", "1", "2.5", "\n",
      "null", "\"bytes\"", "\"min\"", "{\"convene_rules\": 1, \"rules\": [",
      "{\"collective\": \"allgather\", \"use\":"));
  std::string text;
  for (const std::string& word : words) text += word + " ";
  check_text(text);
}

}  // namespace
}  // namespace convene::decide
