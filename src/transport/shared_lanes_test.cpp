// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace convene::transport {
namespace {

constexpr std::size_t lanes = SharedLanes::number, bytes = 5000;

/// Lanes of ranks 2 and 7 of a communicator.
class Lanes : public testing::Test {
 protected:
  Lanes() {
    const std::vector<Rank> ranks = {2, 7};
    const std::size_t all = SharedLanes::bytes(ranks.size(), bytes);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, all));
    std::fill_n(memory, all, std::byte{0});
    memory_ = {memory, [](std::byte* at) { std::free(at); }};
    end_ = memory + all;
    for (const Rank rank : ranks)
      ranks_.push_back(std::make_shared<SharedLanes>(memory_, ranks, rank, bytes));
  }

  std::shared_ptr<std::byte> memory_;
  std::byte* end_ = nullptr;
  std::vector<std::shared_ptr<SharedLanes>> ranks_;
};

TEST_F(Lanes, AreApart) {
  EXPECT_GE(ranks_[0]->capacity(), bytes);
  std::set<std::byte*> places;
  for (std::size_t i = 0; i < lanes; ++i) {
    LaneTurn turn(ranks_[0]), other(ranks_[1]);
    std::byte* const data = turn.memory().begin(bytes);
    EXPECT_EQ(data, other.memory().begin(bytes));
    EXPECT_GE(data, memory_.get());
    EXPECT_LE(data + bytes, end_);
    for (std::byte* const before : places) EXPECT_GE(std::abs(data - before), std::ptrdiff_t{bytes});
    places.insert(data);
    std::fill_n(data, bytes, std::byte{0xff});
    EXPECT_FALSE(other.memory().is_signalled(2, 0));
    turn.memory().signal(7, 0);
    EXPECT_TRUE(other.memory().is_signalled(2, 0));
  }
  EXPECT_EQ(places.size(), lanes);
}

TEST_F(Lanes, OperationsBeyondTheirNumberWaitForTheirTurn) {
  std::deque<LaneTurn> turns;
  for (std::size_t i = 0; i < 3 * lanes; ++i) turns.emplace_back(ranks_[0]);
  for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i].is_current(), i < lanes) << i;
  turns[2].end();  // they end in any order
  EXPECT_TRUE(turns[lanes + 2].is_current());
  EXPECT_FALSE(turns[lanes].is_current());
  EXPECT_FALSE(turns[2 * lanes + 2].is_current());
  turns[lanes + 2].end();
  EXPECT_TRUE(turns[2 * lanes + 2].is_current());
}

/// A rank that has ended its part does not use memory again that another one may read.
TEST_F(Lanes, AHalfIsKeptUntilAllRanksHaveEndedIt) {
  std::deque<LaneTurn> early, late;
  const auto run = [](LaneTurn& turn) {
    turn.memory().begin(bytes);
    if (!turn.memory().is_free()) return false;
    turn.memory().end();
    turn.end();
    return true;
  };
  for (std::size_t i = 0; i < 3 * lanes; ++i) {
    early.emplace_back(ranks_[0]);
    late.emplace_back(ranks_[1]);
  }
  for (std::size_t i = 0; i < 2 * lanes; ++i) EXPECT_TRUE(run(early[i])) << i;  // both halves
  LaneTurn& third = early[2 * lanes + 1];
  EXPECT_TRUE(third.is_current());
  EXPECT_FALSE(run(third));
  EXPECT_TRUE(run(late[0]));  // of another lane
  EXPECT_FALSE(third.memory().is_free());
  EXPECT_TRUE(run(late[1]));
  EXPECT_TRUE(third.memory().is_free());
}

TEST_F(Lanes, StayAsLongAsATurn) {
  LaneTurn turn(ranks_[0]);
  const std::weak_ptr<std::byte> watched = memory_;
  ranks_.clear();
  memory_.reset();
  EXPECT_FALSE(watched.expired());
  turn.memory().begin(bytes);
}

}  // namespace
}  // namespace convene::transport
