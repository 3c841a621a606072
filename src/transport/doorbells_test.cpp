// SPDX-License-Identifier: BSD-3-Clause
#include "transport/doorbells.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <thread>
#include <vector>

namespace convene::transport {
namespace {

using Outcome = Doorbells::Outcome;

constexpr std::uint64_t millisecond = 1'000'000, long_ns = 20'000 * millisecond;
constexpr Doorbells::Event signal_of_1 = Doorbells::signal_from(1);

/// Bells of three ranks, in memory that child processes share.
class DoorbellsOfThree : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 4096;

  DoorbellsOfThree()
      : memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        bells_(static_cast<Doorbells::Bell*>(memory_)) {}
  ~DoorbellsOfThree() override { munmap(memory_, bytes); }

  Doorbells of(std::size_t rank) { return {bells_, rank}; }
  /// Rings as soon as rank 0 has announced its sleep, a little later so that it surely sleeps.
  void ring_sleeper() {
    while (bells_[0].word.load() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    of(1).ring(0, signal_of_1);
  }

  void* memory_;
  Doorbells::Bell* bells_;
};

TEST_F(DoorbellsOfThree, WhatHoldsBeforeTheSleepEndsIt) {
  EXPECT_EQ(of(0).sleep(signal_of_1, long_ns, [] { return true; }), Outcome::holds);
}

TEST_F(DoorbellsOfThree, ARingBetweenTheLookAndTheSleepEndsIt) {
  const auto rings_meanwhile = [&] {
    of(1).ring(0, signal_of_1);
    return false;
  };
  EXPECT_EQ(of(0).sleep(signal_of_1, long_ns, rings_meanwhile), Outcome::rung);
  EXPECT_EQ(of(0).sleep(Doorbells::any_signal, long_ns, rings_meanwhile), Outcome::rung);
}

TEST_F(DoorbellsOfThree, AnEndRingsAllThatSleepForIt) {
  const auto ends_meanwhile = [&] {
    of(1).ring_all(3, Doorbells::end_of(1, 7));
    return false;
  };
  EXPECT_EQ(of(0).sleep(Doorbells::end_of(1, 7), long_ns, ends_meanwhile), Outcome::rung);
  EXPECT_EQ(of(2).sleep(Doorbells::end_of(1, 7), long_ns, ends_meanwhile), Outcome::rung);
  EXPECT_EQ(of(0).sleep(Doorbells::end_of(1, 8), millisecond, ends_meanwhile), Outcome::timed_out);
  EXPECT_EQ(of(0).sleep(Doorbells::end_of(2, 7), millisecond, ends_meanwhile), Outcome::timed_out);
}

TEST_F(DoorbellsOfThree, OtherEventsDoNotEndASleep) {
  const auto others_meanwhile = [&] {
    of(2).ring(0, Doorbells::signal_from(2));
    of(1).ring(2, signal_of_1);
    of(1).ring_all(3, Doorbells::end_of(1, 0));
    return false;
  };
  EXPECT_EQ(of(0).sleep(signal_of_1, millisecond, others_meanwhile), Outcome::timed_out);
  EXPECT_EQ(of(0).sleep(Doorbells::end_of(1, 0), millisecond,
                        [&] {
                          of(1).ring(0, signal_of_1);
                          return false;
                        }),
            Outcome::timed_out);
  const auto ends_meanwhile = [&] {
    of(1).ring_all(3, Doorbells::end_of(1, 0));
    return false;
  };
  EXPECT_EQ(of(0).sleep(Doorbells::any_signal, millisecond, ends_meanwhile), Outcome::timed_out);
}

TEST_F(DoorbellsOfThree, EventsDiffer) {
  std::vector<Doorbells::Event> events = {0, Doorbells::any_signal};
  for (std::size_t rank = 0; rank < 300; ++rank) {
    events.push_back(Doorbells::signal_from(rank));
    for (std::uint64_t run = 0; run < 3; ++run) events.push_back(Doorbells::end_of(rank, run));
  }
  std::sort(events.begin(), events.end());
  EXPECT_EQ(std::adjacent_find(events.begin(), events.end()), events.end());
}

TEST_F(DoorbellsOfThree, ARingWakesAThread) {
  Outcome outcome{};
  std::thread sleeper([&] { outcome = of(0).sleep(signal_of_1, long_ns, [] { return false; }); });
  ring_sleeper();
  sleeper.join();
  EXPECT_EQ(outcome, Outcome::rung);
}

/// The status with which a child process ends.
template <class Act>
int status_of_child(const Act& act, const auto& meanwhile) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  meanwhile();
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(DoorbellsOfThree, ARingWakesAProcessOfAnotherSession) {
  const auto sleeps = [&] {
    setsid();
    return of(0).sleep(signal_of_1, long_ns, [] { return false; }) == Outcome::rung ? 0 : 1;
  };
  EXPECT_EQ(status_of_child(sleeps, [&] { ring_sleeper(); }), 0);
}

/// From now on futexes fail in this process.
bool forbid_futexes() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(DoorbellsOfThree, WithoutFutexesASleepIsAYield) {
  constexpr int not_permitted = 77;
  const auto sleeps = [&] {
    if (!forbid_futexes()) return not_permitted;
    of(0).ring(1, Doorbells::signal_from(0));
    return of(0).sleep(signal_of_1, long_ns, [] { return false; }) == Outcome::refused ? 0 : 1;
  };
  const int status = status_of_child(sleeps, [] {});
  if (status == not_permitted) GTEST_SKIP() << "seccomp is not permitted here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace convene::transport
