// SPDX-License-Identifier: BSD-3-Clause
// The fabric transport without MPI: several endpoints of one process, which this thread drives in turn.
#include <algorithm>
#include <numeric>
#include <random>

#include "transport/fabric_ranks_for_test.hpp"

namespace convene::transport {
namespace {

[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

TEST_P(FabricRanks, DeliverInTheOrderOfASenderAndTag) {
  constexpr std::size_t messages = 40;
  std::array<int, messages> out{}, in{};
  std::array<Transport::Handle, messages> sends{}, receives{};
  std::iota(out.begin(), out.end(), 1);
  for (std::size_t i = 0; i < messages; ++i) {
    const int tag = static_cast<int>(i % 3);
    ASSERT_EQ(rank(0).post_send(&out[i], sizeof out[i], 1, tag, &sends[i]), 0);
    ASSERT_EQ(rank(1).post_receive(&in[i], sizeof in[i], 0, tag, &receives[i]), 0);
  }
  EXPECT_EQ(complete(0, sends), MPI_SUCCESS);
  EXPECT_EQ(complete(1, receives), MPI_SUCCESS);
  EXPECT_EQ(in, out);
  expect_nothing_pending();
}

/// A rank that runs ahead is held back, in each direction, and what it has sent arrives in order.
TEST_P(FabricRanks, SendsAheadNeedCredit) {
  constexpr std::size_t messages = 300;
  const std::size_t ahead = most_ahead();
  std::array<std::array<int, messages>, 2> out{}, in{};
  std::array<std::array<Transport::Handle, messages>, 2> sends{}, receives{};
  for (const int from : {0, 1})
    for (std::size_t i = 0; i < messages; ++i) {
      const auto side = static_cast<std::size_t>(from);
      out[side][i] = static_cast<int>(i) + 1000 * from;
      ASSERT_EQ(rank(from).post_send(&out[side][i], sizeof(int), 1 - from, 5, &sends[side][i]), 0);
    }
  EXPECT_EQ(complete(0, std::span(sends[0]).first(ahead)), MPI_SUCCESS);
  EXPECT_EQ(complete(1, std::span(sends[1]).first(ahead)), MPI_SUCCESS);
  constexpr int enough = 2000;
  bool is_complete = false;
  for (int polls = 0; polls < enough && !is_complete; ++polls)
    EXPECT_EQ(rank(polls % 2).test(&sends[static_cast<std::size_t>(polls % 2)][ahead], &is_complete), 0);
  EXPECT_FALSE(is_complete);
  for (const int to : {0, 1})
    for (std::size_t i = 0; i < messages; ++i) {
      const auto side = static_cast<std::size_t>(1 - to);
      ASSERT_EQ(rank(to).post_receive(&in[side][i], sizeof(int), 1 - to, 5, &receives[side][i]), 0);
    }
  for (const int to : {0, 1})
    EXPECT_EQ(complete(to, receives[static_cast<std::size_t>(1 - to)]), MPI_SUCCESS);
  EXPECT_EQ(complete(0, sends[0]), MPI_SUCCESS);
  EXPECT_EQ(complete(1, sends[1]), MPI_SUCCESS);
  EXPECT_EQ(in, out);
  expect_nothing_pending();
}

/// A rank may wait for its last receive first: credit returns when a message is received, not when its
/// handle is tested.
TEST_P(FabricRanks, ReceivesThatAreNotTestedReturnCredit) {
  constexpr std::size_t messages = 300;
  std::array<int, messages> out{}, in{};
  std::array<Transport::Handle, messages> sends{}, receives{};
  std::iota(out.begin(), out.end(), 1);
  for (std::size_t i = 0; i < messages; ++i) {
    ASSERT_EQ(rank(0).post_send(&out[i], sizeof out[i], 1, 5, &sends[i]), 0);
    ASSERT_EQ(rank(1).post_receive(&in[i], sizeof in[i], 0, 5, &receives[i]), 0);
  }
  ASSERT_EQ(complete(1, std::span(receives).last(1)), MPI_SUCCESS);
  EXPECT_EQ(in, out);
  EXPECT_EQ(complete(1, receives), MPI_SUCCESS);
  EXPECT_EQ(complete(0, sends), MPI_SUCCESS);
  expect_nothing_pending();
}

TEST_P(FabricRanks, SendsWithoutCreditCanBeAbandoned) {
  constexpr std::size_t messages = 100;
  const std::size_t ahead = most_ahead();
  std::array<int, messages> out{}, in{};
  std::array<Transport::Handle, messages> sends{}, receives{};
  for (std::size_t i = 0; i < messages; ++i)
    ASSERT_EQ(rank(0).post_send(&out[i], sizeof out[i], 1, 5, &sends[i]), 0);
  rank(0).abandon(&sends[ahead], messages - ahead);
  for (std::size_t i = 0; i < ahead; ++i)
    ASSERT_EQ(rank(1).post_receive(&in[i], sizeof in[i], 0, 5, &receives[i]), 0);
  EXPECT_EQ(complete(0, std::span(sends).first(ahead)), MPI_SUCCESS);
  EXPECT_EQ(complete(1, std::span(receives).first(ahead)), MPI_SUCCESS);
  expect_nothing_pending();
}

/// Messages without a receive, as many as may be sent ahead, do not stop those of another communicator.
TEST_P(FabricRanks, MessagesAheadStopNoOtherCommunicator) {
  for (const std::size_t bytes : {8, 5000, 60'000}) {
    const std::size_t ahead = most_ahead();
    std::vector<std::byte> out(bytes, std::byte{5}), in(bytes * ahead), other(bytes);
    std::vector<Transport::Handle> sends(ahead), receives(ahead);
    std::array<Transport::Handle, 1> send{}, receive{};
    for (Transport::Handle& handle : sends) ASSERT_EQ(rank(0).post_send(out.data(), bytes, 1, 5, &handle), 0);
    progress_all(200);
    ASSERT_EQ(rank(0, 1).post_send(out.data(), bytes, 1, 5, send.data()), 0);
    ASSERT_EQ(rank(1, 1).post_receive(other.data(), bytes, 0, 5, receive.data()), 0);
    ASSERT_EQ(complete(1, receive), MPI_SUCCESS);
    EXPECT_EQ(other, out);
    for (std::size_t i = 0; i < ahead; ++i)
      ASSERT_EQ(rank(1).post_receive(in.data() + i * bytes, bytes, 0, 5, &receives[i]), 0);
    EXPECT_EQ(complete(1, receives), MPI_SUCCESS);
    EXPECT_EQ(complete(0, sends), MPI_SUCCESS);
    EXPECT_EQ(complete(0, send), MPI_SUCCESS);
    EXPECT_EQ(in.back(), std::byte{5});
    expect_nothing_pending();
  }
}

TEST_P(FabricRanks, MatchBySourceTagAndChannel) {
  std::array<int, 4> out{10, 11, 12, 13}, in{};
  std::array<Transport::Handle, 4> sends{}, receives{};
  ASSERT_EQ(rank(2, 0).post_send(&out[0], 4, 1, 7, &sends[0]), 0);
  ASSERT_EQ(rank(0, 1).post_send(&out[1], 4, 1, 7, &sends[1]), 0);
  ASSERT_EQ(rank(0, 0).post_send(&out[2], 4, 1, Fabric::highest_tag, &sends[2]), 0);
  ASSERT_EQ(rank(0, 0).post_send(&out[3], 4, 1, 7, &sends[3]), 0);
  ASSERT_EQ(rank(1, 0).post_receive(&in[3], 4, 0, 7, &receives[3]), 0);
  ASSERT_EQ(rank(1, 0).post_receive(&in[2], 4, 0, Fabric::highest_tag, &receives[2]), 0);
  ASSERT_EQ(rank(1, 1).post_receive(&in[1], 4, 0, 7, &receives[1]), 0);
  ASSERT_EQ(rank(1, 0).post_receive(&in[0], 4, 2, 7, &receives[0]), 0);
  EXPECT_EQ(complete(1, receives), MPI_SUCCESS);
  EXPECT_EQ(in, out);
  EXPECT_EQ(complete(2, std::span(sends).first(1)), MPI_SUCCESS);
  EXPECT_EQ(complete(0, std::span(sends).subspan(1)), MPI_SUCCESS);
}

TEST_P(FabricRanks, NoticesComeFromAnyRank) {
  std::array<int, 2> in{}, out{5, 6};
  std::array<Transport::Handle, 2> receives{};
  std::array<Transport::Handle, 1> first{}, second{};
  for (std::size_t i = 0; i < 2; ++i) ASSERT_EQ(rank(1).post_notice_receive(&in[i], 4, 9, &receives[i]), 0);
  ASSERT_EQ(rank(0).post_notice(&out[0], 4, 1, 9, first.data()), 0);
  ASSERT_EQ(rank(2).post_notice(&out[1], 4, 1, 9, second.data()), 0);
  EXPECT_EQ(complete(1, receives), MPI_SUCCESS);
  EXPECT_EQ(in[0] + in[1], 11);
  EXPECT_EQ(complete(0, first), MPI_SUCCESS);
  EXPECT_EQ(complete(2, second), MPI_SUCCESS);
}

/// Notices that came before their receives, beside a message of their tag.
TEST_P(FabricRanks, NoticesThatAreEarlyKeepTheOrderOfTheirSender) {
  std::array<int, 4> out{7, 8, 9, 10}, in{};
  std::array<Transport::Handle, 4> sends{}, receives{};
  ASSERT_EQ(rank(0).post_send(&out[3], 4, 1, 9, &sends[3]), 0);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(rank(0).post_notice(&out[i], 4, 1, 9, &sends[i]), 0);
  progress_all(500);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(rank(1).post_notice_receive(&in[i], 4, 9, &receives[i]), 0);
  ASSERT_EQ(rank(1).post_receive(&in[3], 4, 0, 9, &receives[3]), 0);
  ASSERT_EQ(complete(1, receives), MPI_SUCCESS);
  EXPECT_EQ(in, out);
  EXPECT_EQ(complete(0, sends), MPI_SUCCESS);
  expect_nothing_pending();
}

/// Messages of any size and number of pieces, on either side; a receive may be longer than its message.
TEST_P(FabricRanks, PiecesOfAnyNumberAndLength) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  Arena arena;
  for (const std::size_t bytes : {0, 1, 64, 5000, 70'000, 3'000'000}) {
    std::vector<std::byte> out(bytes), in(bytes + 16, std::byte{0xee});
    for (std::byte& each : out) each = static_cast<std::byte>(random());
    const auto cut = [&](std::vector<std::byte>& memory, std::size_t pieces) {
      std::vector<Piece> made;
      std::size_t at = 0;
      for (std::size_t i = 0; i < pieces; ++i) {
        const std::size_t rest = memory.size() - at, now = i + 1 == pieces ? rest : below(rest + 1);
        made.push_back({memory.data() + at, now});
        at += now;
      }
      return made;
    };
    std::array<Transport::Handle, 1> send{}, receive{};
    ASSERT_EQ(rank(0).post_send_pieces(cut(out, 1 + below(9)), 1, 3, arena, send.data()), 0);
    ASSERT_EQ(rank(1).post_receive_pieces(cut(in, 1 + below(9)), 0, 3, arena, receive.data()), 0);
    EXPECT_EQ(complete(1, receive), MPI_SUCCESS);
    EXPECT_EQ(complete(0, send), MPI_SUCCESS);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin())) << bytes;
    EXPECT_EQ(in.back(), std::byte{0xee}) << bytes;
  }
}

TEST_P(FabricRanks, ALongerMessageIsAnError) {
  std::array<int, 2> out{1, 2}, in{};
  std::array<Transport::Handle, 1> send{}, receive{};
  ASSERT_EQ(rank(0).post_send(out.data(), 8, 1, 1, send.data()), 0);
  ASSERT_EQ(rank(1).post_receive(in.data(), 4, 0, 1, receive.data()), 0);
  const int code = complete(1, receive);
  EXPECT_TRUE(code == MPI_ERR_TRUNCATE || code == MPI_ERR_OTHER) << code;  // shm of 1.17 has no code for it
  leaves_operations_ = true;
}

/// The error of an operation that was left to the endpoint reaches its inbox, unless that was dropped.
TEST_P(FabricRanks, ErrorsOfDetachedOperationsAreKept) {
  FabricEndpoint::Inbox inbox, dropped;
  std::array<int, 2> out{1, 2}, in{};
  const auto tag_of = [](int tag) {
    return Fabric::tag_of({.peer = 0, .channel = (1u << Fabric::channel_bits) - 1}, 0, tag);
  };
  for (FabricEndpoint::Inbox* const each : {&inbox, &dropped}) {
    const std::uint64_t tag = tag_of(each == &inbox ? 1 : 2);
    const std::array whole{Piece{reinterpret_cast<std::byte*>(out.data()), sizeof out}};
    const std::array part{Piece{reinterpret_cast<std::byte*>(in.data()), sizeof(int)}};
    Transport::Handle receive = 0, send = 0;
    ASSERT_EQ(of(1).post_receive(part, tag, &receive), 0);
    of(1).detach(&receive, each);
    if (each == &dropped) of(1).drop_inbox(dropped);
    ASSERT_EQ(of(0).post_send(whole, processes_->places[0][1].peer, tag, &send), 0);
    constexpr int patience = 100'000;
    for (int polls = 0; polls < patience && inbox.failure == 0; ++polls) progress_all(1);
    progress_all(100);
    of(0).leave(&send);
  }
  EXPECT_NE(inbox.failure.load(), 0);
  EXPECT_EQ(dropped.failure.load(), 0);
  EXPECT_FALSE(inbox.has_words.load());
  leaves_operations_ = true;
}

/// A rank ends while a credit for it, or an introduction, waits behind a long message. Later calls report it.
TEST_P(FabricRanks, FailuresOfSendsThatNobodyAwaitsAreReported) {
  if (of(1).provider() != "tcp") GTEST_SKIP() << of(1).provider() << " has no connection that a test can end";
  constexpr std::size_t messages = Fabric::messages_per_credit;
  std::array<int, messages> out{}, in{};
  std::array<Transport::Handle, messages> sends{}, receives{};
  const auto receive = [&](std::size_t i) { return rank(1).post_receive(&in[i], 4, 0, 5, &receives[i]); };
  if (!has_links()) {
    for (std::size_t i = 0; i < messages; ++i)
      ASSERT_EQ(rank(0).post_send(&out[i], 4, 1, 5, &sends[i]), MPI_SUCCESS);
    for (std::size_t i = 0; i + 1 < messages; ++i) ASSERT_EQ(receive(i), MPI_SUCCESS);
    ASSERT_EQ(complete(1, receives), MPI_SUCCESS);
    ASSERT_EQ(complete(0, sends), MPI_SUCCESS);
  }
  std::vector<std::byte> memory(64u << 20);  // more than the operating system buffers
  const std::array long_message{Piece{memory.data(), memory.size()}};
  const FabricEndpoint::Peer peer = processes_->places[1][0].peer;
  Transport::Handle ahead = 0, send = 0;
  ASSERT_EQ(of(1).post_send(long_message, peer, ~Fabric::is_control, &ahead), 0);
  if (has_links())
    ASSERT_EQ(rank(1).post_send(memory.data(), memory.size(), 0, 5, &send), MPI_SUCCESS);
  else
    ASSERT_EQ(receive(messages - 1), MPI_SUCCESS);
  constexpr int enough = 100;
  for (int i = 0; i < enough; ++i) ASSERT_EQ(rank(1).progress(), MPI_SUCCESS);
  ranks_[0].reset();
  ranks_[1].reset();
  processes_->endpoints[0].reset();
  leaves_operations_ = true;
  int code = MPI_SUCCESS;
  constexpr int patience = 200'000;
  for (int polls = 0; polls < patience && code == MPI_SUCCESS; ++polls) {
    code = rank(1).progress();
    if (polls % 64 == 0) sched_yield();
  }
  EXPECT_EQ(code, MPI_ERR_OTHER);
  bool is_complete = false;
  EXPECT_EQ(rank(1).test(&send, &is_complete), has_links() ? MPI_ERR_OTHER : MPI_SUCCESS);
  rank(1).abandon(&send, 1);
  of(1).leave(&ahead);
}

TEST_P(FabricRanks, CancelledReceivesMatchNothing) {
  int first = 0, second = 0, out = 3;
  std::array<Transport::Handle, 1> send{}, receive{};
  Transport::Handle cancelled = 0;
  ASSERT_EQ(rank(1).post_receive(&first, 4, 0, 1, &cancelled), 0);
  EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS);
  EXPECT_EQ(cancelled, Transport::none());
  ASSERT_EQ(rank(1).post_receive(&first, 4, 0, 1, &cancelled), 0);
  rank(1).abandon(&cancelled, 1);
  ASSERT_EQ(rank(0).post_send(&out, 4, 1, 1, send.data()), 0);
  ASSERT_EQ(rank(1).post_receive(&second, 4, 0, 1, receive.data()), 0);
  EXPECT_EQ(complete(1, receive), MPI_SUCCESS);
  EXPECT_EQ(complete(0, send), MPI_SUCCESS);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 3);
  expect_nothing_pending();
}

