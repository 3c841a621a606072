// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace convene::decide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WisdomFiles : public testing::Test {
 protected:
  WisdomFiles() {
    char name[] = "/tmp/convene-wisdom-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~WisdomFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& mpi, mode_t mode = 0644) const {
    std::ofstream(path(name))
        << R"({"convene_wisdom": 1, "entries": [{"mpi": ")" << mpi
        << R"(", "cpu": "A", "cores": 2, "collective": "bcast", "procs": 2, "nodes": 1,)"
        << R"("ranks_per_node": 2, "use": "binomial", "ratio": 0.5, "upper": 0.6,)"
        << R"("measured": "2026-11-26"}]})";
    chmod(path(name).c_str(), mode);
    return path(name);
  }

  FoundWisdom read(const std::string& variable) const {
    return read_wisdom(wisdom_files(variable), {"MPICH 5.0.2", "A", 2, ""});
  }

  std::string folder_;
};

TEST_F(WisdomFiles, AreFoundWhereTheVariableSays) {
  const FoundWisdom found = read(write("a", "MPICH 5.0.2") + ":" + write("b", "MPICH 5.0.2"));
  EXPECT_EQ(found.wisdom.entries().size(), 2u);
  EXPECT_THAT(found.refusals, IsEmpty());
  EXPECT_THAT(wisdom_files("none"), IsEmpty());
}

TEST_F(WisdomFiles, BehindAHyphenAreOptional) {
  const auto files = wisdom_files("-/a:/b:-:-/c");
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].path, "/a");
  EXPECT_EQ(files[2].path, "/c");
  EXPECT_TRUE(files[0].is_optional && !files[1].is_optional && files[2].is_optional);
  const std::string here = write("a", "MPICH 5.0.2");
  EXPECT_THAT(read("-" + path("absent") + ":" + here).refusals, IsEmpty());
  EXPECT_EQ(read("-" + path("absent") + ":" + here).wisdom.entries().size(), 1u);
  EXPECT_EQ(read(path("absent") + ":" + here).refusals.size(), 1u);
}

TEST_F(WisdomFiles, AreTheUsersAndTheSites) {
  setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  const auto files = wisdom_files("");
  unsetenv("XDG_DATA_HOME");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, folder_ + "/convene/wisdom.json");
  EXPECT_EQ(files[1].path, "/etc/convene/wisdom.json");
  EXPECT_THAT(read_wisdom({{path("absent")}}, {}).refusals, IsEmpty());
}

TEST_F(WisdomFiles, OfNativeAlgorithmsAreSkipped) {
  const std::string name = path("native");
  std::ofstream(name) << R"({"convene_wisdom": 1, "entries": [{"mpi": "MPICH 5.0.2", "cpu": "A", "cores": 2,
    "collective": "bcast", "procs": 2, "nodes": 1, "ranks_per_node": 2, "use": "native", "ratio": 0.5,
    "native_algorithm": "MPIR_Bcast_intra_tree", "upper": 0.6, "measured": "2026-11-26"}]})";
  chmod(name.c_str(), 0644);
  const FoundWisdom found = read(name);
  EXPECT_TRUE(found.wisdom.is_empty());
  EXPECT_THAT(found.refusals, IsEmpty());
}

TEST_F(WisdomFiles, OfAnotherPlaceAreRefused) {
  const FoundWisdom found = read(write("a", "MPICH 4.0.2"));
  EXPECT_TRUE(found.wisdom.is_empty());
  EXPECT_THAT(found.refusals, ElementsAre(HasSubstr("1 of 1 entries of")));
}

TEST_F(WisdomFiles, ThatOthersMayWriteAreRefused) {
  const FoundWisdom found = read(write("a", "MPICH 5.0.2", 0666));
  EXPECT_TRUE(found.wisdom.is_empty());
  EXPECT_THAT(found.refusals, ElementsAre(HasSubstr("is writable by other users; run chmod go-w")));
}

TEST_F(WisdomFiles, ThatAreAbsentOrDamagedAreRefused) {
  std::ofstream(path("broken")) << "{\"convene_wisdom\": 1, \"ent";
  const FoundWisdom found = read(path("absent") + ":" + path("broken") + ":" + folder_);
  EXPECT_THAT(found.refusals,
              ElementsAre(HasSubstr("cannot be read"), HasSubstr("broken:1: this is not JSON"),
                          HasSubstr("is not a regular file")));
}

TEST(MachineKey, NamesProcessorAndCores) {
  const MachineKey here = this_machine("MPICH Version: 4.0.2");
  EXPECT_EQ(here.mpi, "MPICH 4.0.2");
  EXPECT_FALSE(here.cpu.empty());
  EXPECT_GE(here.cores, 1u);
}

}  // namespace
}  // namespace convene::decide
