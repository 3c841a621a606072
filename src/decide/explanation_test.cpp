// SPDX-License-Identifier: BSD-3-Clause
#include "decide/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.hpp"

namespace convene::decide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const MachineKey here{"Open MPI 4.1.4", "A", 4, ""};

std::string entry(const std::string& fields = "", const std::string& use = "ring", int cores = 4,
                  const std::string& mpi = "Open MPI 4.1.4", const std::string& upper = "0.6",
                  const std::string& collective = "allgather") {
  return R"({"mpi": ")" + mpi + R"(", "cpu": "A", "cores": )" + std::to_string(cores) +
         R"(, "collective": ")" + collective + R"(", "use": ")" + use + R"(", "ratio": 0.5, "upper": )" +
         upper + R"(, "measured": "2026-11-26", )" +
         (fields.empty() ? R"("procs": 4, "nodes": 1, "ranks_per_node": 4)" : fields) + "}";
}

class Explained : public testing::Test {
 protected:
  Explained() {
    char name[] = "/tmp/convene-explained-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Explained() override { std::filesystem::remove_all(folder_); }

  Question ask(const CallContext& context, const std::string& rules, const std::string& entries = "",
               const std::string& uses = "") const {
    Question question{.context = context, .uses = uses, .rules_path = "", .wisdom_files = {}, .here = here};
    if (!rules.empty())
      question.rules_path = write("r.json", R"({"convene_rules": 1, "rules": [)" + rules + "]}");
    if (!entries.empty())
      question.wisdom_files = {
          {.path = write("w.json", R"({"convene_wisdom": 1, "entries": [)" + entries + "]}")}};
    return question;
  }

  static std::vector<std::string> obstacles(const Question& question) {
    std::vector<std::string> found;
    for (const auto& step : explain(question).steps) found.push_back(step.obstacle);
    return found;
  }

 private:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), 0644);
    return path;
  }

  std::string folder_;
};

CallContext allgather(Rank procs, std::uint64_t block, Rank nodes = 1) {
  return call_on_nodes(Collective::allgather, procs, block, nodes);
}

TEST_F(Explained, RulesNameTheConditionsThatAreNotMet) {
  const auto of = [&](const std::string& fields, const CallContext& context = allgather(6, 4096)) {
    return obstacles(ask(context, R"({"collective": "allgather", "use": "ring", )" + fields + "}"))[0];
  };
  EXPECT_EQ(of(R"("procs": 8)"), "needs 8 ranks, this call has 6");
  EXPECT_EQ(of(R"("procs": 1)"), "needs 1 rank, this call has 6");
  EXPECT_EQ(of(R"("procs": [7, 9])"), "needs 7 to 9 ranks, this call has 6");
  EXPECT_EQ(of(R"("procs": {"min": 7})"), "needs at least 7 ranks, this call has 6");
  EXPECT_EQ(of(R"("procs": {"max": 4})"), "needs at most 4 ranks, this call has 6");
  EXPECT_EQ(of(R"("nodes": {"min": 2})"), "needs at least 2 nodes, this call has 1");
  EXPECT_EQ(of(R"("ranks_per_node": 4)"), "needs 4 ranks per node, this call has 6");
  EXPECT_EQ(of(R"("ranks_per_node": {"max": 1})"), "needs 1 rank per node, this call has 6");
  EXPECT_EQ(of(R"("bytes": {"max": "1KiB"})"), "block of 4 KiB is above the maximum of 1 KiB");
  EXPECT_EQ(of(R"("bytes": ["8KiB", "16KiB"])"), "block of 4 KiB is below the minimum of 8 KiB");
  EXPECT_EQ(of(R"("bytes": 8)"), "needs a block of 8 B, this call has 4 KiB");
  EXPECT_EQ(of(R"("procs": 8, "bytes": 8)"),
            "needs 8 ranks, this call has 6; needs a block of 8 B, this call has 4 KiB");
  EXPECT_EQ(of(R"("procs": 6)", call_on_nodes(Collective::bcast, 6, 8, 1)), "is for allgather");
  EXPECT_EQ(of(R"("procs": 6)"), "");
  const Question vector = ask(call_on_nodes(Collective::bcast, 6, 64, 1),
                              R"({"collective": "bcast", "bytes": {"max": 8}, "use": "binomial"})");
  EXPECT_EQ(obstacles(vector)[0], "vector of 64 B is above the maximum of 8 B");
}

