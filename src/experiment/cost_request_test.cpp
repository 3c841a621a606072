// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/cost_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "experiment/kernel_cost.hpp"
#include "model/prediction/platform_file.hpp"

namespace convene::experiment {
namespace {

/// Messages between nodes and within one: 10 µs and 1 µs, 1 and 0.1 ns a byte.
ModelPlatform hockney() {
  return parse_model_platform(R"({"name": "test", "model": {"time_unit": "us", "channels": [
    {"name": "memory", "within": "node", "hockney": {"alpha": 1, "beta": 0.0001}},
    {"name": "network", "hockney": {"alpha": 10, "beta": 0.001}}]}})",
                              "test.json");
}

ScheduleRequest placed(const char* collective, const char* spec, Rank procs, const char* machine) {
  return {
      .collective = collective, .spec = spec, .procs = procs, .machine = machine, .placement = "sequential"};
}

TEST(CostRequest, PredictsSecondsForEachSize) {
  const auto found = predict_seconds(placed("bcast", "binomial", 2, "node:2 core:1"), hockney(), "hockney",
                                     {0, 1000}, false);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_DOUBLE_EQ(found[0], 10e-6);
  EXPECT_DOUBLE_EQ(found[1], 11e-6);
  const auto within =
      predict_seconds(placed("bcast", "binomial", 2, "node:1 core:2"), hockney(), "hockney", {1000}, false);
  EXPECT_DOUBLE_EQ(within[0], 1.1e-6);
  EXPECT_THROW(
      predict_seconds(placed("bcast", "binomial", 2, "node:1 core:2"), hockney(), "nothing", {1}, false),
      Error);
}

TEST(CostRequest, BarriersCarryNothing) {
  const ScheduleRequest barrier = placed("barrier", "dissemination", 4, "node:4 core:1");
  const auto found = predict_seconds(barrier, hockney(), "hockney", {0, 1u << 20}, false);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(count_hop_bytes(barrier, {1000})[0], 0);
}

TEST(CostRequest, HopBytesAreBytesTimesDistance) {
  EXPECT_EQ(count_hop_bytes(placed("bcast", "linear", 3, "node:3 core:1"), {100})[0], 100 * (1 + 2));
}

TEST(CostRequest, CostsAreExpressionsAndTerms) {
  const ScheduleRequest request = placed("bcast", "binomial", 4, "node:1 core:4");
  const CostTexts texts = cost_texts(request, nullptr, {"copy_in_copy_out", "copies"}, false, false);
  EXPECT_FALSE(texts.stages.empty());
  EXPECT_NE(texts.sum.find("L"), std::string::npos) << texts.sum;
  auto terms = cost_terms(request, nullptr);
  ASSERT_EQ(terms.size(), 3u);
  std::ranges::sort(terms, {}, [](const CostTerm& term) { return std::pair(term.name, term.tau); });
  EXPECT_EQ(terms[0].name, "L");
  EXPECT_EQ(terms[0].factor, 2);
  EXPECT_EQ(terms[1].tau, 2u);
  EXPECT_EQ(terms[2].name, "o");
}

TEST(CostRequest, CostsCompareWithoutParameters) {
  const auto compare = [](const char* first, const char* second) {
    return compare_costs(placed("bcast", first, 8, "node:1 core:8"),
                         placed("bcast", second, 8, "node:1 core:8"), nullptr, {"copy_in_copy_out", "copies"},
                         false);
  };
  EXPECT_EQ(compare("binomial", "binomial"), "=");
  EXPECT_EQ(compare("linear", "linear"), "=");
  EXPECT_NE(compare("linear", "binomial"), "=");
}

TEST(KernelCost, SummaOfOneProcessHasNoTransfers) {
  const SummaRequest alone{{{4, {{0, 4}}}}, {0}};
  EXPECT_EQ(summa_texts(alone, 1, nullptr, false).total, "0");
  EXPECT_FALSE(summa_texts(alone, 1, nullptr, false).seconds);
  EXPECT_EQ(compare_summa(alone, alone, false), "=");
  const SummaRequest wrong{{{4, {{0, 3}}}}, {0}};
  EXPECT_THROW(summa_texts(wrong, 1, nullptr, false), Error);
}

TEST(KernelCost, SharedMemoryIsTextWithoutAPlatform) {
  const SharedMemoryRequest request{.name = "shared_bcast", .procs = 8, .degree = 2, .segments = 4};
  const SharedMemoryTexts found = shared_memory_texts(request, nullptr, false);
  EXPECT_NE(found.total.find("L"), std::string::npos);
  EXPECT_FALSE(found.seconds);
}

}  // namespace
}  // namespace convene::experiment
