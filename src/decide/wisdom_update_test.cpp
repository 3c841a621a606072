// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom_update.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"

namespace convene::decide {
namespace {

using testing::HasSubstr;

const MachineKey here{.mpi = "Open MPI 4.1.4", .cpu = "A \"chip\"", .cores = 2};

LearnedEntry learned(std::uint64_t bytes, std::string_view use = "ring", double ratio = 0.5) {
  return {.entry = {.place = here,
                    .procs = 2,
                    .nodes = 1,
                    .ranks_per_node = 2,
                    .bytes = {bytes, bytes},
                    .use = use == "native" ? Spec{} : parse_spec(Collective::allgather, use),
                    .ratio = ratio,
                    .upper = ratio},
          .how = "learned",
          .measured_ratio = ratio,
          .calls = 512,
          .pairs = 16};
}

std::vector<WisdomEntry> merged(const std::string& old, const std::vector<LearnedEntry>& entries) {
  return parse_wisdom(merged_wisdom(old, "w.json", entries, "2026-11-27"), "w.json");
}

/// "8-8 ring": sizes and choice of each entry.
std::vector<std::string> choices(const std::vector<WisdomEntry>& entries) {
  std::vector<std::string> result;
  for (const WisdomEntry& each : entries)
    result.push_back(std::to_string(each.bytes.least) + "-" + std::to_string(each.bytes.most) + " " +
                     spec_text(each.use));
  return result;
}

std::string tuned(std::uint64_t least, std::uint64_t most, int procs = 2) {
  std::ostringstream text;
  text << R"({"convene_wisdom": 1, "entries": [{"mpi": "Open MPI 4.1.4", "cpu": "A \"chip\"", "cores": 2,
    "collective": "allgather", "procs": )"
       << procs << R"(, "nodes": 1, "ranks_per_node": 2, "shares_cores": false, "bytes": [)" << least << ", "
       << most << R"(], "use": "bruck", "ratio": 0.42, "upper": 0.45, "measured": "2026-11-26",
    "evidence": {"how": "convene tune", "note": "a\nb", "list": [1.5, true, null]}}]})";
  return text.str();
}

TEST(WisdomUpdate, MakesAFile) {
  const auto entries = merged("", {learned(8)});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].place, here);
  EXPECT_EQ(entries[0].measured, "2026-11-27");
  EXPECT_DOUBLE_EQ(entries[0].ratio, 0.5);
  EXPECT_THAT(choices(entries), testing::ElementsAre("8-8 ring"));
}

TEST(WisdomUpdate, KeepsTheRestOfARange) {
  EXPECT_THAT(choices(merged(tuned(1, 64), {learned(8)})),
              testing::ElementsAre("1-7 bruck", "9-64 bruck", "8-8 ring"));
  EXPECT_THAT(choices(merged(tuned(8, 64), {learned(8), learned(64)})),
              testing::ElementsAre("9-63 bruck", "8-8 ring", "64-64 ring"));
  EXPECT_THAT(choices(merged(tuned(8, 8), {learned(8)})), testing::ElementsAre("8-8 ring"));
  EXPECT_THAT(choices(merged(tuned(16, UINT64_MAX), {learned(8)})),
              testing::ElementsAre("16-18446744073709551615 bruck", "8-8 ring"));
}

TEST(WisdomUpdate, KeepsOtherCommunicatorsAndEvidence) {
  const std::string text = merged_wisdom(tuned(1, 64, 4), "w.json", std::vector{learned(8)}, "2026-11-27");
  EXPECT_THAT(
      text,
      HasSubstr(R"("evidence": {"how": "convene tune", "note": "a\u000ab", "list": [1.5, true, null]})"));
  EXPECT_THAT(text, HasSubstr(R"("bytes": [1, 64])"));
  EXPECT_THAT(text,
              HasSubstr(R"("evidence": {"how": "learned", "ratio": 0.5000, "calls": 512, "pairs": 16})"));
}

TEST(WisdomUpdate, KeepsNativeAlgorithms) {
  std::string old = tuned(1, 64);
  const std::string use = R"("use": "bruck")";
  old.replace(old.find(use), use.size(), R"("use": "native", "native_algorithm": "bruck")");
  EXPECT_THAT(choices(merged(old, {learned(8)})), testing::ElementsAre("1-64 native", "8-8 ring"));
}

