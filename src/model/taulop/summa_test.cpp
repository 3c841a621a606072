// SPDX-License-Identifier: BSD-3-Clause
// SUMMA on the partitions of the τ-Lop thesis, figures A.6 to A.8.
#include "model/taulop/summa.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {
namespace {

using testing::HasSubstr;

const std::vector<PartitionColumn> config1{{149, {{4, 139}, {5, 117}}},
                                           {107, {{0, 81}, {1, 80}, {2, 58}, {3, 37}}}};
const std::vector<std::uint32_t> nodes1{0, 0, 0, 0, 1, 1};

const std::vector<PartitionColumn> config2{
    {124, {{1, 146}, {4, 110}}}, {97, {{0, 134}, {5, 122}}}, {35, {{3, 152}, {2, 104}}}};
const std::vector<PartitionColumn> config2_mod{
    {124, {{1, 146}, {4, 110}}}, {97, {{0, 134}, {5, 122}}}, {35, {{2, 104}, {3, 152}}}};
const std::vector<std::uint32_t> nodes2{0, 0, 0, 1, 1, 1};

TEST(Summa, Config1) {
  const SummaCost cost = summa(config1, nodes1);
  // (A.9) prints 3589 for 37·107 = 3959.
  EXPECT_EQ(to_text(cost.rows), "4 ∥ T¹(3959) + 3 ∥ T¹(2247) + 2 ∥ T¹(19787) + T¹(3385)");
  EXPECT_EQ(to_text(cost.columns), "3 ∥ T⁰(10752) + 2 ∥ T⁰(44032)");  // (A.16)
  EXPECT_EQ(to_text(cost.total),                                      // (A.17)
            "3 ∥ T⁰(10752) + 2 ∥ T⁰(44032) + 4 ∥ T¹(3959) + 3 ∥ T¹(2247) + 2 ∥ T¹(19787) + T¹(3385)");
}

TEST(Summa, Config2) {
  const SummaCost cost = summa(config2, nodes2);
  EXPECT_EQ(to_text(cost.rows), "2 ∥ T⁰(26800) + T⁰(3654) + 2 ∥ T¹(31428) + T¹(10962)");  // (A.21)
  EXPECT_EQ(to_text(cost.columns), "3 ∥ T¹(8960) + 2 ∥ T¹(15872) + T¹(6912)");            // (A.22)
  EXPECT_EQ(to_text(cost.total),                                                          // (A.23)
            "2 ∥ T⁰(26800) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(47300) + T¹(17874)");
}

TEST(Summa, Config2WithTwoProcessesExchanged) {
  const SummaCost cost = summa(config2_mod, nodes2);
  EXPECT_EQ(to_text(cost.rows), "2 ∥ T⁰(57064) + T⁰(3654) + 2 ∥ T¹(1164) + T¹(10962)");  // (A.32)
  EXPECT_EQ(to_text(cost.total),                                                         // (A.33)
            "2 ∥ T⁰(57064) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(17036) + T¹(17874)");
}

TEST(Summa, TheExchangePays) {  // (A.34)
  const auto transfers = [](const SummaCost& cost) {
    return simplify(expand(cost.total), {.drop_overheads = true});
  };
  const Expression before = transfers(summa(config2, nodes2)), after = transfers(summa(config2_mod, nodes2));
  EXPECT_EQ(compare(before, after, {.farther_is_slower = true}), Comparison::at_least);
}

TEST(Summa, APartitionOfOneColumnOnlyBroadcasts) {
  const SummaCost cost = summa({{6, {{0, 2}, {1, 2}, {2, 2}}}}, {0, 0, 0});
  EXPECT_TRUE(cost.rows.is_zero());
  EXPECT_EQ(to_text(cost.total), "T⁰(72)");  // two stages of one message of 6 blocks, six times
}

std::string refusal(const std::vector<PartitionColumn>& partition, const std::vector<std::uint32_t>& nodes) {
  try {
    summa(partition, nodes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Summa, BlocksHaveBytes) {
  EXPECT_EQ(to_text(summa({{6, {{0, 2}, {1, 2}, {2, 2}}}}, {0, 0, 0}, 100).total), "T⁰(7200)");
}

TEST(Summa, WhatIsWrongIsSaid) {
  EXPECT_THAT(refusal({{2, {{0, 1}, {1, 2}}}}, {0, 0}),
              HasSubstr("column 0 of the partition is 3 blocks high"));
  EXPECT_THAT(refusal({{2, {{0, 1}, {0, 1}}}}, {0}), HasSubstr("process 0 has two rectangles"));
  EXPECT_THAT(refusal({{2, {{0, 2}}}}, {0, 0}), HasSubstr("rectangles for 1 of 2 processes"));
  EXPECT_THAT(refusal({{2, {{3, 2}}}}, {0, 0}),
              HasSubstr("process 3 has a rectangle, but the layout has only 2"));
  EXPECT_THAT(refusal({{2, {{0, 2}, {1, 0}}}}, {0, 0}), HasSubstr("process 1 has no height"));
  const std::uint32_t many = 4'000'000'000;
  EXPECT_THAT(refusal({{many - 1, {{0, many}}}, {1, {{1, many / 2}, {2, many / 2}}}}, {0, 0, 0}),
              HasSubstr("exceed 2^63 bytes"));
}

}  // namespace
}  // namespace convene::model
