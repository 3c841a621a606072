// SPDX-License-Identifier: BSD-3-Clause
// The in-process transport with a thread for each rank, and with a second one that only progresses. The
// thread sanitizer runs these tests (./dev test all threads).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "schedule/core/builder.hpp"
#include "transport/in_process.hpp"

namespace convene::transport {
namespace {

constexpr int places = 16;

/// A rank: its memory and its transport.
struct Participant {
  Transport& transport;
  std::vector<int> out = std::vector<int>(places), in = std::vector<int>(places, -1);

  Participant(InProcessNetwork& network, int procs, int rank) : transport(network.of(rank)) {
    Builder builder;
    builder.begin(static_cast<Rank>(procs), static_cast<Rank>(rank));
    EXPECT_EQ(transport.connect(builder.finish()), 0);
    for (std::vector<int>* each : {&out, &in}) {
      Registration made = 0;
      const Piece all{reinterpret_cast<std::byte*>(each->data()), places * sizeof(int)};
      EXPECT_EQ(transport.register_memory(all, Lifetime::process, &made), 0);
    }
  }
};

std::vector<std::unique_ptr<Participant>> ranks_of(InProcessNetwork& network, int procs) {
  std::vector<std::unique_ptr<Participant>> ranks;
  for (int rank = 0; rank < procs; ++rank)
    ranks.push_back(std::make_unique<Participant>(network, procs, rank));
  return ranks;
}

/// Runs `body(rank)` in a thread for each rank.
template <class Body>
void on_all(int procs, const Body& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < procs; ++rank) threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

/// Sends to the next rank while it receives from the one before, in one of three ways.
int shift(Participant& mine, int next, int before, std::size_t at, int way) {
  int* const out = &mine.out[at];
  int* const in = &mine.in[at];
  const int tag = static_cast<int>(at);
  if (way == 0) return mine.transport.exchange({out, sizeof(int), next, tag}, {in, sizeof(int), before, tag});
  Transport::Handle handles[2] = {Transport::none(), Transport::none()};
  if (const int code = mine.transport.post_receive(in, sizeof(int), before, tag, &handles[0])) return code;
  if (const int code = mine.transport.post_send(out, sizeof(int), next, tag, &handles[1])) return code;
  if (way == 1) return mine.transport.wait_all(handles, 2);
  for (int left = 2; left > 0;) {
    int found = 0, completed[2];
    Transport::Status statuses[2];
    if (const int code = mine.transport.wait_some(handles, 2, &found, completed, statuses)) return code;
    left -= found;
  }
  return 0;
}

void exchange_in_a_ring(int procs, const InProcessNetwork::Options& options, bool with_progress_threads) {
  InProcessNetwork network(procs, options);
  const auto ranks = ranks_of(network, procs);
  std::atomic<int> left{procs};
  std::vector<std::thread> progressing;
  for (int rank = 0; with_progress_threads && rank < procs; ++rank)
    progressing.emplace_back([&, rank] {
      while (left > 0) {
        EXPECT_EQ(network.of(rank).progress(), 0);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  on_all(procs, [&](int rank) {
    Participant& mine = *ranks[static_cast<std::size_t>(rank)];
    const int next = (rank + 1) % procs, before = (rank + procs - 1) % procs;
    for (std::size_t at = 0; at < places; ++at) {
      mine.out[at] = 100 * rank + static_cast<int>(at);
      EXPECT_EQ(shift(mine, next, before, at, static_cast<int>(at) % 3), 0);
      EXPECT_EQ(mine.in[at], 100 * before + static_cast<int>(at));
    }
    --left;
  });
  for (std::thread& thread : progressing) thread.join();
  EXPECT_EQ(network.left_over(), 0u);
}

TEST(InProcessThreads, RanksExchangeInARing) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const std::size_t eager : {0, 64})
      exchange_in_a_ring(4, {.seed = seed, .eager_bytes = eager, .most_delay = 20}, false);
}

TEST(InProcessThreads, EachRankHasAThreadThatProgresses) {
  exchange_in_a_ring(3, {.seed = 2, .eager_bytes = 0, .most_delay = 10}, true);
}

TEST(InProcessThreads, ReceivesNoticesOfAllRanksAtOnce) {
  constexpr int procs = 4, notices = 5;
  InProcessNetwork network(procs, {.seed = 3, .eager_bytes = 64, .most_delay = 9});
  const auto ranks = ranks_of(network, procs);
  on_all(procs, [&](int rank) {
    Participant& mine = *ranks[static_cast<std::size_t>(rank)];
    Transport::Handle handle = Transport::none();
    if (rank > 0) {
      for (int i = 0; i < notices; ++i) {
        mine.out[static_cast<std::size_t>(i)] = rank;
        ASSERT_EQ(
            mine.transport.post_notice(&mine.out[static_cast<std::size_t>(i)], sizeof(int), 0, 1, &handle),
            0);
        ASSERT_EQ(mine.transport.wait(&handle), 0);
      }
      return;
    }
    int sum = 0;
    for (int i = 0; i < notices * (procs - 1); ++i) {
      ASSERT_EQ(mine.transport.post_notice_receive(&mine.in[0], sizeof(int), 1, &handle), 0);
      ASSERT_EQ(mine.transport.wait(&handle), 0);
      sum += mine.in[0];
    }
    EXPECT_EQ(sum, notices * (1 + 2 + 3));
  });
  EXPECT_EQ(network.left_over(), 0u);
}

TEST(InProcessThreads, AnErrorOfOneRankEndsTheWaitsOfTheOthers) {
  constexpr int procs = 3;
  InProcessNetwork network(procs, {.eager_bytes = 0, .failing_rank = 1, .failing_call = 1});
  const auto ranks = ranks_of(network, procs);
  std::atomic<int> failures{0};
  on_all(procs, [&](int rank) {
    Participant& mine = *ranks[static_cast<std::size_t>(rank)];
    failures +=
        shift(mine, (rank + 1) % procs, (rank + procs - 1) % procs, 0, 0) == InProcessNetwork::failure;
  });
  EXPECT_EQ(failures, procs);
}

}  // namespace
}  // namespace convene::transport
