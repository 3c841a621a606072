// SPDX-License-Identifier: BSD-3-Clause
#include "execute/message.hpp"

#include <gtest/gtest.h>

#include "schedule/core/builder.hpp"

namespace convene::execute {
namespace {

constexpr Rank places = 8;

/// A send of every second place of the output.
Schedule scattered_send() {
  Builder builder;
  builder.begin(2, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, places);
  builder.send(1, Range(Buffer::output, 0, places / 2, 2));
  return builder.finish();
}

struct Sent {
  std::vector<std::byte> memory;
  Arena arena;
  Message message;

  Sent(std::size_t block, std::size_t taken, std::size_t pack_below, Arena::Staging staging = nullptr)
      : memory(block * (places + 1)), arena(staging) {
    Buffers buffers;
    buffers.input = Memory::uniform(memory.data(), block);
    buffers.output = Memory::uniform(memory.data() + block, block);
    arena.take(taken);
    message = make_message(scattered_send(), 0, buffers, pack_below, arena);
  }
};

TEST(Message, IsPackedBelowALimit) {
  constexpr std::size_t limit = 32 * 1024, large = 1 << 20;
  const Sent small(8, 0, limit);
  EXPECT_NE(small.message.staging, nullptr);
  EXPECT_EQ(small.message.run.at, small.message.staging);
  EXPECT_EQ(small.message.run.bytes, 8u * places / 2);
  EXPECT_TRUE(small.message.pieces.empty());
  const Sent in_pieces(large, 0, limit);
  EXPECT_EQ(in_pieces.message.staging, nullptr);
  ASSERT_EQ(in_pieces.message.pieces.size(), places / 2);
  EXPECT_EQ(in_pieces.message.pieces[1].at, in_pieces.memory.data() + 3 * large);
  EXPECT_EQ(in_pieces.message.pieces[1].bytes, large);
  // A run that has used much memory packs no further messages.
  EXPECT_EQ(Sent(8, most_packed, limit).message.pieces.size(), places / 2);
}

TEST(Message, StagingElsewhereTakesNoMemory) {
  static std::byte there[1 << 20];
  const Sent sent(sizeof there / 8, most_packed, 0, [](std::size_t bytes) {
    EXPECT_LE(bytes, sizeof there);
    return there;
  });
  EXPECT_EQ(sent.message.staging, there);
  EXPECT_EQ(sent.message.run.at, there);
  EXPECT_EQ(sent.arena.taken(), most_packed);
}

TEST(Message, IsEmptyWithoutBytes) {
  EXPECT_TRUE(Sent(0, 0, 0).message.is_empty());
  EXPECT_FALSE(Sent(1, 0, 0).message.is_empty());
}

TEST(Memory, HasTheExtentOfItsPlaces) {
  std::byte memory[100];
  const int counts[] = {2, 0, 3}, displacements[] = {9, 50, 1};
  const Memory irregular = Memory::irregular(memory, counts, displacements, 1, 1, 1);
  const Piece extent = extent_of(irregular, 3);
  EXPECT_EQ(extent.at, memory + 1);
  EXPECT_EQ(extent.bytes, 10u);
  EXPECT_EQ(extent_of(Memory::uniform(memory, 0), 5).bytes, 0u);
}

}  // namespace
}  // namespace convene::execute
