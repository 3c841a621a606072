// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.hpp"
#include "decide/selection.hpp"

namespace convene::decide {
namespace {

constexpr std::string_view fields =
    R"("mpi": "Open MPI 4.1.4", "cpu": "A", "cores": 2, "collective": "allgather", "procs": 4, "nodes": 1,
 "ranks_per_node": 4, "shares_cores": true)";

/// A file with one entry: the fields above and these.
std::string file_with(const std::string& more) {
  return "{\"convene_wisdom\": 1, \"entries\": [{" + std::string(fields) + ",\n" + more + "}]}";
}

std::string valid(const std::string& use = "ring", const std::string& bytes = R"(["8", "4KiB"])") {
  return file_with(R"("bytes": )" + bytes + R"(, "use": ")" + use +
                   R"(", "ratio": 0.42, "upper": 0.45, "measured": "2026-11-26")");
}

std::string error_of(std::string_view text) {
  try {
    parse_wisdom(text, "w.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

CallContext allgather_of(std::uint64_t block_bytes) {
  return {.collective = Collective::allgather,
          .procs = 4,
          .total_bytes = 4 * block_bytes,
          .nodes = 1,
          .ranks_per_node = 4,
          .node_of_rank = {0, 0, 0, 0},
          .shares_cores = true};
}

WisdomEntry entry(const std::string& use, double upper, std::string measured = "2026-11-26") {
  WisdomEntry made = parse_wisdom(valid(use), "w.json").front();
  made.upper = upper;
  made.measured = std::move(measured);
  return made;
}

TEST(Wisdom, LeavesOutEntriesForMoreRanks) {
  WisdomEntry small = entry("bruck", 0.5);
  small.procs = 2;
  const Wisdom wisdom({entry("ring", 0.5), small});
  EXPECT_EQ(wisdom.up_to(4).entries().size(), 2u);
  ASSERT_EQ(wisdom.up_to(3).entries().size(), 1u);
  EXPECT_EQ(wisdom.up_to(3).entries().front().procs, 2u);
  EXPECT_TRUE(wisdom.up_to(1).is_empty());
}

TEST(Wisdom, ReadsEveryField) {
  const auto entries = parse_wisdom(valid(), "w.json");
  ASSERT_EQ(entries.size(), 1u);
  const WisdomEntry& read = entries[0];
  EXPECT_EQ(read.place, (MachineKey{"Open MPI 4.1.4", "A", 2, ""}));
  EXPECT_EQ(read.collective, Collective::allgather);
  EXPECT_EQ(read.procs, 4u);
  EXPECT_TRUE(read.shares_cores);
  EXPECT_EQ(read.bytes.most, 4096u);
  EXPECT_EQ(spec_text(read.use), "ring");
  EXPECT_DOUBLE_EQ(read.upper, 0.45);
}

TEST(Wisdom, ReadsTheNameOfANativeAlgorithm) {
  const std::string end = R"(, "ratio": 0.42, "upper": 0.45, "measured": "2026-11-26")";
  const auto read = parse_wisdom(file_with(R"("native_algorithm": "ring", "use": "native")" + end), "w.json");
  EXPECT_EQ(read.front().native_algorithm, "ring");
  EXPECT_EQ(error_of(file_with(R"("native_algorithm": "ring", "use": "ring")" + end)),
            "w.json:3: \"native_algorithm\" of entry 1 needs a name, and \"use\": \"native\"");
}

TEST(Wisdom, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(
      error_of("[]"),
      R"(w.json:1: a wisdom file must be an object, as in {"convene_wisdom": 1, "entries": [...]}, not a list)");
  EXPECT_EQ(error_of(R"({"convene_wisdom": 2, "entries": []})"),
            R"(w.json:1: this version of Convene reads entries with "convene_wisdom": 1, not 2)");
  EXPECT_EQ(error_of(file_with(R"("use": "ring")")),
            R"(w.json:1: entry 1 has no "ratio"; write "ratio": 0.42)");
  EXPECT_EQ(error_of(file_with(R"("use": "ring", "ratio": -1)")),
            R"(w.json:3: "ratio" of entry 1 must be a number above 0, not -1)");
  EXPECT_EQ(error_of(file_with(R"("use": "ring", "ratio": 0.5, "upper": 0.4, "measured": "2026-11-26")")),
            R"(w.json:3: "upper" of entry 1 must not be below "ratio": it is the upper end of its interval)");
  EXPECT_EQ(error_of(file_with(R"("use": "ring", "ratio": 0.5, "upper": 0.6, "measured": "today")")),
            R"(w.json:3: "measured" of entry 1 must begin with a date, as in 2026-11-26)");
}

RC_GTEST_PROP(Wisdom, SurvivesMutations, ()) {
  std::string text = valid();
  const auto changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i)
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = static_cast<char>(*rc::gen::inRange(1, 127));
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
  try {
    parse_wisdom(text, "w.json");
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).starts_with("w.json:"));
  }
}

