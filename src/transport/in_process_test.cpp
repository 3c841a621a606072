// SPDX-License-Identifier: BSD-3-Clause
#include "transport/in_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "schedule/core/builder.hpp"

namespace convene::transport {
namespace {

/// A network whose ranks are all connected, and one array of memory that all of them have registered.
struct Connected {
  InProcessNetwork network;
  std::array<int, 64> memory = {};

  Connected(int procs, const InProcessNetwork::Options& options) : network(procs, options) {
    Builder builder;
    for (int rank = 0; rank < procs; ++rank) {
      builder.begin(static_cast<Rank>(procs), static_cast<Rank>(rank));
      EXPECT_EQ(network.of(rank).connect(builder.finish()), 0);
      Registration made = 0;
      const Piece all{reinterpret_cast<std::byte*>(memory.data()), sizeof memory};
      EXPECT_EQ(network.of(rank).register_memory(all, Lifetime::process, &made), 0);
      EXPECT_NE(made, 0u);
    }
  }
};

TEST(InProcess, KeepsTheOrderOfASenderAndTag) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Connected on(2, {.seed = seed, .eager_bytes = 4, .most_delay = 20});
    constexpr int messages = 16;
    std::array<Transport::Handle, 2 * messages> handles;
    for (int i = 0; i < messages; ++i) {
      on.memory[static_cast<std::size_t>(i)] = i + 1;
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(on.network.of(0).post_send(&on.memory[at], 4, 1, i % 2, &handles[at]), 0);
      ASSERT_EQ(on.network.of(1).post_receive(&on.memory[at + 32], 4, 0, i % 2, &handles[at + messages]), 0);
    }
    EXPECT_EQ(on.network.of(0).wait_all(handles.data(), messages), 0);
    EXPECT_EQ(on.network.of(1).wait_all(handles.data() + messages, messages), 0);
    EXPECT_TRUE(std::all_of(handles.begin(), handles.end(), [](auto h) { return h == Transport::none(); }));
    EXPECT_TRUE(std::equal(on.memory.begin(), on.memory.begin() + messages, on.memory.begin() + 32));
    EXPECT_EQ(on.network.left_over(), 0u);
  }
}

TEST(InProcess, SendsByRendezvousWaitForTheirReceive) {
  Connected on(2, {.eager_bytes = 4});
  Transport::Handle small = 0, large = 0, receives[2] = {};
  ASSERT_EQ(on.network.of(0).post_send(&on.memory[0], 4, 1, 0, &small), 0);
  ASSERT_EQ(on.network.of(0).post_send(&on.memory[0], 8, 1, 1, &large), 0);
  bool is_complete = false;
  EXPECT_EQ(on.network.of(0).test(&small, &is_complete), 0);
  EXPECT_TRUE(is_complete);
  EXPECT_EQ(on.network.of(0).test(&large, &is_complete), 0);
  EXPECT_FALSE(is_complete);
  ASSERT_EQ(on.network.of(1).post_receive(&on.memory[8], 4, 0, 0, &receives[0]), 0);
  ASSERT_EQ(on.network.of(1).post_receive(&on.memory[16], 8, 0, 1, &receives[1]), 0);
  EXPECT_EQ(on.network.of(1).wait_all(receives, 2), 0);
  EXPECT_EQ(on.network.of(0).wait(&large), 0);
}

TEST(InProcess, ReceivesNoticesOfAnyRankInTheirOrder) {
  Connected on(3, {.seed = 5, .eager_bytes = 4, .most_delay = 9});
  Transport::Handle handles[4];
  const int values[] = {10, 20, 11, 21};  // from ranks 1 and 2 alternately
  std::copy(values, values + 4, on.memory.begin());
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(
        on.network.of(1 + i % 2).post_notice(&on.memory[static_cast<std::size_t>(i)], 4, 0, 3, &handles[i]),
        0);
  std::vector<int> received;
  for (int i = 0; i < 4; ++i) {
    Transport::Handle handle = 0;
    ASSERT_EQ(on.network.of(0).post_notice_receive(&on.memory[40], 4, 3, &handle), 0);
    ASSERT_EQ(on.network.of(0).wait(&handle), 0);
    received.push_back(on.memory[40]);
  }
  const auto place = [&](int value) { return std::find(received.begin(), received.end(), value); };
  EXPECT_LT(place(10), place(11));
  EXPECT_LT(place(20), place(21));
  EXPECT_NE(place(21), received.end());
}

