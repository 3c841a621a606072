// SPDX-License-Identifier: BSD-3-Clause
// Memory shared by ranks that are threads. The thread sanitizer runs these tests (./dev test all threads).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "transport/shared_memory.hpp"

namespace convene::transport {
namespace {

/// Ranks 3, 5 and 9 of a communicator, which share memory of one process.
class Node {
 public:
  explicit Node(std::size_t data) {
    const std::vector<Rank> ranks = {3, 5, 9};
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
void in_threads(const Act& act) {
  std::vector<std::thread> threads;
  for (std::size_t member = 0; member < 3; ++member) threads.emplace_back([&act, member] { act(member); });
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

}  // namespace
}  // namespace convene::transport
