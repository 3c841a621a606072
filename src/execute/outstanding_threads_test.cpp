// SPDX-License-Identifier: BSD-3-Clause
// Several operations outstanding in shared memory by ranks that are threads. The thread sanitizer runs this
// test
// (./dev test all threads).
#include <gtest/gtest.h>

#include <thread>

#include "execute/outstanding_for_test.hpp"

namespace convene::execute {
namespace {

TEST(OutstandingThreads, OperationsInSharedMemoryAreRight) {
  for (const Rank procs : {2u, 4u}) {
    const OutstandingRank::Options options{.operations = 25};
    OutstandingProgram program(procs, 7 + procs, options);
    std::vector<std::thread> threads;
    for (const auto& rank : program.ranks())
      threads.emplace_back([&rank] {
        while (rank->code() == MPI_SUCCESS && rank->step()) {
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(program.completed(), procs * options.operations);
    EXPECT_EQ(program.wrong(), 0u);
  }
}

}  // namespace
}  // namespace convene::execute
