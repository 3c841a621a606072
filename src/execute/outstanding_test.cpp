// SPDX-License-Identifier: BSD-3-Clause
// Several operations outstanding in shared memory, mixed with blocking runs. One thread advances all ranks in
// a random order drawn from a seed, so that every interleaving can be repeated.
#include <gtest/gtest.h>

#include <random>

#include "execute/outstanding_for_test.hpp"

namespace convene::execute {
namespace {

struct Result {
  std::uint32_t completed, wrong;
  bool is_stalled;
};

Result run(Rank procs, std::uint64_t seed, const OutstandingRank::Options& options = {}) {
  constexpr std::uint32_t patience = 100'000;  // steps of all ranks without a completion
  OutstandingProgram program(procs, seed, options);
  std::vector<OutstandingRank*> running;
  for (const auto& rank : program.ranks()) running.push_back(rank.get());
  std::mt19937_64 random(seed);
  std::uint32_t before = 0, steps = 0;
  while (!running.empty() && steps < patience) {
    const auto which = running.begin() + static_cast<std::ptrdiff_t>(random() % running.size());
    OutstandingRank& rank = **which;
    if (!rank.step()) running.erase(which);
    if (rank.code() != MPI_SUCCESS) break;
    ++steps;
    if (program.completed() != before) before = program.completed(), steps = 0;
  }
  return {program.completed(), program.wrong(), !running.empty()};
}

TEST(Outstanding, OperationsInSharedMemoryAreRight) {
  for (Rank procs = 2; procs <= 5; ++procs)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(std::to_string(procs) + " ranks, seed " + std::to_string(seed));
      const OutstandingRank::Options options{.most_open = seed % 3 == 0   ? 20u
                                                          : seed % 3 == 1 ? 7u
                                                                          : 2u,
                                             .starts_between_waits = seed % 2 == 0 ? 4u : 20u};
      const Result result = run(procs, seed, options);
      EXPECT_FALSE(result.is_stalled);
      EXPECT_EQ(result.completed, procs * options.operations);
      EXPECT_EQ(result.wrong, 0u);
    }
}

/// The test above would find a lane that is used while its last operation is not over.
TEST(Outstanding, ALaneUsedTooSoonIsFound) {
  std::uint32_t found = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Result result =
        run(3, seed, {.most_open = 20, .starts_between_waits = 20, .waits_for_turns = false});
    found += result.wrong > 0 || result.is_stalled;
  }
  EXPECT_GE(found, 2u);  // in the others no lane is full
}

/// And a blocking call in which other operations do not progress.
TEST(Outstanding, MissingProgressInABlockingCallIsFound) {
  std::uint32_t found = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    found += run(3, seed, {.progresses_in_blocking_calls = false}).is_stalled;
  EXPECT_EQ(found, 6u);
}

}  // namespace
}  // namespace convene::execute
