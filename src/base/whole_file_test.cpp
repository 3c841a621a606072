// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace convene::base {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string own_path() {
  return (std::filesystem::temp_directory_path() / ("whole-file-" + std::to_string(getpid()))).string();
}

TEST(ReplaceFile, WritesAndReplaces) {
  const std::string path = own_path();
  EXPECT_EQ(replace_file(path, "before"), "");
  EXPECT_EQ(replace_file(path, "now"), "");
  EXPECT_EQ(text_of(path), "now");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
}

TEST(ReplaceFile, SaysWhyThereIsNone) {
  EXPECT_EQ(replace_file("/no/such/folder/file", "text"), "No such file or directory");
}

/// A limit on the size of files stands in for a full disk: writes fail as late, and with an error of their
/// own.
TEST(ReplaceFile, KeepsTheFileBeforeWhereThereIsNoRoom) {
  const std::string path = own_path();
  ASSERT_EQ(replace_file(path, "before"), "");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = 100, .rlim_max = limit.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string why = replace_file(path, std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(why, "File too large");
  EXPECT_EQ(text_of(path), "before");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace convene::base
