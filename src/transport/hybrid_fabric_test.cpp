// SPDX-License-Identifier: BSD-3-Clause
// Hybrid fabric: messages on both sides of the limit with one peer, their order, and cancelled ones.
#include "transport/hybrid_fabric.hpp"

#include <atomic>
#include <random>
#include <thread>

#include "transport/fabric_ranks_for_test.hpp"

namespace convene::transport {
namespace {

/// Both protocols, by a limit on tagged messages.
class HybridRanks : public FabricRanks {
 protected:
  struct One {
    std::vector<std::byte> out, in;
    int tag = 0;
    std::array<Transport::Handle, 1> send{}, receive{};
  };

  static std::size_t limit() { return GetParam().protocol.most_tagged; }
  static bool is_put(std::size_t bytes) { return bytes > limit(); }

  /// A message whose bytes depend on its number and, from end to end, on their place.
  static One message(std::size_t bytes, std::size_t number, int tag) {
    One made;
    made.out.resize(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made.out[i] = static_cast<std::byte>(7 * number + i / 64);
    made.in.assign(bytes, std::byte{0xee});
    made.tag = tag;
    return made;
  }
  int post_send(One& one) {
    return rank(0).post_send(one.out.data(), one.out.size(), 1, one.tag, one.send.data());
  }
  int post_receive(One& one) {
    return rank(1).post_receive(one.in.data(), one.in.size(), 0, one.tag, one.receive.data());
  }
  /// Runs a function of rank 1 while a thread drives rank 0.
  template <class Function>
  void while_the_peer_progresses(Function&& function) {
    std::atomic<bool> ends = false;
    std::thread peer([&] {
      while (!ends.load()) {
        EXPECT_EQ(rank(0).progress(), MPI_SUCCESS);
        sched_yield();
      }
    });
    function();
    ends.store(true);
    peer.join();
  }
  void expect_delivered(One& one) {
    ASSERT_EQ(complete(1, one.receive), MPI_SUCCESS);
    ASSERT_EQ(complete(0, one.send), MPI_SUCCESS);
    ASSERT_TRUE(one.in == one.out) << one.out.size();
  }
};

/// Messages of 0 bytes, and of one byte below, at and above the limit, go by the protocol of their size.
TEST_P(HybridRanks, TheSizeChoosesTheProtocol) {
  for (const bool is_late : {false, true})
    for (const std::size_t bytes :
         {std::size_t{0}, limit() > 0 ? limit() - 1 : 0, limit(), limit() + 1, 2 * limit() + 70'000}) {
      One one = message(bytes, bytes, 3);
      ASSERT_EQ(is_late ? post_send(one) : post_receive(one), MPI_SUCCESS);
      progress_all(is_late ? 50 : 0);
      ASSERT_EQ(is_late ? post_receive(one) : post_send(one), MPI_SUCCESS);
      EXPECT_EQ(NotifiedFabric::names_message(one.send[0]), is_put(bytes));
      EXPECT_EQ(NotifiedFabric::names_message(one.receive[0]), is_put(bytes));
      expect_delivered(one);
    }
  expect_nothing_pending();
}

/// The pieces of a message count together, on each side.
TEST_P(HybridRanks, PiecesAreAddedUp) {
  Arena arena;
  for (const std::size_t bytes : {limit(), limit() + 1}) {
    One one = message(bytes, 5, 1);
    const std::size_t half = bytes / 2;
    const std::array out{Piece{one.out.data(), half}, Piece{one.out.data() + half, bytes - half}};
    const std::array in{Piece{one.in.data(), bytes - half}, Piece{one.in.data() + (bytes - half), half}};
    ASSERT_EQ(rank(0).post_send_pieces(out, 1, one.tag, arena, one.send.data()), MPI_SUCCESS);
    ASSERT_EQ(rank(1).post_receive_pieces(in, 0, one.tag, arena, one.receive.data()), MPI_SUCCESS);
    EXPECT_EQ(NotifiedFabric::names_message(one.send[0]), is_put(bytes));
    EXPECT_EQ(NotifiedFabric::names_message(one.receive[0]), is_put(bytes));
    expect_delivered(one);
  }
}

/// Messages of one tag in both protocols, more than run ahead, before and after their receives.
TEST_P(HybridRanks, MessagesOfATagKeepTheirOrder) {
  constexpr std::size_t messages = 400;
  std::mt19937 random(5);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  const std::array sizes{std::size_t{0}, limit() / 2, limit(), limit() + 1, limit() + 3000};
  for (const bool sends_are_ahead : {true, false}) {
    std::vector<One> all;
    for (std::size_t i = 0; i < messages; ++i)
      all.push_back(message(sizes[below(sizes.size())], i, static_cast<int>(below(2))));
    std::size_t sent = 0, received = 0;
    while (sent < messages || received < messages) {
      for (std::size_t more = sends_are_ahead ? 150 : below(5); more > 0 && sent < messages; --more)
        ASSERT_EQ(post_send(all[sent++]), MPI_SUCCESS);
      progress_all(static_cast<int>(below(4)));
      for (std::size_t more = sends_are_ahead ? 100 : below(5); more > 0 && received < messages; --more)
        ASSERT_EQ(post_receive(all[received++]), MPI_SUCCESS);
      progress_all(static_cast<int>(below(4)));
    }
    for (std::size_t i = messages; i > 0; --i) expect_delivered(all[i - 1]);  // in any order
    expect_nothing_pending();
  }
}

/// Both ways at the same time, with numbers of offers and entries that wrap.
TEST_P(HybridRanks, ExchangesInBothProtocols) {
  constexpr std::size_t rounds = 600;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t bytes = round % 2 == 0 ? limit() / 2 : limit() + 1;
    One there = message(bytes, round, 1), back = message(bytes, round + 1, 1);
    std::array<std::array<Transport::Handle, 2>, 2> handles{};
    ASSERT_EQ(rank(0).post_receive(back.in.data(), bytes, 1, 1, &handles[0][0]), MPI_SUCCESS);
    ASSERT_EQ(rank(0).post_send(there.out.data(), bytes, 1, 1, &handles[0][1]), MPI_SUCCESS);
    ASSERT_EQ(rank(1).post_receive(there.in.data(), bytes, 0, 1, &handles[1][0]), MPI_SUCCESS);
    ASSERT_EQ(rank(1).post_send(back.out.data(), bytes, 0, 1, &handles[1][1]), MPI_SUCCESS);
    ASSERT_EQ(complete(0, handles[0]), MPI_SUCCESS);
    ASSERT_EQ(complete(1, handles[1]), MPI_SUCCESS);
    ASSERT_TRUE(there.in == there.out && back.in == back.out) << round;
  }
  expect_nothing_pending();
}

/// Receives of both protocols that are abandoned together, or cancelled. Later messages arrive.
TEST_P(HybridRanks, OperationsOfBothProtocolsCanBeAbandoned) {
  const std::size_t small = limit() / 2, large = limit() + 5000;
  std::vector<One> all;
  for (std::size_t i = 0; i < 8; ++i) all.push_back(message(i % 2 == 0 ? small : large, i, 1));
  std::vector<Transport::Handle> receives;
  for (One& one : all) {
    ASSERT_EQ(post_receive(one), MPI_SUCCESS);
    receives.push_back(one.receive[0]);
  }
  receives.push_back(Transport::none());
  while_the_peer_progresses([&] { rank(1).abandon(receives.data(), receives.size()); });
  for (const Transport::Handle handle : receives) EXPECT_EQ(handle, Transport::none());
  for (const One& one : all) EXPECT_TRUE(one.in.empty() || one.in.back() == std::byte{0xee});
  for (One& one : all) {
    Transport::Handle cancelled = Transport::none();
    ASSERT_EQ(rank(1).post_receive(one.in.data(), one.in.size(), 0, 2, &cancelled), MPI_SUCCESS);
    while_the_peer_progresses([&] { EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS); });
    EXPECT_EQ(cancelled, Transport::none());
  }
  for (One& one : all) {
    ASSERT_EQ(post_send(one), MPI_SUCCESS);
    ASSERT_EQ(post_receive(one), MPI_SUCCESS);
    expect_delivered(one);
  }
  expect_nothing_pending();
}

constexpr FabricProtocol up_to(std::size_t bytes) { return {FabricProtocol::Kind::hybrid, bytes}; }

INSTANTIATE_TEST_SUITE_P(Providers, HybridRanks,
                         testing::Values(Over{"tcp", up_to(0)}, Over{"tcp", up_to(1000)},
                                         Over{"tcp", up_to(64 * 1024)}, Over{"shm", up_to(1000)},
                                         Over{"shm", up_to(64 * 1024)}),
                         name_of_fabric);

}  // namespace
}  // namespace convene::transport
