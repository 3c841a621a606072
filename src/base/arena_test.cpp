// SPDX-License-Identifier: BSD-3-Clause
#include "base/arena.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/spare_blocks.hpp"

namespace convene::base {
namespace {

bool is_in(const std::byte* at, std::span<const std::byte> memory) {
  return at >= memory.data() && at < memory.data() + memory.size();
}

TEST(Arena, HandsOutItsFirstMemoryFirst) {
  alignas(64) std::byte first[512];
  Arena arena{std::span(first)};
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(arena.take(100), first);
    EXPECT_EQ(arena.take(300), first + 128);
    EXPECT_EQ(arena.taken(), 128u + 320u);
    arena.reset();
  }
  EXPECT_EQ(arena.memory(), sizeof first);
}

TEST(Arena, GrowsBeyondItsFirstMemory) {
  alignas(64) std::byte first[512];
  Arena arena{std::span(first)};
  arena.take(500);
  std::byte* const more = arena.take(1000);
  EXPECT_FALSE(is_in(more, first));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(more) % 64, 0u);
  std::memset(more, 1, 1000);
  EXPECT_EQ(arena.taken(), 512u + 1024u);
  arena.reset();  // one chunk for all
  std::byte* const all = arena.take(1500);
  EXPECT_FALSE(is_in(all, first));
  std::memset(all, 2, 1500);
  EXPECT_EQ(arena.taken(), 1536u);
}

TEST(SpareBlocks, ReturnsBlocksThatWereGivenBack) {
  static SpareBlocks<256, 2> blocks;
  void* const first = blocks.take();
  void* const second = blocks.take();
  void* const third = blocks.take();
  EXPECT_NE(first, second);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(third) % 64, 0u);
  blocks.give(second);
  blocks.give(first);
  blocks.give(third);  // no slot is empty: freed
  EXPECT_EQ(blocks.take(), second);
  EXPECT_EQ(blocks.take(), first);
  blocks.give(first);
  blocks.give(second);
}

}  // namespace
}  // namespace convene::base
