// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/describe.hpp"

#include <gtest/gtest.h>

#include "schedule/core/builder.hpp"

namespace convene::schedule {
namespace {

Schedule one_of_each() {
  Builder builder;
  builder.begin(4, 3);
  builder.buffer(Buffer::input, 2);
  builder.buffer(Buffer::output, 8);
  const Place like[] = {0, 1};
  const Buffer scratch = builder.scratch(like);
  builder.share(4);
  builder.round(1);
  builder.recv(2, {Range(Buffer::output, 4, 2)});
  builder.send(0, {Range(Buffer::input, 0), Range(scratch, 0, 2)});
  builder.copy(Range(Buffer::input, 1), Range(Buffer::output, 0));
  builder.combine(Range(Buffer::input, 0, 2), Range(Buffer::output, 6, 2));
  builder.join({Range(Buffer::output, 0), Range(Buffer::output, 6)});
  builder.send(1, Range(Buffer::shared, 1));
  builder.recv(1, Range(Buffer::shared, 2, 2));
  return builder.finish();
}

TEST(Describe, NumbersInOrderWithRunsShortened) {
  const auto text = [](std::vector<std::uint32_t> numbers) { return list(numbers); };
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({5}), "5");
  EXPECT_EQ(text({5, 6}), "5,6");
  EXPECT_EQ(text({5, 6, 7}), "5-7");
  EXPECT_EQ(text({0, 1, 2, 3, 6, 8}), "0-3,6,8");
  EXPECT_EQ(text({3, 2, 1}), "3,2,1");
}

TEST(Describe, NamesOfBuffersAndSteps) {
  EXPECT_EQ(name(Buffer::input), "input");
  EXPECT_EQ(name(Buffer::output), "output");
  EXPECT_EQ(name(Buffer::shared), "shared");
  EXPECT_EQ(name(scratch(0)), "scratch0");
  EXPECT_EQ(name(scratch(12)), "scratch12");
  const Schedule schedule = one_of_each();
  std::vector<std::string> names;
  for (const Step& step : schedule.steps()) names.emplace_back(name(step));
  EXPECT_EQ(names, (std::vector<std::string>{"recv", "send", "copy", "combine", "join", "signal", "await"}));
}

TEST(Describe, StepsAsClauses) {
  const Schedule schedule = one_of_each();
  const std::string expected[] = {
      "rank 3, step 0 (round 1, recv message 0 from rank 2 into output 4,5)",
      "rank 3, step 1 (round 1, send message 0 to rank 0 from input 0 + scratch0 0,1)",
      "rank 3, step 2 (round 1, copy input 1 to output 0)",
      "rank 3, step 3 (round 1, combine input 0,1 with output 6,7)",
      "rank 3, step 4 (round 1, join)",
      "rank 3, step 5 (round 1, signal to rank 1 about shared 1)",
      "rank 3, step 6 (round 1, await from rank 1 about shared 2,3)",
  };
  ASSERT_EQ(schedule.size(), std::size(expected));
  for (StepId id = 0; id < schedule.size(); ++id) EXPECT_EQ(describe(schedule, id), expected[id]);
}

TEST(Describe, RangesByBuffer) {
  const Schedule schedule = one_of_each();
  EXPECT_EQ(describe(schedule, std::span<const Range>{}), "nothing");
  const Range ranges[] = {Range(Buffer::output, 7, 3, 1), Range(Buffer::output, 5), Range(Buffer::input, 0)};
  EXPECT_EQ(describe(schedule, ranges), "output 7,0,1,5 + input 0");
  EXPECT_EQ(places(ranges), 5u);
}

}  // namespace
}  // namespace convene::schedule
