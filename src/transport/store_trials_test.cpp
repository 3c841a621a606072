// SPDX-License-Identifier: BSD-3-Clause
#include "transport/store_trials.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace convene::transport {
namespace {

/// Ranks whose runs take given times: by rank, and whether all write with non-temporal stores.
class Ranks {
 public:
  using Time = std::function<std::uint64_t(std::size_t rank, bool streams)>;

  /// `calls_always`: also in runs whose time does not count.
  explicit Ranks(std::size_t number, bool calls_always = false)
      : calls_always_(calls_always), trials_(number), published_(number) {}

  /// One run on all ranks. Returns true if they write with non-temporal stores.
  bool run(std::size_t bytes, const Time& time) {
    ++number_;
    for (std::size_t rank = 0; rank < trials_.size(); ++rank)
      if (trials_[rank].begin(number_, bytes)) judge(rank);
    for (std::size_t rank = 0; rank < trials_.size(); ++rank) {
      EXPECT_EQ(trials_[rank].streams(), trials_[0].streams());
      if (!trials_[rank].is_timed() && calls_always_) time(rank, trials_[rank].streams());
      if (!trials_[rank].is_timed()) continue;
      if (const auto outcome = trials_[rank].end(time(rank, trials_[0].streams())))
        published_[rank][trials_[rank].slot()] = *outcome;
    }
    return trials_[0].streams();
  }
  /// The number of runs with non-temporal stores among some.
  int streamed(int runs, std::size_t bytes, const Time& time) {
    int found = 0;
    for (int i = 0; i < runs; ++i) found += run(bytes, time);
    return found;
  }
  void forget(std::size_t rank) { published_[rank] = {}; }

 private:
  void judge(std::size_t rank) {
    std::int64_t sum = 0;
    for (const auto& each : published_) {
      const StoreTrials::Outcome& outcome = each[trials_[rank].slot()];
      if (outcome.last_run != trials_[rank].judged()) return;
      sum += outcome.difference;
    }
    trials_[rank].judge(sum);
  }

  bool calls_always_;
  std::vector<StoreTrials> trials_;
  std::vector<std::array<StoreTrials::Outcome, StoreTrials::slots>> published_;
  std::uint64_t number_ = 0;
};

std::uint64_t near(std::size_t, bool streams) { return streams ? 30'000 : 20'000; }
std::uint64_t far(std::size_t, bool streams) { return streams ? 30'000 : 60'000; }

TEST(StoreTrials, FirstTrialDecides) {
  Ranks ranks(3);
  ranks.streamed(30, 1 << 20, near);
  EXPECT_EQ(ranks.streamed(90, 1 << 20, near), 4);  // those of one trial
  Ranks others(3);
  others.streamed(30, 1 << 20, far);
  EXPECT_EQ(others.streamed(90, 1 << 20, far), 86);
}

TEST(StoreTrials, TheFirstRunsAfterAChangeDoNotCount) {
  int since_change = 0;
  bool before = true;
  const auto time = [&](std::size_t rank, bool streams) -> std::uint64_t {
    if (rank == 0) since_change = streams == before ? since_change + 1 : 0, before = streams;
    return near(rank, streams) + (since_change < 2 ? 100'000 : 0);
  };
  Ranks ranks(2, true);
  ranks.streamed(30, 1 << 20, time);
  EXPECT_FALSE(ranks.run(1 << 20, time));
}

TEST(StoreTrials, TimeOfAllRanksCounts) {
  // The root writes faster with non-temporal stores; the others read slower.
  const auto bcast = [](std::size_t rank, bool streams) -> std::uint64_t {
    return rank == 0 ? (streams ? 10'000 : 20'000) : (streams ? 30'000 : 20'000);
  };
  Ranks two(2);
  two.streamed(30, 64 << 10, bcast);
  EXPECT_TRUE(two.run(64 << 10, bcast));  // 40 against 40: nothing changes
  Ranks three(3);
  three.streamed(30, 64 << 10, bcast);
  EXPECT_FALSE(three.run(64 << 10, bcast));  // 70 against 60
}

TEST(StoreTrials, OneDisturbedTrialChangesNothing) {
  Ranks ranks(2);
  ranks.streamed(250, 1 << 20, near);
  ranks.streamed(256, 1 << 20, far);
  EXPECT_FALSE(ranks.run(1 << 20, near));
  ranks.streamed(255, 1 << 20, near);
  ranks.streamed(256, 1 << 20, far);
  EXPECT_FALSE(ranks.run(1 << 20, near));
}

TEST(StoreTrials, TwoTrialsInSuccessionChangeTheStores) {
  Ranks ranks(2);
  ranks.streamed(250, 1 << 20, near);
  ranks.streamed(2 * 256, 1 << 20, far);
  EXPECT_TRUE(ranks.run(1 << 20, far));
}

TEST(StoreTrials, SizesAreApart) {
  Ranks ranks(2);
  for (int i = 0; i < 60; ++i) {
    ranks.run(1 << 20, near);
    ranks.run(32 << 10, far);
    ranks.run(16, near);
  }
  EXPECT_FALSE(ranks.run(1 << 20, near));
  EXPECT_TRUE(ranks.run(32 << 10, far));
  EXPECT_FALSE(ranks.run(16, near));  // below the least size
}

TEST(StoreTrials, AnIncompleteTrialIsNotJudged) {
  Ranks ranks(2);
  ranks.streamed(12, 1 << 20, near);
  ranks.forget(1);
  ranks.streamed(22, 1 << 20, near);
  EXPECT_TRUE(ranks.run(1 << 20, near));
}

TEST(StoreTrials, DifferencesHaveLimits) {
  StoreTrials trials;
  std::optional<StoreTrials::Outcome> outcome;
  for (std::uint64_t run = 1; !outcome; ++run) {
    trials.begin(run, 1 << 20);
    if (trials.is_timed()) outcome = trials.end(trials.streams() ? 0 : std::uint64_t{1} << 60);
  }
  EXPECT_EQ(outcome->difference, INT32_MAX);
  EXPECT_EQ(outcome->last_run, 10u);
}

}  // namespace
}  // namespace convene::transport
