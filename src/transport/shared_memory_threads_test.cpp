// SPDX-License-Identifier: BSD-3-Clause
// Memory shared by ranks that are threads. The thread sanitizer runs these tests (./dev test all threads).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "transport/shared_memory.hpp"

namespace convene::transport {
namespace {

/// Ranks 3, 5, 9 … of a communicator, which share memory of one process.
class Node {
 public:
  explicit Node(std::size_t data, const std::vector<Rank>& ranks = {3, 5, 9}) {
    const std::size_t bytes = SharedMemory::bytes(ranks.size(), data);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
    std::memset(memory, 0, bytes);
    const std::shared_ptr<std::byte> shared(memory, [](std::byte* at) { std::free(at); });
    for (const Rank rank : ranks)
      members_.push_back(std::make_unique<SharedMemory>(shared, ranks, rank, data));
  }
  SharedMemory& operator[](std::size_t i) { return *members_[i]; }

 private:
  std::vector<std::unique_ptr<SharedMemory>> members_;
};

/// Calls act(member) in a thread for each rank.
template <class Act>
void in_threads(const Act& act, std::size_t ranks = 3) {
  std::vector<std::thread> threads;
  for (std::size_t member = 0; member < ranks; ++member)
    threads.emplace_back([&act, member] { act(member); });
  for (std::thread& thread : threads) thread.join();
}

/// The first rank writes and signals, the others read; it may be many runs ahead, of any sizes.
TEST(SharedMemory, KeepsARunUntilItsReadersHaveEndedIt) {
  constexpr Rank others[] = {5, 9};
  constexpr std::size_t most = 40'000, runs = 3000;
  Node node(most);
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t run = 0, random = 1; run < runs; ++run) {
    random = random * 1664525 + 1013904223;
    sizes.push_back(8 + (random >> 16) % (run % 7 == 0 ? most - 8 : 300));
  }
  std::atomic<std::uint32_t> wrong = 0;
  in_threads([&](std::size_t member) {
    SharedMemory& mine = node[member];
    for (std::uint32_t run = 0; run < runs; ++run) {
      const bool carries = run % 5 == 3;
      const std::uint32_t size = carries ? SharedMemory::carried_bytes : sizes[run];
      std::byte* const data = carries ? mine.begin_carrying() : mine.begin(size);
      while (!mine.is_free()) std::this_thread::yield();
      const auto value = static_cast<std::byte>(run % 251);
      if (member == 0) {
        std::memset(data, static_cast<int>(value), size);
        for (const Rank other : others) carries ? mine.signal_with(other, data) : mine.signal(other, 0);
      } else {
        while (!(carries ? mine.take(3, data) : mine.is_signalled(3, 0))) std::this_thread::yield();
        wrong += data[0] != value || data[size - 1] != value;
        if (member == 2 && run % 100 == 0) std::this_thread::yield();
        wrong += data[size / 2] != value;
      }
      mine.end();
    }
  });
  EXPECT_EQ(wrong, 0u);
}

/// One rank that never polls: every wait is a sleep.
class Sleeper {
 public:
  Sleeper(SharedMemory& memory, std::atomic<std::uint32_t>& lost) : memory_(memory), lost_(lost) {
    memory_.use_bells();
  }

  /// False if a wakeup was lost, on any rank.
  bool await(std::optional<Rank> from, const auto& holds) {
    while (!holds())
      if (!note(memory_.sleep(from, longest_ns, holds), holds)) return false;
    return true;
  }
  bool await_memory() {
    const auto is_free = [&] { return memory_.is_free(); };
    while (!is_free())
      if (!note(memory_.sleep_until_ended(longest_ns), is_free)) return false;
    return true;
  }

 private:
  static constexpr std::uint64_t longest_ns = 10'000'000'000;

  bool note(Doorbells::Outcome outcome, const auto& holds) {
    EXPECT_NE(outcome, Doorbells::Outcome::refused);
    lost_ += outcome == Doorbells::Outcome::timed_out && holds();
    return lost_ == 0;
  }

  SharedMemory& memory_;
  std::atomic<std::uint32_t>& lost_;
};

/// Four ranks pass a token around, send to one, or receive from one, after short random times.
TEST(SharedMemory, LosesNoWakeup) {
  const std::vector<Rank> ranks = {3, 5, 9, 10};
  constexpr std::uint32_t runs = 1500;
  Node node(64, ranks);
  std::atomic<std::uint32_t> lost = 0, wrong = 0;
  in_threads(
      [&](std::size_t member) {
        SharedMemory& mine = node[member];
        Sleeper sleeper(mine, lost);
        std::uint32_t random = static_cast<std::uint32_t>(member) + 1;
        const auto signal_late = [&](Rank to) {
          random = random * 1664525 + 1013904223;
          for (std::uint32_t i = (random >> 16) % 512; i > 0; --i)
            std::atomic_signal_fence(std::memory_order_seq_cst);
          mine.signal(to, 0);
        };
        const auto await = [&](Rank from) {
          return sleeper.await(from, [&] { return mine.is_signalled(from, 0); });
        };
        const auto await_all = [&] {
          return sleeper.await(std::nullopt, [&] {
            for (const Rank other : ranks)
              if (other != ranks[member] && !mine.is_signalled(other, 0)) return false;
            return true;
          });
        };
        for (std::uint32_t run = 0; run < runs; ++run) {
          auto* const data = reinterpret_cast<std::uint32_t*>(mine.begin(64));
          if (!sleeper.await_memory()) return;
          const std::size_t root = run / 3 % ranks.size(), last = ranks.size() - 1;
          const std::size_t place = (member + ranks.size() - root) % ranks.size();
          const Rank next = ranks[(member + 1) % ranks.size()],
                     before = ranks[(member + last) % ranks.size()];
          if (run % 3 == 0) {
            if (place > 0 && !await(before)) return;
            wrong += place > 0 && *data != run + place - 1;
            *data = run + static_cast<std::uint32_t>(place);
            if (place < last) signal_late(next);
          } else if (run % 3 == 1 && place > 0) {
            signal_late(ranks[root]);
          } else if (run % 3 == 1) {
            if (!await_all()) return;
          } else if (place > 0) {
            if (!await(ranks[root])) return;
            wrong += *data != run;
          } else {
            *data = run;
            for (const Rank other : ranks)
              if (other != ranks[member]) signal_late(other);
          }
          mine.end();
        }
      },
      ranks.size());
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(wrong, 0u);
}

/// Ranks without signals wait only for each other's ends, of runs that are some runs behind.
TEST(SharedMemory, AnEndWakesThoseThatWaitForMemory) {
  constexpr std::uint32_t runs = 400, between_pauses = 50;
  Node node(64);
  std::atomic<std::uint32_t> lost = 0;
  in_threads([&](std::size_t member) {
    Sleeper sleeper(node[member], lost);
    for (std::uint32_t run = 0; run < runs; ++run) {
      node[member].begin(64);
      if (!sleeper.await_memory()) return;
      if (run % between_pauses == member) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      node[member].end();
    }
  });
  EXPECT_EQ(lost, 0u);
}

}  // namespace
}  // namespace convene::transport
