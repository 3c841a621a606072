// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/fast_path.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace convene::runtime {
namespace {

CallKey bcast_from(int root, MPI_Count count = 8) {
  return {.collective = Collective::bcast, .root = root, .recvcount = count, .recvtype = MPI_INT};
}

CallStats counts;

RepeatedCall call_of(const CallKey& key) { return {.key = key, .record = &counts, .block_bytes = 4}; }

RepeatedCall call_of(const CallKey& key, const std::shared_ptr<Decision>& decision) {
  RepeatedCall call = call_of(key);
  call.program = std::make_unique<RepeatedProgram>();
  call.program->refer_to(decision, Binding{}, ItemOperator{});
  return call;
}

TEST(FastPath, KeepsEightRoots) {
  EarlierCalls calls;
  EXPECT_EQ(calls.find(bcast_from(0)), nullptr);
  for (int root = 0; root < 8; ++root) calls.keep(call_of(bcast_from(root)));
  for (int root = 0; root < 8; ++root) {
    ASSERT_NE(calls.find(bcast_from(root)), nullptr) << root;
    EXPECT_EQ(calls.find(bcast_from(root))->key.root, root);
  }
  EXPECT_EQ(calls.find(bcast_from(8)), nullptr);  // the place of another root
}

TEST(FastPath, FindsNoOtherCall) {
  EarlierCalls calls;
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
  path.keep(std::move(call));
  EXPECT_EQ(path.find(bcast_from(5)), &path.last());
  EXPECT_EQ(path.find(bcast_from(5, 9)), nullptr);
}

TEST(FastPath, NeedsNoTableForOneCall) {
  FastPath path;
  path.keep(call_of(bcast_from(0)));
  path.keep(call_of(bcast_from(0)));
  EXPECT_EQ(path.find(bcast_from(0)), &path.last());
  EXPECT_EQ(path.memory(), 0u);
  path.keep(call_of(bcast_from(1)));
  EXPECT_EQ(path.find(bcast_from(1)), &path.last());
  EXPECT_NE(path.find(bcast_from(0)), nullptr);
  EXPECT_GT(path.memory(), 0u);
}

TEST(FastPath, KeepsProgramsAndNativeCalls) {
  FastPath path;
  const auto first = std::make_shared<Decision>(), second = std::make_shared<Decision>();
  path.keep(call_of(bcast_from(0)));
  path.keep(call_of(bcast_from(1), first));
  const std::size_t memory = path.memory();
  path.keep(call_of(bcast_from(2), second));
  EXPECT_EQ(path.memory(), memory + sizeof(RepeatedProgram));
  ASSERT_NE(path.find(bcast_from(0)), nullptr);
  EXPECT_FALSE(path.find(bcast_from(0))->program);
  ASSERT_NE(path.find(bcast_from(1)), nullptr);
  EXPECT_TRUE(path.find(bcast_from(1))->runs(*first));
  ASSERT_NE(path.find(bcast_from(2)), nullptr);
  EXPECT_TRUE(path.find(bcast_from(2))->runs(*second));
}

TEST(FastPath, BindsTheOperatorThatItKeeps) {
  FastPath path;
  path.keep(call_of(bcast_from(0), std::make_shared<Decision>()));
  path.keep(call_of(bcast_from(1)));
  const RepeatedProgram& kept = *path.find(bcast_from(0))->program;
  EXPECT_EQ(kept.binding.op.context, &kept.item_operator);
}

TEST(FastPath, ForgetsAllCallsOfAProgramThatIsBoundAnew) {
  FastPath path;
  const auto decision = std::make_shared<Decision>(), other = std::make_shared<Decision>();
  path.keep(call_of(bcast_from(0), other));
  path.keep(call_of(bcast_from(1), decision));
  path.keep(call_of(bcast_from(1, 9), decision));
  path.forget_program_of(*decision);
  EXPECT_EQ(path.find(bcast_from(1)), nullptr);
  EXPECT_EQ(path.find(bcast_from(1, 9)), nullptr);
  EXPECT_NE(path.find(bcast_from(0)), nullptr);
  EXPECT_EQ(decision.use_count(), 1);
}

TEST(FastPath, UsesTheMemoryOfProgramsAgain) {
  FastPath path;
  const auto decision = std::make_shared<Decision>();
  std::vector<std::size_t> memory;
  for (int round = 0; round < 3; ++round) {
    for (int root = 0; root < 20; ++root) {  // more than are kept
      RepeatedCall call = call_of(bcast_from(root));
      call.program = path.memory_for_program();
      call.program->refer_to(decision, Binding{}, ItemOperator{});
      path.keep(std::move(call));
    }
    memory.push_back(path.memory());
  }
  EXPECT_EQ(memory, std::vector<std::size_t>(3, memory.front()));
  path.forget();
  EXPECT_NE(path.memory_for_program(), nullptr);
  EXPECT_EQ(decision.use_count(), 1);
}

TEST(FastPath, ForgetsAll) {
  FastPath path;
  const auto decision = std::make_shared<Decision>();
  path.keep(call_of(bcast_from(0), decision));
  path.keep(call_of(bcast_from(1), decision));
  path.forget();
  EXPECT_EQ(path.find(bcast_from(0)), nullptr);
  EXPECT_EQ(path.find(bcast_from(1)), nullptr);
  EXPECT_EQ(decision.use_count(), 1);
}

}  // namespace
}  // namespace convene::runtime