TEST_F(Explained, AlgorithmsNameTheirRequirement) {
  const Question question = ask(allgather(6, 8), R"({"collective": "allgather", "use": "recursive_doubling"},
      {"collective": "allgather", "use": "shared"}, {"collective": "allgather", "use": "ring"})");
  Question shared = question;
  shared.context.may_share = 1;
  EXPECT_THAT(obstacles(shared), ElementsAre(HasSubstr("power of two; this communicator has 6"),
                                             HasSubstr("CONVENE_SHARED_MEMORY allows 1 B"), ""));
  shared.context.may_share = 0;
  EXPECT_THAT(obstacles(shared)[1], HasSubstr("none is mapped"));
  EXPECT_THAT(obstacles(question),
              ElementsAre(HasSubstr("power of two"), "", "not reached: rule 2 of r.json comes first"));
}

TEST_F(Explained, WisdomNamesTheConditionsThatAreNotMet) {
  const auto of = [&](const std::string& entries, const CallContext& context = allgather(4, 8)) {
    return obstacles(ask(context, "", entries))[0];
  };
  EXPECT_EQ(of(entry()), "");
  EXPECT_EQ(of(entry(R"("procs": 8, "nodes": 2, "ranks_per_node": 4)")),
            "needs 8 ranks, this call has 4; needs 2 nodes, this call has 1");
  EXPECT_EQ(of(entry(R"("procs": 4, "nodes": 1, "ranks_per_node": 4, "bytes": {"min": 16})")),
            "block of 8 B is below the minimum of 16 B");
  EXPECT_EQ(of(entry(R"("procs": 4, "nodes": 1, "ranks_per_node": 4, "shares_cores": true)")),
            "measured with more ranks than cores, this call has a core for each rank");
  CallContext crowded = allgather(4, 8);
  crowded.shares_cores = true;
  EXPECT_EQ(of(entry(), crowded), "measured with a core for each rank, this call has more ranks than cores");
  EXPECT_EQ(of(entry("", "ring", 4, "Open MPI 4.1.4", "0.98")),
            "upper end of its ratio, 0.98, is above 0.97");
  EXPECT_EQ(of(entry("", "native")), "keeps this call native");
  EXPECT_EQ(
      of(entry(R"("procs": 3, "nodes": 1, "ranks_per_node": 3)", "recursive_doubling"), allgather(3, 8)),
      "needs a number of processes that is a power of two; this communicator has 3");
  EXPECT_EQ(of(entry("", "ring", 4, "MPICH 5.0.2")), "measured with MPICH 5.0.2, this is Open MPI 4.1.4");
  EXPECT_EQ(of(entry("", "ring", 8)), "measured on nodes with 8 cores, this one has 4");
  EXPECT_EQ(of(entry("\"native_algorithm\": \"ring\", \"procs\": 4, \"nodes\": 1, \"ranks_per_node\": 4",
                     "native")),
            "names an algorithm of the MPI, for convene rules export");
  EXPECT_EQ(of(entry(), call_on_nodes(Collective::bcast, 4, 8, 1)), "is for allgather");
  CallContext nonblocking = allgather(4, 8);
  nonblocking.is_blocking = false;
  EXPECT_EQ(of(entry(), nonblocking), "holds for blocking calls only");
  Question elsewhere = ask(allgather(4, 8), "", entry());
  elsewhere.here.cpu = "B";
  EXPECT_EQ(obstacles(elsewhere)[0], "measured with A, this is B");
  elsewhere =
      ask(allgather(4, 8, 2), "", entry(R"("procs": 4, "nodes": 2, "ranks_per_node": 2, "network": "x")"));
  EXPECT_EQ(obstacles(elsewhere)[0], "measured with network x, this is a node with none");
}

TEST_F(Explained, ReductionsNeedMoreEvidence) {
  CallContext sum = call_on_nodes(Collective::allreduce, 4, 8, 1);
  const auto of = [&](const std::string& upper) {
    return obstacles(
        ask(sum, "", entry("", "recursive_doubling", 4, "Open MPI 4.1.4", upper, "allreduce")))[0];
  };
  EXPECT_EQ(of("0.95"), "");
  sum.order_matters = true;
  EXPECT_EQ(of("0.95"), "upper end of its ratio, 0.95, is above 0.90");
  EXPECT_EQ(of("0.85"), "");
  sum.reproducible = true;
  EXPECT_EQ(of("0.85"), "changes the rounding, which --reproducible excludes");
}

