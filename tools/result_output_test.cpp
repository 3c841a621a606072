// SPDX-License-Identifier: BSD-3-Clause
#include "result_output.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace convene::bench {
namespace {

TEST(ResultOutput, SaysWhyItCannotWrite) {
  ResultOutput output("/dev/full", false);
  const int error = output.write("{}\n");
  EXPECT_EQ(error, ENOSPC);
  EXPECT_EQ(ResultOutput::sentence("a.json", error), "cannot write a.json: No space left on device");
}

TEST(ResultOutput, SaysWhyItCannotOpen) {
  EXPECT_EQ(ResultOutput("/dev/null/a", false).write("{}\n"), ENOTDIR);
}

TEST(ResultOutput, WritesWhatItCan) { EXPECT_EQ(ResultOutput("/dev/null", false).write("{}\n"), 0); }

}  // namespace
}  // namespace convene::bench
