// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/order.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "schedule/core/builder.hpp"

namespace convene::schedule {
namespace {

/// True if rank 0 can do something earlier when messages arrive in any order. It has a place for each rank's
/// block.
bool is_independent(Rank procs, const std::function<void(Builder&)>& steps) {
  Builder builder;
  builder.begin(procs, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, procs);
  steps(builder);
  return has_independent_arrivals(builder.finish());
}

void recv(Builder& builder, Rank peer) { builder.recv(peer, Range(Buffer::output, peer)); }
void add(Builder& builder, Rank peer) {
  builder.combine(Range(Buffer::output, peer), Range(Buffer::output, 0));
}

TEST(IndependentArrivals, NoStepDependsOnWhatIsOnlyReceived) {
  EXPECT_FALSE(is_independent(4, [](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) recv(builder, peer);
  }));
}

TEST(IndependentArrivals, RoundsAreInOrder) {
  EXPECT_FALSE(is_independent(4, [](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) {
      builder.round(peer - 1);
      recv(builder, peer);
      builder.send(peer, Range(Buffer::output, peer));
    }
  }));
}

/// Few and many ranks: sets of receives are stored in words of 64 bits.
TEST(IndependentArrivals, ASumInTheOrderOfTheReceivesWaitsForAllBefore) {
  for (const Rank procs : {4u, 64u, 65u, 66u, 129u, 130u, 300u})
    for (const bool is_sent : {false, true})
      EXPECT_FALSE(is_independent(procs, [&](Builder& builder) {
        for (Rank peer = 1; peer < procs; ++peer) {
          recv(builder, peer);
          add(builder, peer);
        }
        builder.round(1);
        if (is_sent) builder.send(1, Range(Buffer::output, 0));
      })) << procs;
}

TEST(IndependentArrivals, ASumInAnotherOrderNeedNotWait) {
  for (const Rank procs : {4u, 64u, 65u, 66u, 129u, 130u, 300u})
    for (const Rank late : {1u, procs - 2})  // the rank whose block is last
      EXPECT_TRUE(is_independent(procs,
                                 [&](Builder& builder) {
                                   for (Rank peer = 1; peer < procs; ++peer) recv(builder, peer);
                                   for (Rank peer = 1; peer < procs; ++peer)
                                     if (peer != late) add(builder, peer);
                                   add(builder, late);
                                 }))
          << procs << " " << late;
}

TEST(IndependentArrivals, WhatIsSentOnNeedNotWaitForOthers) {
  for (const bool at_once : {true, false})
    EXPECT_TRUE(is_independent(4, [at_once](Builder& builder) {
      recv(builder, 1);
      recv(builder, 2);
      if (!at_once) add(builder, 2);
      builder.round(1);
      builder.send(3, Range(Buffer::output, at_once ? 2 : 0));
    })) << at_once;
}

TEST(IndependentArrivals, WhatNeedsTheFirstOnlyIsNotHeldUp) {
  EXPECT_FALSE(is_independent(4, [](Builder& builder) {
    recv(builder, 1);
    recv(builder, 2);
    builder.round(1);
    builder.send(3, Range(Buffer::output, 1));
  }));
}

}  // namespace
}  // namespace convene::schedule