TEST_F(Explained, PrecedenceIsUseRulesWisdomNative) {
  const std::string rule = R"({"collective": "allgather", "use": "bruck"})";
  const Explanation all = explain(ask(allgather(4, 8), rule, entry(), "allgather=sparbit,bcast=binomial"));
  std::vector<std::string> texts;
  for (const auto& step : all.steps) texts.push_back(step.name + ": " + step.obstacle);
  EXPECT_THAT(
      texts, ElementsAre("--use: ", "--use: is for bcast", "rule 1 of r.json: not reached: --use comes first",
                         "entry 1 of w.json: not reached: --use comes first"));
  EXPECT_EQ(all.choice.reason, Reason::forced);
  EXPECT_THAT(obstacles(ask(allgather(4, 8), rule, entry())),
              ElementsAre("", "not reached: rule 1 of r.json comes first"));
  // An entry that covers the call ends the search, even if it is not enough.
  const Explanation two =
      explain(ask(allgather(4, 8), "",
                  entry("", "bruck", 4, here.mpi, "0.99") + ", " + entry("", "ring", 4, here.mpi, "1.2")));
  EXPECT_THAT(two.steps[1].obstacle, "not reached: entry 1 of w.json comes first");
  EXPECT_EQ(two.choice.reason, Reason::by_default);
}

TEST_F(Explained, ForcedAlgorithmsMayStayNative) {
  CallContext context = allgather(4, 8);
  context.is_blocking = false;
  context.may_share = 0;
  const Explanation native =
      explain(ask(context, R"({"collective": "allgather", "use": "ring"})", "", "allgather=shared"));
  EXPECT_EQ(native.choice.reason, Reason::no_shared_memory);
  EXPECT_THAT(native.steps[0].obstacle, HasSubstr("none is mapped"));
  EXPECT_EQ(native.steps[1].obstacle, "not reached: --use comes first");
  EXPECT_THROW(explain(ask(allgather(5, 8), "", "", "allgather=recursive_doubling")), Error);
}

TEST_F(Explained, TheStepThatDecidesIsTheChoice) {
  std::mt19937 random(7);
  const auto any = [&](unsigned least, unsigned most) {
    return std::to_string(std::uniform_int_distribution<unsigned>(least, most)(random));
  };
  constexpr const char* names[] = {"ring", "sparbit", "recursive_doubling", "native", "neighbor_exchange"};
  int by_rule = 0, by_wisdom = 0, by_default = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::string rules, entries;
    for (int i = 0; i < 3; ++i) {
      const char* use = names[random() % std::size(names)];
      const std::string bytes = any(1, 40);
      rules += (i ? ", " : "") + (R"({"collective": "allgather", "procs": )" + any(2, 5)) +
               R"(, "bytes": {"min": )" + bytes + R"(}, "use": ")" + use + "\"}";
      const std::string procs = any(2, 5);
      entries += (i ? ", " : "") + entry(R"("procs": )" + procs + R"(, "nodes": 1, "ranks_per_node": )" +
                                             procs + R"(, "bytes": {"min": )" + any(1, 40) + "}",
                                         use, 4, here.mpi, random() % 2 ? "0.7" : "0.99");
    }
    const Question question = ask(allgather(static_cast<Rank>(2 + random() % 4), 20), rules, entries);
    const Explanation found = explain(question);
    std::vector<Explanation::Step> deciding;
    for (const auto& step : found.steps)
      if (step.obstacle.empty()) deciding.push_back(step);
    ASSERT_LE(deciding.size(), 1u);
    if (deciding.empty()) {
      EXPECT_EQ(found.choice.reason, Reason::by_default);
      ++by_default;
      continue;
    }
    EXPECT_EQ(deciding[0].use, spec_text(found.choice.spec));
    if (deciding[0].source == Explanation::Source::rule) {
      EXPECT_EQ(deciding[0].name, found.choice.detail);
      ++by_rule;
    } else {
      EXPECT_EQ(found.choice.reason, Reason::wisdom);
      ++by_wisdom;
    }
  }
  EXPECT_GT(by_rule, 20);
  EXPECT_GT(by_wisdom, 20);
  EXPECT_GT(by_default, 20);
}

TEST(CallOnNodes, HasTheRanksInEqualParts) {
  const CallContext context = call_on_nodes(Collective::alltoall, 5, 8, 2);
  EXPECT_THAT(context.node_of_rank, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(context.ranks_per_node, 3u);
  EXPECT_EQ(context.total_bytes, 40u);
  EXPECT_EQ(call_on_nodes(Collective::bcast, 5, 8, 1).total_bytes, 8u);
  EXPECT_EQ(call_on_nodes(Collective::gatherv, 5, 8, 1).total_bytes, 0u);
  EXPECT_EQ(call_on_nodes(Collective::barrier, 5, 8, 1).total_bytes, 0u);
  EXPECT_THROW(call_on_nodes(Collective::bcast, 2, 8, 3), Error);
  EXPECT_THROW(call_on_nodes(Collective::allgather, 3, UINT64_MAX / 2, 1), Error);
}

}  // namespace
}  // namespace convene::decide
