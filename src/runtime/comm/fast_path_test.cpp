// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/fast_path.hpp"

#include <gtest/gtest.h>

namespace convene::runtime {
namespace {

CallKey bcast_from(int root, MPI_Count count = 8) {
  return {.collective = Collective::bcast, .root = root, .recvcount = count, .recvtype = MPI_INT};
}

RepeatedCall call_of(const CallKey& key) {
  return {.decision = std::make_shared<Decision>(), .key = key, .block_bytes = 4};
}

TEST(FastPath, KeepsEightRoots) {
  NativeCalls calls;
  EXPECT_EQ(calls.find(bcast_from(0)), nullptr);
  for (int root = 0; root < 8; ++root) calls.keep(call_of(bcast_from(root)));
  for (int root = 0; root < 8; ++root) {
    ASSERT_NE(calls.find(bcast_from(root)), nullptr) << root;
    EXPECT_EQ(calls.find(bcast_from(root))->key.root, root);
  }
  EXPECT_EQ(calls.find(bcast_from(8)), nullptr);  // the place of another root
}

TEST(FastPath, FindsNoOtherCall) {
  NativeCalls calls;
  calls.keep(call_of(bcast_from(0)));
  EXPECT_EQ(calls.find(bcast_from(0, 9)), nullptr);
  CallKey key = bcast_from(0);
  key.recvtype = MPI_CHAR;
  EXPECT_EQ(calls.find(key), nullptr);
  key = bcast_from(0);
  key.collective = Collective::reduce;
  EXPECT_EQ(calls.find(key), nullptr);
}

TEST(FastPath, ForgetsAllOrTheLast) {
  FastPath path;
  static_cast<RepeatedCall&>(path) = call_of(bcast_from(0));
  path.natives.keep(path);
  EXPECT_TRUE(path.is_for(bcast_from(0)));
  path.forget_last();
  EXPECT_FALSE(path.is_for(bcast_from(0)));
  EXPECT_NE(path.natives.find(bcast_from(0)), nullptr);
  path.forget();
  EXPECT_EQ(path.natives.find(bcast_from(0)), nullptr);
  EXPECT_GT(path.natives.memory(), 0u);
}

}  // namespace
}  // namespace convene::runtime
