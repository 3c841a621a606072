// SPDX-License-Identifier: BSD-3-Clause
// Receives that are cancelled while another rank, in a thread of its own, may use their offers.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "transport/fabric_ranks_for_test.hpp"

namespace convene::transport {
namespace {

/// Rank 0 is driven by a thread, rank 1 by the test.
class FabricCancels : public FabricRanks {
 protected:
  static constexpr std::size_t bytes = 100'000;

  /// Runs a function of rank 0 in a thread while rank 1 does something else.
  template <class Peer, class Own>
  void run(Peer&& of_peer, Own&& of_this) {
    std::atomic<bool> ends = false;
    std::thread peer([&] {
      of_peer();
      while (!ends.load()) {
        EXPECT_EQ(rank(0).progress(), MPI_SUCCESS);
        sched_yield();
      }
    });
    of_this();
    ends.store(true);
    peer.join();
  }

  int receive(std::vector<std::byte>& into, Transport::Handle* handle) {
    return rank(1).post_receive(into.data(), into.size(), 0, 1, handle);
  }

  /// Both sides of the link have introduced themselves.
  void make_link() {
    std::vector<std::byte> out(bytes), in(bytes);
    std::array<Transport::Handle, 1> send{}, received{};
    ASSERT_EQ(rank(0).post_send(out.data(), bytes, 1, 2, send.data()), MPI_SUCCESS);
    ASSERT_EQ(rank(1).post_receive(in.data(), bytes, 0, 2, received.data()), MPI_SUCCESS);
    ASSERT_EQ(complete(1, received), MPI_SUCCESS);
    ASSERT_EQ(complete(0, send), MPI_SUCCESS);
  }
};

/// `ready` was put, or is on its way, when the receive is cancelled; no message is sent to it.
TEST_P(FabricCancels, NothingIsPutIntoACancelledReceive) {
  make_link();
  std::vector<std::byte> out(bytes, std::byte{7}), first(bytes), second(bytes);
  for (int i = 0; i < 100; ++i) {
    run([] {},
        [&] {
          Transport::Handle cancelled = 0;
          ASSERT_EQ(receive(first, &cancelled), MPI_SUCCESS);
          for (int polls = 0; polls < i % 4; ++polls) ASSERT_EQ(rank(1).progress(), MPI_SUCCESS);
          if (i % 8 < 4)
            EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS);
          else
            rank(1).abandon(&cancelled, 1);
          EXPECT_EQ(cancelled, Transport::none());
        });
    std::array<Transport::Handle, 1> send{}, received{};
    std::fill(second.begin(), second.end(), std::byte{0});
    ASSERT_EQ(receive(second, received.data()), MPI_SUCCESS);
    ASSERT_EQ(rank(0).post_send(out.data(), bytes, 1, 1, send.data()), MPI_SUCCESS);
    ASSERT_EQ(complete(1, received), MPI_SUCCESS);
    ASSERT_EQ(complete(0, send), MPI_SUCCESS);
    ASSERT_EQ(second, out);
    ASSERT_EQ(first.back(), std::byte{0});
  }
  expect_nothing_pending();
}

/// A message and a cancel cross: the message is in the receive that was cancelled, whole, or in the next one.
TEST_P(FabricCancels, AMessageThatCrossesACancelIsReceivedOnce) {
  make_link();
  std::mt19937 random(3);
  std::vector<std::byte> out(bytes), first(bytes), second(bytes);
  for (int i = 1; i < 200; ++i) {
    const std::size_t fewer = may_match(500, bytes) ? 500 : 70'000;
    const std::size_t sent = i % 3 == 0 ? fewer : bytes;  // a short one makes offers void
    std::fill(out.begin(), out.end(), static_cast<std::byte>(i % 100 + 1));
    std::fill(first.begin(), first.end(), std::byte{0});
    const unsigned polls_before = random() % 40, polls_between = random() % 40;
    std::array<Transport::Handle, 1> send{};
    Transport::Handle cancelled = 0, later = 0;
    run(
        [&] {
          for (unsigned polls = 0; polls < polls_before; ++polls) EXPECT_EQ(rank(0).progress(), MPI_SUCCESS);
          EXPECT_EQ(rank(0).post_send(out.data(), sent, 1, 1, send.data()), MPI_SUCCESS);
        },
        [&] {
          ASSERT_EQ(receive(first, &cancelled), MPI_SUCCESS);
          for (unsigned polls = 0; polls < polls_between; ++polls) ASSERT_EQ(rank(1).progress(), MPI_SUCCESS);
          EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS);
        });
    const std::byte value = out.front();
    const bool is_in_first = first.front() == value && first[sent - 1] == value;
    if (!is_in_first) {
      ASSERT_EQ(first.front(), std::byte{0});
      ASSERT_EQ(receive(second, &later), MPI_SUCCESS);
      ASSERT_EQ(complete(1, {&later, 1}), MPI_SUCCESS);
      ASSERT_EQ(second[sent - 1], value);
      ASSERT_EQ(first.front(), std::byte{0});
    }
    ASSERT_EQ(complete(0, send), MPI_SUCCESS);
  }
  expect_nothing_pending();
}

/// A rank that does not answer delays a cancel, and hangs nothing. Later messages arrive.
TEST_P(FabricCancels, ARankThatDoesNotAnswerEndsNoCancelLate) {
  if (!has_links()) return;
  patience_ns_ = 20'000'000;
  ranks_.clear();
  add_communicators();
  make_link();
  std::vector<std::byte> out(bytes, std::byte{7}), first(bytes), second(bytes);
  Transport::Handle cancelled = 0;
  ASSERT_EQ(receive(first, &cancelled), MPI_SUCCESS);
  for (int polls = 0; polls < 100; ++polls) ASSERT_EQ(rank(1).progress(), MPI_SUCCESS);
  EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS);
  std::array<Transport::Handle, 1> send{}, received{};
  progress_all(100);
  ASSERT_EQ(receive(second, received.data()), MPI_SUCCESS);
  ASSERT_EQ(rank(0).post_send(out.data(), bytes, 1, 1, send.data()), MPI_SUCCESS);
  ASSERT_EQ(complete(1, received), MPI_SUCCESS);
  ASSERT_EQ(complete(0, send), MPI_SUCCESS);
  EXPECT_EQ(second, out);
  EXPECT_EQ(first.back(), std::byte{0});
  expect_nothing_pending();
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricCancels, testing::ValuesIn(all_fabrics), name_of_fabric);

}  // namespace
}  // namespace convene::transport
