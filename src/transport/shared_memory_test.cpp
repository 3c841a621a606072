// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace convene::transport {
namespace {

/// Ranks 3, 5 and 9 of a communicator, which share memory of one process.
class Node {
 public:
  explicit Node(std::size_t data, SharedMemory::Runs runs = SharedMemory::Runs::many) {
    const std::vector<Rank> ranks = {3, 5, 9};
    const std::size_t bytes = SharedMemory::bytes(ranks.size(), data, runs);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
    std::memset(memory, 0, bytes);
    const std::shared_ptr<std::byte> shared(memory, [](std::byte* at) { std::free(at); });
    for (const Rank rank : ranks)
      members_.push_back(std::make_unique<SharedMemory>(shared, ranks, rank, data, runs));
  }
  SharedMemory& operator[](std::size_t i) { return *members_[i]; }

 private:
  std::vector<std::unique_ptr<SharedMemory>> members_;
};

TEST(SharedMemory, SignalsCountTheMessagesOfAPair) {
  Node node(100);
  EXPECT_GE(node[0].capacity(), 100u);
  for (std::size_t i = 0; i < 3; ++i) node[i].begin(100);
  EXPECT_FALSE(node[1].is_signalled(3, 0));
  node[0].signal(5, 0);
  EXPECT_TRUE(node[1].is_signalled(3, 0));
  EXPECT_FALSE(node[1].is_signalled(3, 1));
  EXPECT_FALSE(node[1].is_signalled(9, 0));
  EXPECT_FALSE(node[2].is_signalled(3, 0));
  node[0].signal(5, 2);
  EXPECT_TRUE(node[1].is_signalled(3, 1));  // signals are given in order
  node[1].begin(100);
  EXPECT_FALSE(node[1].is_signalled(3, 0));  // a signal of the earlier run
}

TEST(SharedMemory, WaitsOncePerHalf) {
  constexpr std::size_t bytes = 100, runs_per_half = 8;
  Node node(4096);
  std::vector<std::byte*> places;
  for (std::size_t run = 0; run < 2 * runs_per_half; ++run) {
    places.push_back(node[0].begin(bytes));
    EXPECT_TRUE(node[0].is_free());
    node[0].end();
  }
  for (std::size_t run = 1; run < places.size(); ++run) EXPECT_GE(places[run], places[run - 1] + bytes);
  EXPECT_EQ(node[0].begin(bytes), places[0]);  // the first half again
  EXPECT_FALSE(node[0].is_free());
  for (const std::size_t other : {1, 2})
    for (std::size_t run = 0; run < runs_per_half; ++run) {
      EXPECT_FALSE(node[0].is_free());
      EXPECT_EQ(node[other].begin(bytes), places[run]);
      node[other].end();
    }
  EXPECT_TRUE(node[0].is_free());
  EXPECT_EQ(node[0].begin(bytes), places[1]);
  EXPECT_TRUE(node[0].is_free());
}

TEST(SharedMemory, SleepersGoFurtherAhead) {
  constexpr std::size_t runs_per_half = 64;
  Node node(64, SharedMemory::of_sleepers(SharedMemory::Runs::many));
  std::byte data[SharedMemory::carried_bytes] = {};
  for (std::size_t run = 0; run < 2 * runs_per_half; ++run) {
    node[0].begin_carrying();
    EXPECT_TRUE(node[0].is_free());
    data[0] = static_cast<std::byte>(run);
    node[0].signal_with(5, data);
    node[0].end();
  }
  node[0].begin_carrying();
  for (std::size_t run = 0; run < runs_per_half; ++run) {
    EXPECT_FALSE(node[0].is_free());
    for (const std::size_t other : {1, 2}) node[other].begin_carrying();
    EXPECT_TRUE(node[1].take(3, data));
    EXPECT_EQ(data[0], static_cast<std::byte>(run));
    for (const std::size_t other : {1, 2}) node[other].end();
  }
  EXPECT_TRUE(node[0].is_free());
}

TEST(SharedMemory, LargeRunsHaveHalvesOfTheirOwn) {
  constexpr std::size_t bytes = 100'000;
  Node node(bytes);
  std::byte* const first = node[0].begin(bytes);
  node[0].end();
  EXPECT_GE(node[0].begin(bytes), first + bytes);
  EXPECT_TRUE(node[0].is_free());
  node[0].end();
  EXPECT_EQ(node[0].begin(8), first);
  EXPECT_FALSE(node[0].is_free());
  for (const std::size_t other : {1, 2}) {
    node[other].begin(bytes);
    node[other].end();
  }
  EXPECT_TRUE(node[0].is_free());
}

TEST(SharedMemory, SignalsCarryData) {
  Node node(64);
  std::byte data[SharedMemory::carried_bytes];
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(node[i].begin_carrying(), nullptr);
  EXPECT_FALSE(node[2].take(5, data));
  std::memset(data, 7, sizeof data);
  node[1].signal_with(9, data);
  std::memset(data, 0, sizeof data);
  EXPECT_FALSE(node[0].take(5, data));
  EXPECT_FALSE(node[2].take(3, data));
  EXPECT_TRUE(node[2].take(5, data));
  for (const std::byte each : data) EXPECT_EQ(each, std::byte{7});
  for (std::size_t i = 0; i < 3; ++i) node[i].end();
  node[2].begin_carrying();
  EXPECT_FALSE(node[2].take(5, data));  // a signal of the earlier run
}

/// A rank's writes before its signal are visible after it.
TEST(SharedMemory, SignalsOrderWrites) {
  Node node(64);
  constexpr std::uint32_t messages = 2000;
  std::byte* data[2] = {node[0].begin(64), node[1].begin(64)};
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < messages; ++i) {
      std::memcpy(data[0], &i, sizeof i);
      node[0].signal(5, i);
      while (!node[0].is_signalled(5, i)) std::this_thread::yield();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < messages; ++i) {
    while (!node[1].is_signalled(3, i)) std::this_thread::yield();
    std::uint32_t read = 0;
    std::memcpy(&read, data[1], sizeof read);
    wrong += read != i;
    node[1].signal(3, i);
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace convene::transport
