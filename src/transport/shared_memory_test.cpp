// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace convene::transport {
namespace {

/// Ranks 3, 5 and 9 of a communicator, which share memory of one process.
class Node {
 public:
  explicit Node(std::size_t data) {
    const std::vector<Rank> ranks = {3, 5, 9};
    const std::size_t bytes = SharedMemory::bytes(ranks.size(), data);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
    std::memset(memory, 0, bytes);
    const std::shared_ptr<std::byte> shared(memory, [](std::byte* at) { std::free(at); });
    for (const Rank rank : ranks)
      members_.push_back(std::make_unique<SharedMemory>(shared, ranks, rank, data));
  }
  SharedMemory& operator[](std::size_t i) { return *members_[i]; }

 private:
  std::vector<std::unique_ptr<SharedMemory>> members_;
};

TEST(SharedMemory, SignalsCountTheMessagesOfAPair) {
  Node node(100);
  EXPECT_GE(node[0].capacity(), 100u);
  for (std::size_t i = 0; i < 3; ++i) node[i].begin();
  EXPECT_FALSE(node[1].is_signalled(3, 0));
  node[0].signal(5, 0);
  EXPECT_TRUE(node[1].is_signalled(3, 0));
  EXPECT_FALSE(node[1].is_signalled(3, 1));
  EXPECT_FALSE(node[1].is_signalled(9, 0));
  EXPECT_FALSE(node[2].is_signalled(3, 0));
  node[0].signal(5, 2);
  EXPECT_TRUE(node[1].is_signalled(3, 1));  // signals are given in order
  node[1].begin();
  EXPECT_FALSE(node[1].is_signalled(3, 0));  // a signal of the earlier run
}

TEST(SharedMemory, IsFreeWhenTheRunBeforeLastIsOver) {
  Node node(100);
  std::byte* first[3];
  for (std::size_t i = 0; i < 3; ++i) first[i] = node[i].begin();
  EXPECT_EQ(first[0], first[2]);
  EXPECT_TRUE(node[0].is_free());
  node[0].end();
  EXPECT_NE(node[0].begin(), first[0]);  // the other half
  EXPECT_TRUE(node[0].is_free());
  node[0].end();
  EXPECT_EQ(node[0].begin(), first[0]);
  EXPECT_FALSE(node[0].is_free());
  node[1].end();
  EXPECT_FALSE(node[0].is_free());
  node[2].end();
  EXPECT_TRUE(node[0].is_free());
}

/// A rank's writes before its signal are visible after it.
TEST(SharedMemory, SignalsOrderWrites) {
  Node node(64);
  constexpr std::uint32_t messages = 2000;
  std::byte* data[2] = {node[0].begin(), node[1].begin()};
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
