// SPDX-License-Identifier: BSD-3-Clause
// Golden results of small simulations, to the last bit. A faster simulator must keep them, and with them the
// order of simultaneous events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

/// Every rank sends a block to every other one; all receive in the order of ranks.
Plan all_to_all(Rank procs) {
  return make_plan(procs, procs, [&](Rank rank, Builder& builder) {
    for (Rank distance = 1; distance < procs; ++distance)
      builder.send((rank + distance) % procs, Range(Buffer::input, 0));
    for (Rank from = 0; from < procs; ++from)
      if (from != rank) builder.recv(from, Range(Buffer::output, from));
  });
}

struct Golden {
  const char* plan;
  std::uint32_t cores;
  bool scattered;
  double eager;
  double end_shared, sum_shared;  // equal share: the last exit and the sum of exits, seconds
  double end_fair, sum_fair;      // max-min fairness
};

std::pair<double, double> simulate(const Golden& golden, const SimulationOptions& mode) {
  constexpr Rank procs = 16;
  const std::string which = golden.plan;
  const Plan plan = which == "ring" ? ring(procs) : which == "doubling" ? doubling(procs) : all_to_all(procs);
  SimulatedPlatform platform = cluster(procs / golden.cores, golden.cores);
  platform.cpu = {.send = 2e-7, .recv = 3e-7, .copy = 1e-10};
  platform.eager = golden.eager;
  std::vector<double> arrivals(procs, 0);
  for (Rank rank = 0; golden.scattered && rank < procs; ++rank) arrivals[rank] = rank * 37 % 16 * 0x1p-20;
  const std::vector<double> exits = run_simulation(plan, platform, 1000, arrivals, mode).exits;
  double end = 0, sum = 0;
  for (const double exit : exits) {
    end = std::max(end, exit);
    sum += exit;
  }
  return {end, sum};
}

constexpr double always = 1e18;
constexpr Golden golden[] = {
    {"ring", 1, true, always, 0x1.25d1274p-14, 0x1.1738c534p-10, 0x1.25d1274p-14, 0x1.1738c534p-10},
    {"ring", 1, true, 500, 0x1.09edf8p-13, 0x1.0092e692p-9, 0x1.09edf8p-13, 0x1.0092e692p-9},
    {"ring", 4, true, always, 0x1.4282908p-15, 0x1.2f2c9d2p-11, 0x1.4282908p-15, 0x1.2f2c9d2p-11},
    {"ring", 4, true, 500, 0x1.dc8407p-15, 0x1.b8d5b5ep-11, 0x1.dc8407p-15, 0x1.b8d5b5ep-11},
    {"doubling", 1, false, always, 0x1.a36e2bp-16, 0x1.a36e2bp-12, 0x1.a36e2bp-16, 0x1.a36e2bp-12},
    {"doubling", 1, false, 500, 0x1.57eed18p-15, 0x1.57eed18p-11, 0x1.57eed18p-15, 0x1.57eed18p-11},
    {"doubling", 1, true, always, 0x1.7ad9a58p-15, 0x1.42d8d588p-11, 0x1.765f31p-15, 0x1.43ed934p-11},
    {"doubling", 1, true, 500, 0x1.f79b1fp-15, 0x1.be18d86p-11, 0x1.f79b1fp-15, 0x1.be75a96p-11},
    {"doubling", 4, false, always, 0x1.d0ba96p-15, 0x1.d0ba96p-11, 0x1.d0ba96p-15, 0x1.d0ba96p-11},
    {"doubling", 4, false, 500, 0x1.0b98b9p-14, 0x1.0b98b9p-10, 0x1.0b98b9p-14, 0x1.0b98b9p-10},
    {"doubling", 4, true, always, 0x1.180fa58p-14, 0x1.10fe2e7cp-10, 0x1.180fa58p-14, 0x1.113ebc94p-10},
    {"doubling", 4, true, 500, 0x1.3cd4c94p-14, 0x1.3589bf68p-10, 0x1.3cd4c98p-14, 0x1.3589bfacp-10},
    {"all_to_all", 1, false, always, 0x1.405dbbp-16, 0x1.405dbbp-12, 0x1.405dbbp-16, 0x1.405dbbp-12},
    {"all_to_all", 1, true, always, 0x1.0accf6p-15, 0x1.04b6de68p-11, 0x1.101ee68p-15, 0x1.0ad1deap-11},
    {"all_to_all", 4, false, always, 0x1.b5d42bp-15, 0x1.b20dcd4p-11, 0x1.b5d42bp-15, 0x1.b20dcd4p-11},
    {"all_to_all", 4, false, 500, 0x1.d7621ap-15, 0x1.d39bbc4p-11, 0x1.d7621ap-15, 0x1.d39bbc4p-11},
    {"all_to_all", 4, true, always, 0x1.bf9feb8p-15, 0x1.bd4dcdb8p-11, 0x1.c5eedb8p-15, 0x1.c298d9e8p-11},
    {"all_to_all", 4, true, 500, 0x1.ed167p-15, 0x1.e32428d8p-11, 0x1.eda78ep-15, 0x1.e55956dp-11},
};

TEST(SimulatorGolden, ResultsAreTheSameToTheLastBit) {
  for (const Golden& each : golden) {
    SCOPED_TRACE(testing::Message() << each.plan << ", " << each.cores << " cores, "
                                    << (each.scattered ? "scattered" : "together") << ", eager "
                                    << each.eager);
    EXPECT_EQ(simulate(each, fast), std::pair(each.end_shared, each.sum_shared));
    EXPECT_EQ(simulate(each, exact), std::pair(each.end_fair, each.sum_fair));
  }
}

}  // namespace
}  // namespace convene::simulate