TEST(InProcess, GathersAndScattersPieces) {
  Connected on(2, {});
  std::iota(on.memory.begin(), on.memory.begin() + 8, 1);
  const auto piece = [&](std::size_t at, std::size_t count) {
    return Piece{reinterpret_cast<std::byte*>(&on.memory[at]), 4 * count};
  };
  const Piece out[] = {piece(4, 2), piece(0, 1)}, in[] = {piece(20, 1), piece(30, 2)};
  Transport::Handle sent = 0, received = 0;
  Arena arena;
  ASSERT_EQ(on.network.of(0).post_send_pieces(out, 1, 0, arena, &sent), 0);
  ASSERT_EQ(on.network.of(1).post_receive_pieces(in, 0, 0, arena, &received), 0);
  EXPECT_EQ(on.network.of(1).wait(&received), 0);
  EXPECT_EQ(on.network.of(0).wait(&sent), 0);
  EXPECT_EQ(on.memory[20], 5);
  EXPECT_EQ(on.memory[30], 6);
  EXPECT_EQ(on.memory[31], 1);
  EXPECT_EQ(on.network.sends_in_pieces(), 1u);
}

TEST(InProcess, RefusesMemoryThatIsNotRegistered) {
  Connected on(2, {});
  int elsewhere[2] = {};
  Transport::Handle handle = 0;
  EXPECT_EQ(on.network.of(0).post_send(elsewhere, 8, 1, 0, &handle), InProcessNetwork::not_registered);
  Registration made = 0;
  const Piece all{reinterpret_cast<std::byte*>(elsewhere), 8};
  ASSERT_EQ(on.network.of(0).register_memory(all, Lifetime::run, &made), 0);
  EXPECT_EQ(on.network.registered(), 1u);
  ASSERT_EQ(on.network.of(0).post_send(elsewhere, 8, 1, 0, &handle), 0);
  on.network.of(0).abandon(&handle, 1);
  EXPECT_EQ(on.network.of(0).deregister_memory(made), 0);
  EXPECT_EQ(on.network.of(0).deregister_memory(made), InProcessNetwork::not_registered);
}

TEST(InProcess, RefusesPeersThatAreNotConnected) {
  InProcessNetwork network(2, {});
  Transport::Handle handle = 0;
  EXPECT_EQ(network.of(0).post_send(nullptr, 0, 1, 0, &handle), InProcessNetwork::failure);
}

TEST(InProcess, ReportsTruncatedMessagesAndDeadlocks) {
  Connected on(2, {.eager_bytes = 64, .patience = 100});
  Transport::Handle sent = 0;
  ASSERT_EQ(on.network.of(0).post_send(&on.memory[0], 8, 1, 0, &sent), 0);
  EXPECT_EQ(on.network.of(1).receive({&on.memory[9], 4, 0, 0}), InProcessNetwork::truncated);
  EXPECT_EQ(on.network.of(1).receive({&on.memory[9], 4, 0, 0}), InProcessNetwork::stalled);
  EXPECT_EQ(on.network.of(0).close(), InProcessNetwork::failure);  // the send is not complete
  EXPECT_EQ(on.network.of(0).wait(&sent), 0);
  EXPECT_EQ(on.network.of(0).close(), 0);
  EXPECT_EQ(on.network.left_over(), 0u);
}

TEST(InProcess, WaitsForSomeAndCancels) {
  Connected on(2, {.seed = 4, .eager_bytes = 4, .most_delay = 10});
  Transport::Handle sends[4], receives[5];
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(on.network.of(1).post_receive(&on.memory[static_cast<std::size_t>(i)], 4, 0, i, &receives[i]),
              0);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(on.network.of(0).post_send(&on.memory[9], 4, 1, i, &sends[i]), 0);
  int left = 4;
  while (left > 0) {
    int found = 0, completed[5];
    Transport::Status statuses[5];
    ASSERT_EQ(on.network.of(1).wait_some(receives, 5, &found, completed, statuses), 0);
    ASSERT_GT(found, 0);
    left -= found;
    for (int i = 0; i < found; ++i) EXPECT_EQ(receives[completed[i]], Transport::none());
  }
  EXPECT_NE(receives[4], Transport::none());
  EXPECT_EQ(on.network.of(1).cancel(&receives[4]), 0);
  EXPECT_EQ(receives[4], Transport::none());
  EXPECT_EQ(on.network.of(0).wait_all(sends, 4), 0);
  EXPECT_EQ(on.network.left_over(), 0u);
}

}  // namespace
}  // namespace convene::transport
