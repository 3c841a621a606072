// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/kernel/pool.hpp"

#include <gtest/gtest.h>

namespace convene::simulate {
namespace {

struct Item {
  int what = 0;
  std::uint32_t next = 0;
};

TEST(Pool, QueuesAreFifoAndNumbersAreReused) {
  Pool<Item> pool(3);
  const std::uint32_t a = pool.add({1}), b = pool.add({2}), c = pool.add({3});
  FifoQueue queue, other;
  pool.push_back(queue, b);
  pool.push_back(other, c);
  pool.push_back(queue, a);
  EXPECT_EQ(pool.pop_front(queue), b);
  pool.remove(b);
  EXPECT_EQ(pool.add({4}), b);
  pool.push_back(queue, b);
  EXPECT_EQ(pool[pool.pop_front(queue)].what, 1);
  EXPECT_EQ(pool[pool.pop_front(queue)].what, 4);
  EXPECT_TRUE(queue.empty());
  pool.push_front(queue, a);
  pool.push_front(other, b);
  EXPECT_EQ(pool.pop_front(queue), a);
  EXPECT_EQ(pool.pop_front(other), b);
  pool.push_back(queue, b);
  EXPECT_EQ(pool.pop_front(queue), b);
  EXPECT_EQ(pool.pop_front(other), c);
  EXPECT_TRUE(other.empty());
}

TEST(Pool, IsFullAtItsLimit) {
  Pool<Item> pool(1);
  pool.add({});
  EXPECT_THROW(pool.add({}), Error);
}

}  // namespace
}  // namespace convene::simulate
