// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/fast_path.hpp"

#include <gtest/gtest.h>

namespace convene::runtime {
namespace {

CallKey bcast_from(int root, MPI_Count count = 8) {
  return {.collective = Collective::bcast, .root = root, .recvcount = count, .recvtype = MPI_INT};
}

CallStats counts;

RepeatedCall call_of(const CallKey& key) { return {.key = key, .record = &counts, .block_bytes = 4}; }

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

TEST(FastPath, FindsAnyRootWhereAllAreAlike) {
  FastPath path;
  RepeatedCall call = call_of(bcast_from(0));
  call.key.any_root = true;
  path.keep(call, true);
  EXPECT_EQ(path.find(bcast_from(5)), &path);
  EXPECT_EQ(path.find(bcast_from(5, 9)), nullptr);
}

TEST(FastPath, NeedsNoTableForOneNativeCall) {
  FastPath path;
  path.keep(call_of(bcast_from(0)), true);
  path.keep(call_of(bcast_from(0)), true);
  EXPECT_EQ(path.find(bcast_from(0)), &path);
  EXPECT_EQ(path.memory(), 0u);
  path.keep(call_of(bcast_from(1)), true);
  EXPECT_EQ(path.find(bcast_from(1)), &path);
  EXPECT_NE(path.find(bcast_from(0)), nullptr);
  EXPECT_EQ(path.memory(), path.natives.memory());
}

TEST(FastPath, KeepsNativeCallsBesideAProgram) {
  FastPath path;
  const auto decision = std::make_shared<Decision>();
  path.keep(call_of(bcast_from(0)), true);
  path.forget_last();
  path.keep_program({decision, {}, {}});
  EXPECT_TRUE(path.has_program_of(decision.get()));
  path.keep(call_of(bcast_from(1)), false);
  EXPECT_TRUE(path.is_program(*path.find(bcast_from(1))));
  ASSERT_NE(path.find(bcast_from(0)), nullptr);
  EXPECT_FALSE(path.is_program(*path.find(bcast_from(0))));
  path.keep(call_of(bcast_from(2)), true);
  EXPECT_EQ(path.find(bcast_from(1)), nullptr);
  EXPECT_FALSE(path.has_program_of(decision.get()));
}

TEST(FastPath, ForgetsAllOrTheLast) {
  FastPath path;
  path.keep(call_of(bcast_from(0)), true);
  path.forget();
  EXPECT_EQ(path.find(bcast_from(0)), nullptr);
  EXPECT_EQ(path.memory(), 0u);
  path.keep(call_of(bcast_from(0)), true);
  path.forget_last();
  EXPECT_FALSE(path.is_for(bcast_from(0)));
  EXPECT_NE(path.find(bcast_from(0)), nullptr);
  path.forget();
  EXPECT_EQ(path.find(bcast_from(0)), nullptr);
}

}  // namespace
}  // namespace convene::runtime
