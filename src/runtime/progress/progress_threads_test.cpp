// SPDX-License-Identifier: BSD-3-Clause
// The progress engine with real threads: the program's, which add operations and wait for them, and one in
// the background. The thread sanitizer runs these tests (./dev test all threads).
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/poller.hpp"
#include "mpi/stack.hpp"
#include "runtime/progress/progress_engine.hpp"

namespace convene::runtime {
namespace {

/// An operation of some steps. What a driver changes has no lock of its own.
class Counting : public Progressing {
 public:
  Counting(int steps, bool may_progress_in_background)
      : steps_(steps), in_background_(may_progress_in_background) {}

  bool advance() override {
    if (done_ < steps_) {
      ++done_;
      progress::note_movement();
    }
    return done_ == steps_;
  }
  void fail(int) override { failed_ = true; }
  bool may_progress_in_background() const override { return in_background_; }
  void complete() override { is_complete_.store(true, std::memory_order_release); }

  bool is_complete() const { return is_complete_.load(std::memory_order_acquire); }
  int done() const { return done_; }
  bool failed() const { return failed_; }

 private:
  const int steps_;
  const bool in_background_;
  int done_ = 0;
  bool failed_ = false;
  std::atomic<bool> is_complete_{false};
};

/// An operation without a waiting call: it is deleted when it is complete.
class Deleted : public Progressing {
 public:
  explicit Deleted(std::atomic<int>& deleted) : deleted_(deleted) {}
  ~Deleted() override { ++deleted_; }
  bool advance() override { return ++calls_ > 2; }
  void fail(int) override {}
  void complete() override { progress::defer_delete(this); }

 private:
  std::atomic<int>& deleted_;
  int calls_ = 0;
};

/// Throws once, then ends.
class Throwing : public Progressing {
 public:
  bool advance() override {
    if (!code_) throw std::bad_alloc();
    return true;
  }
  void fail(int code) override { code_ = code; }
  void complete() override { is_complete_ = true; }
  bool is_complete() const { return is_complete_; }
  int code() const { return code_; }

 private:
  int code_ = 0;
  bool is_complete_ = false;
};

class ProgressThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (stack::has_progress_hook)
      GTEST_SKIP() << "this MPI's progress takes hooks only when it is initialised";
  }

  /// What the progress thread does (background.cpp), without settings and without an MPI.
  static Poller::Found poll() {
    if (progress::outstanding.load(std::memory_order_acquire) == 0) return Poller::Found::nothing;
    return progress::advance_in_background() ? Poller::Found::moved : Poller::Found::waiting;
  }

  /// Each thread adds operations one after the other and waits for each.
  static void run(int threads, int operations, bool in_background) {
    std::vector<std::thread> program;
    for (int thread = 0; thread < threads; ++thread)
      program.emplace_back([=] {
        for (int number = 0; number < operations; ++number) {
          const int steps = 1 + (number + thread) % 7;
          Counting operation(steps, in_background);
          progress::add(&operation);
          progress::wait_until([&] { return operation.is_complete(); });
          EXPECT_EQ(operation.done(), steps);
          EXPECT_FALSE(operation.failed());
        }
      });
    for (std::thread& each : program) each.join();
    EXPECT_EQ(progress::outstanding.load(), 0);
  }
};

TEST_F(ProgressThreads, EachWaitsForItsOwnOperations) { run(3, 200, false); }

TEST_F(ProgressThreads, OneInTheBackgroundTakesOperationsFurther) {
  Poller poller(poll);
  static Poller* wakened = &poller;
  progress::wake_background.store([] { wakened->wake(); });
  run(2, 200, true);
  progress::wake_background.store(nullptr);
}

TEST_F(ProgressThreads, TheBackgroundLeavesWhatItMayNotTouch) {
  Counting operation(1, false);
  progress::add(&operation);
  std::thread([] { EXPECT_FALSE(progress::advance_in_background()); }).join();
  EXPECT_EQ(operation.done(), 0);
  progress::advance_all();
  EXPECT_TRUE(operation.is_complete());
}

TEST_F(ProgressThreads, TheBackgroundCompletesNothing) {
  Counting operation(1, true);
  progress::add(&operation);
  std::thread([] {
    EXPECT_TRUE(progress::advance_in_background());
    progress::advance_all();  // from within the MPI, where it has a hook
  }).join();
  EXPECT_EQ(operation.done(), 1);
  EXPECT_FALSE(operation.is_complete());
  progress::advance_all();
  EXPECT_TRUE(operation.is_complete());
}

TEST_F(ProgressThreads, WhatIsDeferredIsDeletedOnce) {
  constexpr int threads = 3, operations = 100;
  std::atomic<int> deleted{0};
  std::vector<std::thread> program;
  for (int thread = 0; thread < threads; ++thread)
    program.emplace_back([&] {
      for (int number = 0; number < operations; ++number) {
        progress::add(new Deleted(deleted));
        progress::advance_all();
      }
    });
  for (std::thread& each : program) each.join();
  progress::wait_until([] { return progress::outstanding.load() == 0; });
  progress::delete_deferred();
  EXPECT_EQ(deleted, threads * operations);
}

TEST_F(ProgressThreads, AnExceptionEndsTheOperationAlone) {
  Throwing broken;
  Counting sound(3, true);
  progress::add(&broken);
  progress::add(&sound);
  progress::wait_until([&] { return broken.is_complete() && sound.is_complete(); });
  EXPECT_NE(broken.code(), MPI_SUCCESS);
  EXPECT_EQ(sound.done(), 3);
}

}  // namespace
}  // namespace convene::runtime
