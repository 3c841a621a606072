// SPDX-License-Identifier: BSD-3-Clause
#include "execute/memory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace convene::execute {
namespace {

std::array<std::byte, 4096> buffer;

std::ptrdiff_t offset(const Piece& piece) { return piece.at - buffer.data(); }

TEST(Memory, UniformBlocksFollowEachOther) {
  const Memory memory = Memory::uniform(buffer.data(), 10);
  EXPECT_TRUE(memory.is_uniform());
  EXPECT_EQ(offset(memory.place(3)), 30);
  EXPECT_EQ(memory.place(3).bytes, 10u);
}

TEST(Memory, IrregularBlocksAreWhereTheirArraysPutThem) {
  const std::array<int, 3> counts{2, 0, 3}, displacements{7, 1, 0};
  const Memory memory =
      Memory::irregular(buffer.data(), counts.data(), displacements.data(), /*size=*/4, /*extent=*/8, 1);
  EXPECT_FALSE(memory.is_uniform());
  EXPECT_EQ(offset(memory.block(0)), 56);
  EXPECT_EQ(memory.block(0).bytes, 8u);
  EXPECT_EQ(memory.block(1).bytes, 0u);
  EXPECT_EQ(offset(memory.block(2)), 0);
  EXPECT_EQ(memory.block(2).bytes, 12u);
}

TEST(Memory, WideArraysAreReadAsSuch) {
  const std::array<MPI_Count, 2> counts{1, 5};
  const std::array<MPI_Aint, 2> displacements{3, 9};
  const Memory memory = Memory::irregular(buffer.data(), counts.data(), displacements.data(), 2, 16, 1);
  EXPECT_EQ(offset(memory.block(1)), 144);
  EXPECT_EQ(memory.block(1).bytes, 10u);
}

RC_GTEST_PROP(Memory, PlacesOfABlockCoverItBetweenItems, ()) {
  const auto items = *rc::gen::inRange<std::size_t>(0, 60);
  const auto item_bytes = *rc::gen::element<std::size_t>(1, 2, 8, 16);
  const auto segments = *rc::gen::inRange<std::uint32_t>(1, 9);
  Memory memory = Memory::uniform(buffer.data(), items * item_bytes, segments);
  memory.cut_between(item_bytes);
  std::ptrdiff_t end = offset(memory.block(2));
  for (Place place = 2 * segments; place < 3 * segments; ++place) {
    const Piece piece = memory.place(place);
    RC_ASSERT(offset(piece) == end);
    RC_ASSERT(piece.bytes % item_bytes == 0u);
    RC_ASSERT(piece.bytes / item_bytes <= items / segments + 1);
    end += static_cast<std::ptrdiff_t>(piece.bytes);
  }
  RC_ASSERT(end == offset(memory.block(2)) + static_cast<std::ptrdiff_t>(items * item_bytes));
}

TEST(Memory, ABlockIsCutAfterItsHead) {
  const std::array<int, 3> counts{2, 0, 7}, displacements{9, 1, 0};
  Memory memory = Memory::irregular(buffer.data(), counts.data(), displacements.data(), 4, 8, 2);
  KeptLayout before;
  before.keep(memory, 6);
  memory.cut_after(10);
  EXPECT_FALSE(memory.same_layout(before));
  constexpr std::size_t bytes[] = {8, 0, 0, 0, 10, 18};
  constexpr std::ptrdiff_t at[] = {72, 80, 8, 8, 0, 10};
  for (Place place = 0; place < 6; ++place) {
    EXPECT_EQ(memory.place(place).bytes, bytes[place]) << place;
    EXPECT_EQ(offset(memory.place(place)), at[place]) << place;
  }
}

TEST(Memory, ALayoutIsComparedWithItsCopy) {
  std::array<int, 2> counts{1, 2};
  const std::array<int, 2> displacements{0, 5};
  const auto memory = [&](void* base) {
    return Memory::irregular(base, counts.data(), displacements.data(), 4, 4, 1);
  };
  KeptLayout kept;
  kept.keep(memory(buffer.data()), 2);
  EXPECT_TRUE(memory(buffer.data() + 100).same_layout(kept));
  counts[1] = 3;
  EXPECT_FALSE(memory(buffer.data()).same_layout(kept));
  EXPECT_FALSE(Memory::uniform(buffer.data(), 4).same_layout(kept));
}

}  // namespace
}  // namespace convene::execute
