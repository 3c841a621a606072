// SPDX-License-Identifier: BSD-3-Clause
#include "clock/common_clock.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

#include "base/clock.hpp"
#include "transport/fake_mpi_for_test.hpp"

namespace convene::clock {
namespace {

constexpr int procs = 6;
thread_local int me;
thread_local Nanoseconds shift;
thread_local double gain;
std::barrier<>* meeting;
std::vector<unsigned char> table;

/// Predefined handles may be objects of the MPI's library: it must be loaded, although none of its functions
/// is called.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

int comm_rank(MPI_Comm, int* rank) { return *rank = me, MPI_SUCCESS; }
int comm_size(MPI_Comm, int* size) { return *size = procs, MPI_SUCCESS; }

int iallgather(const void* from, int bytes, MPI_Datatype, void* to, int, MPI_Datatype, MPI_Comm,
               MPI_Request* request) {
  const auto block = static_cast<std::size_t>(bytes);
  if (me == 0) table.resize(block * procs);
  meeting->arrive_and_wait();
  std::memcpy(&table[block * static_cast<std::size_t>(me)], from, block);
  meeting->arrive_and_wait();
  std::memcpy(to, table.data(), table.size());
  meeting->arrive_and_wait();
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int await(MPI_Request* request) {
  return *request == MPI_REQUEST_NULL ? MPI_SUCCESS : pmpi.Wait(request, MPI_STATUS_IGNORE);
}

Nanoseconds fake_now() {
  static const Nanoseconds start = own_time();
  const Nanoseconds now = own_time();
  return now + shift + static_cast<Nanoseconds>(gain * static_cast<double>(now - start));
}

/// One thread per rank.
void on_ranks(const std::function<void(int)>& body) {
  FakeMpi fake(procs, {});
  std::barrier<> barrier(procs);
  meeting = &barrier;
  pmpi.Comm_rank = comm_rank;
  pmpi.Comm_size = comm_size;
  pmpi.Iallgather = iallgather;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < procs; ++rank)
    ranks.emplace_back([&, rank] {
      fake.enter(rank);
      me = rank;
      body(rank);
    });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(fake.left_over(), 0u);
}

TEST(CommonClock, ThisProcessHasOneClock) {
  EXPECT_EQ(clock_domain(), clock_domain());
  EXPECT_NE(clock_domain(), 0u);
}

TEST(CommonClock, OneClockNeedsNoMessages) {
  on_ranks([](int) {
    CommonClock clock;
    EXPECT_FALSE(clock.is_known());
    EXPECT_EQ(clock.find_groups(MPI_COMM_WORLD, await, 5), MPI_SUCCESS);
    EXPECT_TRUE(clock.is_one_clock());
    EXPECT_TRUE(clock.is_known());
    EXPECT_EQ(clock.update(MPI_COMM_WORLD, 1, await, fake_now), MPI_SUCCESS);
    EXPECT_EQ(clock.to_common(12345), 12345);
    EXPECT_EQ(clock.error_at(12345), 0);
  });
}

TEST(CommonClock, EachGroupFindsItsOffset) {
  on_ranks([](int rank) {
    const int group = rank % 3;  // leaders are ranks 0, 1 and 2
    shift = group * 7'000'000'000 - 3'000'000'000;
    gain = 0;
    const Nanoseconds of_rank_0 = -3'000'000'000;
    CommonClock clock;
    ASSERT_EQ(clock.find_groups(MPI_COMM_WORLD, await, 100u + static_cast<unsigned>(group)), MPI_SUCCESS);
    EXPECT_FALSE(clock.is_one_clock());
    EXPECT_EQ(clock.is_common_here(), group == 0);
    EXPECT_EQ(clock.is_known(), group == 0);
    ASSERT_EQ(clock.update(MPI_COMM_WORLD, 1, await, fake_now), MPI_SUCCESS);
    EXPECT_TRUE(clock.is_known());
    const Nanoseconds now = fake_now(), error = clock.error_at(now);
    EXPECT_LE(std::abs(clock.offset_at(now) - (shift - (group == 0 ? shift : of_rank_0))), error);
    EXPECT_LT(error, 1'000'000'000);
    EXPECT_NEAR(static_cast<double>(clock.to_own(clock.to_common(now))), static_cast<double>(now), 2);
  });
}

TEST(CommonClock, ADriftShowsAfterAWhile) {
  on_ranks([](int rank) {
    shift = rank * 1'000'000;
    gain = rank == 5 ? 0.5 : 0;  // half a second after one: round trips on a busy machine take far less
    CommonClock clock;
    ASSERT_EQ(clock.find_groups(MPI_COMM_WORLD, await, rank == 5), MPI_SUCCESS);
    ASSERT_EQ(clock.update(MPI_COMM_WORLD, 1, await, fake_now), MPI_SUCCESS);
    EXPECT_EQ(clock.drift(), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    ASSERT_EQ(clock.update(MPI_COMM_WORLD, 1, await, fake_now), MPI_SUCCESS);
    EXPECT_NEAR(clock.drift(), rank == 5 ? 0.5 / 1.5 : 0, 0.05);
  });
}

}  // namespace
}  // namespace convene::clock