TEST(Wisdom, CoversWhatWasMeasuredOnly) {
  const Wisdom wisdom(parse_wisdom(valid(), "w.json"));
  EXPECT_TRUE(wisdom.find(allgather_of(8)));
  EXPECT_TRUE(wisdom.find(allgather_of(4096)));
  EXPECT_FALSE(wisdom.find(allgather_of(4097)));
  const auto unlike = [&](auto&& change) {
    CallContext context = allgather_of(8);
    change(context);
    return wisdom.find(context);
  };
  EXPECT_FALSE(unlike([](CallContext& s) { s.procs = 5, s.total_bytes = 40; }));
  EXPECT_FALSE(unlike([](CallContext& s) { s.nodes = 2; }));
  EXPECT_FALSE(unlike([](CallContext& s) { s.shares_cores = false; }));
  EXPECT_FALSE(unlike([](CallContext& s) { s.is_blocking = false; }));
  EXPECT_FALSE(unlike([](CallContext& s) { s.collective = Collective::allgatherv; }));
}

TEST(Wisdom, CountsOnTheSamePlaceOnly) {
  const MachineKey here{"Open MPI 4.1.4", "A", 2, "mlx5_0"};
  WisdomEntry read = entry("ring", 0.5);
  EXPECT_TRUE(read.is_of(here));  // within a node the network does not matter
  EXPECT_FALSE(read.is_of({"Open MPI 5.0.11", "A", 2, ""}));
  EXPECT_FALSE(read.is_of({"Open MPI 4.1.4", "B", 2, ""}));
  EXPECT_FALSE(read.is_of({"Open MPI 4.1.4", "A", 64, ""}));
  read.nodes = 2;
  EXPECT_FALSE(read.is_of(here));
}

TEST(Wisdom, TakesTheNewestEntryAndThenTheBest) {
  const Wisdom wisdom({entry("ring", 0.5, "2026-11-01"), entry("bruck", 0.9), entry("sparbit", 0.8)});
  EXPECT_EQ(spec_text(wisdom.find(allgather_of(8))->use), "sparbit");
}

TEST(Wisdom, LeavesNativeWhatGainsTooLittle) {
  EXPECT_FALSE(Wisdom({entry("ring", 0.98)}).find(allgather_of(8)));
  EXPECT_TRUE(Wisdom({entry("ring", 0.97)}).find(allgather_of(8)));
  const Wisdom wisdom({entry("ring", 0.95)});
  CallContext context = allgather_of(8);
  context.order_matters = true;
  EXPECT_FALSE(wisdom.find(context));
  const Wisdom much({entry("ring", 0.5)});
  EXPECT_TRUE(much.find(context));
  context.reproducible = true;
  EXPECT_FALSE(much.find(context));
}

TEST(Wisdom, IsTheSameOnOtherRanks) {
  const Wisdom wisdom({entry("sparbit;send=packed", 0.5), entry("hier(sparbit,linear;leaders=2)", 1.0 / 3)});
  const Wisdom received = Wisdom::from_lines(wisdom.lines());
  ASSERT_EQ(received.entries().size(), 2u);
  EXPECT_EQ(received.lines(), wisdom.lines());
  EXPECT_EQ(received.entries()[0].upper, 1.0 / 3);
  EXPECT_THROW(Wisdom::from_lines("allgather\tmany\n"), Error);
}

TEST(Wisdom, StandsBehindForcedChoicesAndRules) {
  const auto wisdom = std::make_shared<const Wisdom>(std::vector{entry("bruck", 0.45)});
  const Choice learned = Selection().with(wisdom).choose(allgather_of(8));
  EXPECT_EQ(spec_text(learned.spec), "bruck");
  EXPECT_EQ(learned.reason, Reason::wisdom);
  EXPECT_EQ(learned.detail, "wisdom: 0.42 of native, 2026-11-26");
  const Selection forced = Selection::from("allgather=ring", "").with(wisdom);
  EXPECT_EQ(spec_text(forced.choose(allgather_of(8)).spec), "ring");
  const Selection ruled =
      Selection({},
                parse_rules(
                    R"({"convene_rules": 1, "rules": [{"collective": "allgather", "use": "native"}]})", "r"),
                "r")
          .with(wisdom);
  EXPECT_EQ(ruled.choose(allgather_of(8)).reason, Reason::rule);
  EXPECT_FALSE(ruled.always_native(Collective::allgather));
  EXPECT_TRUE(Selection().with(wisdom).always_native(Collective::bcast));
}

TEST(Wisdom, AsksForTheNodesFirst) {
  const auto wisdom = std::make_shared<const Wisdom>(std::vector{entry("bruck", 0.45)});
  CallContext context = allgather_of(8);
  context.nodes = 0;
  const Choice choice = Selection().with(wisdom).choose(context);
  EXPECT_TRUE(choice.wants_nodes);
  EXPECT_TRUE(choice.spec.algorithm->is_native());
  EXPECT_TRUE(Selection().with(wisdom).needs_topology());
}

TEST(Wisdom, NamesAnMpiByNameAndVersion) {
  EXPECT_EQ(mpi_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI 4.1.4");
  EXPECT_EQ(mpi_name("MPICH Version:\t4.0.2\nMPICH Release date: x"), "MPICH 4.0.2");
  EXPECT_EQ(mpi_name("Intel(R) MPI Library 2021.18 for Linux* OS\n"), "Intel MPI 2021.18");
  EXPECT_EQ(mpi_name("Other 1\t2\nmore"), "Other 1 2");
}

}  // namespace
}  // namespace convene::decide
