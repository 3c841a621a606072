// SPDX-License-Identifier: BSD-3-Clause
#include "bench_options.hpp"

#include <gtest/gtest.h>

namespace convene::bench {
namespace {

/// Options of a command line; what is wrong with it goes to `problem`.
Options parse(std::vector<std::string> words, std::string* problem = nullptr) {
  Options options;
  CLI::App app;
  declare(options, app);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (problem) *problem = error.what();
  }
  return options;
}

TEST(BenchOptions, AreRead) {
  const Options options = parse({"allgather", "--sizes", "8,1024", "--contenders", "ring", "native",
                                 "--check", "every", "--cache", "cold", "--order", "fixed"});
  EXPECT_EQ(options.collective, "allgather");
  EXPECT_EQ(options.sizes, (std::vector<std::uint64_t>{8, 1024}));
  EXPECT_EQ(options.contenders, (std::vector<std::string>{"ring", "native"}));
  EXPECT_TRUE(options.checks_always());
  EXPECT_TRUE(options.is_cold());
  EXPECT_FALSE(options.shuffles());
}

TEST(BenchOptions, OneCallIsAnObservationWhereABatchWouldChangeIt) {
  EXPECT_FALSE(parse({"bcast"}).is_single());
  EXPECT_TRUE(parse({"bcast", "--arrivals", "uniform:5ms"}).is_single());
  EXPECT_TRUE(parse({"bcast", "--sync", "window"}).is_single());
  EXPECT_TRUE(parse({"bcast", "--cache", "cold"}).is_single());
  EXPECT_TRUE(parse({"bcast", "--batch", "1e-6"}).is_single());
}

TEST(BenchOptions, WrongOnesAreRefused) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"allgahter"},
                                             {"bcast", "--repetitions", "0"},
                                             {"bcast", "--precision", "2"},
                                             {"bcast", "--type", "quad"},
                                             {"bcast", "--root", "-1"},
                                             {}}) {
    std::string problem;
    parse(words, &problem);
    EXPECT_NE(problem, "") << (words.empty() ? "" : words.back());
  }
}

}  // namespace
}  // namespace convene::bench
