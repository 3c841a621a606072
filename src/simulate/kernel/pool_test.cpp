// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/kernel/pool.hpp"

#include <gtest/gtest.h>

namespace convene::simulate {
namespace {

struct Item {
  int what = 0;
  std::uint32_t next = 0;
};

TEST(Pool, LinesKeepTheirOrderAndNumbersAreUsedAgain) {
  Pool<Item> pool(3);
  const std::uint32_t a = pool.add({1}), b = pool.add({2}), c = pool.add({3});
  Line line, other;
  pool.append(line, b);
  pool.append(other, c);
  pool.append(line, a);
  EXPECT_EQ(pool.take_first(line), b);
  pool.remove(b);
  EXPECT_EQ(pool.add({4}), b);
  pool.append(line, b);
  EXPECT_EQ(pool[pool.take_first(line)].what, 1);
  EXPECT_EQ(pool[pool.take_first(line)].what, 4);
  EXPECT_TRUE(line.empty());
  pool.put_first(line, a);
  pool.put_first(other, b);
  EXPECT_EQ(pool.take_first(line), a);
  EXPECT_EQ(pool.take_first(other), b);
  pool.append(line, b);
  EXPECT_EQ(pool.take_first(line), b);
  EXPECT_EQ(pool.take_first(other), c);
  EXPECT_TRUE(other.empty());
}

TEST(Pool, IsFullAtItsLimit) {
  Pool<Item> pool(1);
  pool.add({});
  EXPECT_THROW(pool.add({}), Error);
}

}  // namespace
}  // namespace convene::simulate
