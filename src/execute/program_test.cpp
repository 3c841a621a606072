// SPDX-License-Identifier: BSD-3-Clause
#include "execute/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "execute/program_run.hpp"
#include "execute/zero_byte_messages.hpp"
#include "schedule/core/builder.hpp"
#include "transport/in_process.hpp"

namespace convene::execute {
namespace {

using testing::ElementsAre;

/// Schedule of one rank's dissemination barrier: each round sends and receives a zero-byte message.
Schedule barrier(Rank procs, Rank rank) {
  Builder builder;
  builder.begin(procs, rank);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, 8);
  builder.sends_empty_messages();
  for (Rank distance = 1, round = 0; distance < procs; distance *= 2, ++round) {
    builder.round(round);
    builder.send((rank + distance) % procs,
                 round == 0 ? Range(Buffer::input, 0) : Range(Buffer::output, round - 1));
    builder.recv((rank + procs - distance) % procs, Range(Buffer::output, round));
  }
  return builder.finish();
}

/// Allgather by a ring that sends the own block from the input.
Schedule ring(Rank procs) {
  Builder builder;
  builder.begin(procs, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, procs);
  for (Rank round = 0; round + 1 < procs; ++round) {
    builder.round(round);
    builder.send(1, round == 0 ? Range(Buffer::input, 0) : Range(Buffer::output, procs - round));
    builder.recv(procs - 1, Range(Buffer::output, procs - round - 1));
  }
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
  return builder.finish();
}

struct Bound {
  Buffers buffers;
  Program program;
  Arena arena;

  Bound(const Schedule& schedule, std::size_t bytes, std::vector<std::byte>& memory) {
    memory.resize(bytes * (schedule.places(Buffer::output) + 1) + 1);
    buffers.input = Memory::uniform(memory.data(), bytes);
    buffers.output = Memory::uniform(memory.data() + bytes, bytes);
    program.bind(schedule, compile_order(schedule), buffers, 0, arena);
  }
};

std::vector<Opcode> opcodes(const Schedule& schedule, std::size_t bytes) {
  std::vector<std::byte> memory;
  const Bound bound(schedule, bytes, memory);
  std::vector<Opcode> result;
  for (const Instruction& each : bound.program.instructions()) result.push_back(each.opcode);
  return result;
}

TEST(Program, JoinsPostsAndWaits) {
  EXPECT_THAT(opcodes(ring(2), 8), ElementsAre(Opcode::exchange, Opcode::exchange_send_half, Opcode::copy));
  // The wait for the first round's message follows those of the second round.
  EXPECT_THAT(opcodes(ring(3), 8), ElementsAre(Opcode::recv, Opcode::recv, Opcode::send, Opcode::copy,
                                               Opcode::wait, Opcode::send_now, Opcode::wait));
  // A long copy overlaps with the messages.
  EXPECT_THAT(opcodes(ring(2), 1 << 20), ElementsAre(Opcode::recv, Opcode::send, Opcode::copy, Opcode::wait));
  EXPECT_THAT(opcodes(barrier(4, 3), 0), ElementsAre(Opcode::exchange, Opcode::exchange_send_half,
                                                     Opcode::exchange, Opcode::exchange_send_half));
}

TEST(Program, KnowsBarriersOfZeroByteMessages) {
  std::vector<std::byte> memory;
  EXPECT_TRUE(Bound(barrier(4, 1), 0, memory).program.has_only_empty_messages());
  EXPECT_FALSE(Bound(ring(2), 8, memory).program.has_only_empty_messages());
}

TEST(Program, FitsBuffersOfTheSameLayout) {
  std::vector<std::byte> memory, elsewhere(1000);
  Bound bound(ring(4), 8, memory);
  Buffers other = bound.buffers;
  other.output.rebase(elsewhere.data());
  EXPECT_TRUE(bound.program.fits(other));
  other.output = Memory::uniform(elsewhere.data(), 16);
  EXPECT_FALSE(bound.program.fits(other));
  EXPECT_FALSE(Program().fits(other));
}

TEST(ZeroByteMessages, RunOverAnyTransport) {
  constexpr Rank procs = 2;
  InProcessNetwork network(procs, {.eager_bytes = 8, .most_delay = 5});
  for (Rank rank = 0; rank < procs; ++rank) network.of(static_cast<int>(rank)).connect(barrier(procs, rank));
  std::vector<std::byte> memory;
  const Bound second(barrier(procs, 1), 0, memory);
  // Rank 1's message is eager, so rank 0 can exchange; then rank 1 receives rank 0's.
  Transport::Handle handle = Transport::none();
  ASSERT_EQ(network.of(1).post_send(nullptr, 0, 0, Tags(7).of(0), &handle), 0);
  const Bound first(barrier(procs, 0), 0, memory);
  EXPECT_EQ(run_zero_byte_messages(first.program, network.of(0), Tags(7)), 0);
  EXPECT_EQ(network.of(1).wait(&handle), 0);
  EXPECT_EQ(network.of(1).receive({nullptr, 0, 0, Tags(7).of(0)}), 0);
  EXPECT_EQ(network.left_over(), 0u);
}

}  // namespace
}  // namespace convene::execute