/// What the communicator after one that was freed receives is its own.
TEST_P(FabricRanks, LaterCommunicatorsUseTheRingsOfEarlierOnes) {
  for (int round = 0; round < 6; ++round) {
    std::array<int, 2> out{round, -round}, in{};
    std::array<Transport::Handle, 1> send{}, receive{};
    ASSERT_EQ(rank(1).post_receive(&in[0], 4, 0, 1, receive.data()), 0);
    ASSERT_EQ(rank(0).post_send(&out[0], 4, 1, 1, send.data()), 0);
    EXPECT_EQ(complete(1, receive), MPI_SUCCESS);
    EXPECT_EQ(complete(0, send), MPI_SUCCESS);
    EXPECT_EQ(in[0], round);
    expect_nothing_pending();
    ranks_.clear();
    add_communicators();
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricRanks, testing::ValuesIn(all_fabrics), name_of_fabric);

TEST(FabricEndpoint, AnUnknownProviderIsNamed) {
  std::string why_not;
  EXPECT_EQ(FabricEndpoint::open("carrier_pigeon", "", why_not), nullptr);
  EXPECT_NE(why_not, "");
  if (fabric_library("", why_not)) {
    EXPECT_EQ(FabricEndpoint::open("carrier_pigeon", "", why_not), nullptr);
    EXPECT_NE(why_not.find("no provider 'carrier_pigeon'"), std::string::npos) << why_not;
  }
}

}  // namespace
}  // namespace convene::transport
