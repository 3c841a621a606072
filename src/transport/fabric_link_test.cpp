// SPDX-License-Identifier: BSD-3-Clause
// The protocol of links: order, rendezvous, offers that are void, withdrawn or revoked, numbers that wrap.
#include "transport/fabric_link.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "transport/fabric_ranks_for_test.hpp"

namespace convene::transport {
namespace {

class FabricLinks : public FabricRanks {};

/// Bytes of message `number`, which differ from page to page.
std::vector<std::byte> content(std::size_t bytes, std::size_t number) {
  constexpr std::size_t page = 1000;
  std::vector<std::byte> made(bytes);
  for (std::size_t at = 0; at < bytes; at += page)
    std::memset(made.data() + at, static_cast<int>((at / page + 7 * number) % 251),
                std::min(page, bytes - at));
  return made;
}

bool begins_with(const std::vector<std::byte>& in, const std::vector<std::byte>& out) {
  return out.empty() || std::memcmp(in.data(), out.data(), out.size()) == 0;
}

/// Sends and receives of all sizes in any order, both ways: eager and rendezvous, early and late receives.
TEST_P(FabricLinks, MixedSizesInAnyOrder) {
  constexpr int messages = 400;
  std::mt19937 random(7);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  struct One {
    std::vector<std::byte> out, in;
    int from = 0, tag = 0;
    std::array<Transport::Handle, 1> send{}, receive{};
  };
  std::vector<One> all(messages);
  std::vector<std::size_t> actions;
  for (std::size_t i = 0; i < messages; ++i) {
    constexpr std::array<std::size_t, 5> sizes{9, 3000, 20'000, 70'000, 300'000};
    One& one = all[i];
    one.out = content(below(sizes[below(i % 40 == 0 ? 5 : 4)]), i);
    const bool is_longer = i % 7 == 0 && may_match(one.out.size(), one.out.size() + 90'000);
    one.in.assign(one.out.size() + (is_longer ? 90'000 : 0), std::byte{0xee});
    one.from = static_cast<int>(i % 2);
    one.tag = static_cast<int>(i);
    actions.push_back(2 * i);
    actions.push_back(2 * i + 1);
  }
  std::shuffle(actions.begin(), actions.end(), random);
  for (const std::size_t action : actions) {
    One& one = all[action / 2];
    const auto post = [&]() -> int {
      if (action % 2 == 0)
        return rank(one.from).post_send(one.out.data(), one.out.size(), 1 - one.from, one.tag,
                                        one.send.data());
      return rank(1 - one.from)
          .post_receive(one.in.data(), one.in.size(), one.from, one.tag, one.receive.data());
    };
    ASSERT_EQ(post(), MPI_SUCCESS);
    if (action % 5 == 0) progress_all(1);
  }
  for (One& one : all) {
    ASSERT_EQ(complete(1 - one.from, one.receive), MPI_SUCCESS);
    ASSERT_EQ(complete(one.from, one.send), MPI_SUCCESS);
    ASSERT_TRUE(begins_with(one.in, one.out));
    ASSERT_TRUE(one.in.size() == one.out.size() || one.in.back() == std::byte{0xee});
  }
  expect_nothing_pending();
}

/// Numbers of entries, messages and announcements wrap, in small and in large messages.
TEST_P(FabricLinks, NumbersWrap) {
  constexpr int messages = 1500;
  constexpr std::size_t large = 66'000;
  std::vector<std::byte> out(large), in(large);
  for (int i = 0; i < messages; ++i) {
    const std::size_t bytes = i % 3 == 0 ? large : 8;
    out[0] = out[bytes - 1] = static_cast<std::byte>(i);
    std::array<Transport::Handle, 1> send{}, receive{};
    const bool is_late = i % 2 == 0;
    const auto post_send = [&] {
      ASSERT_EQ(rank(0).post_send(out.data(), bytes, 1, i % 200, send.data()), 0);
    };
    if (is_late) post_send();
    ASSERT_EQ(rank(1).post_receive(in.data(), bytes, 0, i % 200, receive.data()), 0);
    if (!is_late) post_send();
    ASSERT_EQ(complete(1, receive), MPI_SUCCESS);
    ASSERT_EQ(complete(0, send), MPI_SUCCESS);
    ASSERT_EQ(in[0], static_cast<std::byte>(i));
    ASSERT_EQ(in[bytes - 1], static_cast<std::byte>(i));
  }
  expect_nothing_pending();
}

/// A large message, where its receive is short, and where it was announced but is longer than that.
TEST_P(FabricLinks, ALongerLargeMessageIsAnError) {
  std::vector<std::byte> out(200'000), in(100'000);
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{100'000}})
    for (const bool is_early : {true, false}) {
      if (!has_links() || !may_match(out.size(), bytes)) continue;
      std::array<Transport::Handle, 1> send{}, receive{};
      const auto receive_it = [&] { return rank(1).post_receive(in.data(), bytes, 0, 1, receive.data()); };
      EXPECT_EQ(is_early ? receive_it() : 0, 0);
      ASSERT_EQ(rank(0).post_send(out.data(), out.size(), 1, 1, send.data()), 0);
      progress_all(100);
      EXPECT_EQ(is_early ? 0 : receive_it(), 0);
      EXPECT_EQ(complete(1, receive), MPI_ERR_TRUNCATE);
      EXPECT_EQ(complete(0, send), MPI_SUCCESS);
    }
}

TEST_P(FabricLinks, CancelledLargeReceivesMatchNothing) {
  std::vector<std::byte> out(100'000, std::byte{7}), first(out.size()), second(out.size());
  std::array<Transport::Handle, 1> send{}, receive{};
  for (int i = 0; i < 300; ++i) {
    Transport::Handle cancelled = 0;
    ASSERT_EQ(rank(1).post_receive(first.data(), first.size(), 0, 1, &cancelled), 0);
    EXPECT_EQ(rank(1).cancel(&cancelled), MPI_SUCCESS);
    if (i % 50 == 0) progress_all(200);
  }
  progress_all(1000);
  ASSERT_EQ(rank(1).post_receive(second.data(), second.size(), 0, 1, receive.data()), 0);
  ASSERT_EQ(rank(0).post_send(out.data(), out.size(), 1, 1, send.data()), 0);
  EXPECT_EQ(complete(1, receive), MPI_SUCCESS);
  EXPECT_EQ(complete(0, send), MPI_SUCCESS);
  EXPECT_EQ(first.back(), std::byte{0});
  EXPECT_EQ(second, out);
  expect_nothing_pending();
}

/// Few tags, receives of any length, early and late ones: messages of a tag match in the order of sending,
/// whichever offers they use, make void or cross.
TEST_P(FabricLinks, MessagesOfATagKeepTheirOrder) {
  constexpr std::size_t messages = 300, window = 24;
  constexpr std::array<std::size_t, 5> sizes{8, 3000, 65'536, 65'537, 90'000};
  struct One {
    std::vector<std::byte> out, in;
    int tag = 0;
    std::array<Transport::Handle, 1> send{}, receive{};
  };
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
    std::array<std::vector<One>, 2> sides;  // by sender
    for (std::vector<One>& all : sides) {
      all.resize(messages);
      for (std::size_t i = 0; i < messages; ++i) {
        One& one = all[i];
        one.out.assign(sizes[below(sizes.size())], static_cast<std::byte>(i));
        const bool is_longer = below(3) == 0 && may_match(one.out.size(), one.out.size() + 80'000);
        one.in.resize(one.out.size() + (is_longer ? 80'000 : 0));
        one.tag = static_cast<int>(below(2));
      }
    }
    std::array<std::size_t, 2> sent{}, received{}, done{};
    while (done[0] + done[1] < 2 * messages) {
      const auto from = below(2);
      const int sender = static_cast<int>(from);
      std::vector<One>& all = sides[from];
      for (std::size_t more = below(4); more > 0 && sent[from] < std::min(messages, done[from] + window);
           --more) {
        One& one = all[sent[from]++];
        ASSERT_EQ(
            rank(sender).post_send(one.out.data(), one.out.size(), 1 - sender, one.tag, one.send.data()),
            MPI_SUCCESS);
      }
      for (std::size_t more = below(4); more > 0 && received[from] < std::min(messages, done[from] + window);
           --more) {
        One& one = all[received[from]++];
        ASSERT_EQ(
            rank(1 - sender).post_receive(one.in.data(), one.in.size(), sender, one.tag, one.receive.data()),
            MPI_SUCCESS);
      }
      for (std::size_t polls = below(6); polls > 0; --polls)
        ASSERT_EQ(rank(static_cast<int>(below(2))).progress(), MPI_SUCCESS);
      if (done[from] == std::min(sent[from], received[from]) || below(4) > 0) continue;
      One& one = all[done[from]++];
      ASSERT_EQ(complete(1 - sender, one.receive), MPI_SUCCESS);
      ASSERT_EQ(complete(sender, one.send), MPI_SUCCESS);
      ASSERT_TRUE(begins_with(one.in, one.out)) << done[from] << " " << seed;
    }
    expect_nothing_pending();
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricLinks, testing::ValuesIn(all_fabrics), name_of_fabric);

}  // namespace
}  // namespace convene::transport