TEST(WisdomUpdate, LaterVerdictsReplaceEarlierOnes) {
  EXPECT_THAT(choices(merged("", {learned(8), learned(16), learned(8, "native", 1)})),
              testing::ElementsAre("16-16 ring", "8-8 native"));
}

TEST(WisdomUpdate, LaterVerdictsLeaveTheRestOfARange) {
  std::vector<LearnedEntry> entries = {learned(8), learned(16, "native", 1)};
  entries[0].entry.bytes = {8, 24};
  EXPECT_THAT(choices(merged("", entries)), testing::ElementsAre("8-15 ring", "17-24 ring", "16-16 native"));
  std::swap(entries[0], entries[1]);
  EXPECT_THAT(choices(merged("", entries)), testing::ElementsAre("8-24 ring"));
}

TEST(WisdomUpdate, WithdrawsAChoiceForTheNextRun) {
  const Wisdom wisdom(merged(tuned(1, 64), {learned(8, "native", 1)}));
  CallContext context{.collective = Collective::allgather,
                      .procs = 2,
                      .total_bytes = 16,
                      .nodes = 1,
                      .ranks_per_node = 2,
                      .node_of_rank = {0, 0}};
  EXPECT_EQ(wisdom.find(context), nullptr);
  context.total_bytes = 32;
  EXPECT_NE(wisdom.find(context), nullptr);
}

TEST(WisdomUpdate, RefusesADamagedFile) {
  EXPECT_THROW(merged("{", {learned(8)}), Error);
  EXPECT_THROW(merged(R"({"convene_rules": 1, "rules": []})", {learned(8)}), Error);
}

TEST(WisdomUpdate, WritesTheFirstFile) {
  EXPECT_EQ(wisdom_to_write({}), "");
  EXPECT_EQ(wisdom_to_write({{"a"}, {"b"}}), "a");
  EXPECT_EQ(wisdom_to_write({{std::string(site_wisdom)}}), "");
}

class WisdomUpdateFile : public testing::Test {
 protected:
  WisdomUpdateFile() {
    char name[] = "/tmp/convene-wisdom-XXXXXX";
    folder = mkdtemp(name);
    path = folder + "/data/convene/wisdom.json";
  }
  ~WisdomUpdateFile() override { std::filesystem::remove_all(folder); }

  std::string update(const std::vector<LearnedEntry>& entries) const {
    return update_wisdom_file(path, entries, "2026-11-27");
  }
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> kept() const { return choices(parse_wisdom(text(), path)); }

  std::string folder, path;
};

TEST_F(WisdomUpdateFile, IsMadeAndMerged) {
  const mode_t before = umask(0);
  EXPECT_EQ(update({learned(8)}), "");
  umask(before);
  struct stat facts {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0644u);
  EXPECT_EQ(update({learned(16)}), "");
  EXPECT_THAT(kept(), testing::ElementsAre("8-8 ring", "16-16 ring"));
}

TEST_F(WisdomUpdateFile, StaysIfItIsDamagedOrWritableByOthers) {
  ASSERT_EQ(update({learned(8)}), "");
  std::ofstream(path) << "{";
  EXPECT_THAT(update({learned(8)}), HasSubstr("wisdom.json:1"));
  EXPECT_EQ(text(), "{");
  chmod(path.c_str(), 0666);
  EXPECT_THAT(update({learned(8)}), HasSubstr("is writable by other users"));
  EXPECT_EQ(text(), "{");
}

TEST_F(WisdomUpdateFile, CannotBeWrittenWhereAFileIsInTheWay) {
  std::ofstream(folder + "/data") << "";
  EXPECT_THAT(update({learned(8)}), testing::AllOf(HasSubstr("cannot lock"), HasSubstr("Not a directory")));
}

TEST_F(WisdomUpdateFile, LosesNothingToOtherProcesses) {
  constexpr int writers = 8;
  for (int i = 0; i < writers; ++i)
    if (fork() == 0) _exit(update({learned(static_cast<std::uint64_t>(8 + i))}).empty() ? 0 : 1);
  for (int i = 0; i < writers; ++i) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(kept().size(), writers);
}

}  // namespace
}  // namespace convene::decide
