// SPDX-License-Identifier: BSD-3-Clause
// Spare blocks that several threads take and give back. The thread sanitizer runs this test, too.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/spare_blocks.hpp"

namespace convene::base {
namespace {

TEST(SpareBlocksThreads, OneThreadHasABlockAtATime) {
  static SpareBlocks<64, 2> blocks;
  constexpr int threads = 4, rounds = 20'000;
  std::atomic<int> shared = 0;
  const auto work = [&](int own) {
    for (int round = 0; round < rounds; ++round) {
      auto* const block = static_cast<int*>(blocks.take());
      *block = own;
      std::this_thread::yield();
      shared += *block != own;
      blocks.give(block);
    }
  };
  std::vector<std::thread> all;
  for (int own = 0; own < threads; ++own) all.emplace_back(work, own);
  for (std::thread& each : all) each.join();
  EXPECT_EQ(shared, 0);
}

}  // namespace
}  // namespace convene::base
