// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/logp/hockney.hpp"
#include "model/platform/model_plans_for_test.hpp"
#include "model/prediction/model_catalogue.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {
namespace {

using testing::ElementsAre;

ModelPlatform platform() {
  ModelPlatform result = ModelPlatform::two_channels();
  result.channels[0].add(TauLop{Piecewise(1), {{1, Piecewise::line(1, 0.5)}, {4, Piecewise::line(1, 2)}}});
  result.channels[1].add(TauLop{Piecewise(10), {{1, Piecewise::line(5, 2)}}});
  for (ModelChannel& channel : result.channels) channel.add(Hockney{.alpha = 4, .beta = 1});
  return result;
}

std::unique_ptr<PlanCost> predictor(const Plan& plan, const Mapping& mapping, const ModelPlatform& machine,
                                    std::string_view model, Rational place = 1, bool packed = false) {
  return prepare_prediction(
      find_model(model),
      {.plan = plan, .mapping = mapping, .platform = machine, .place = place, .packed = packed});
}

Mapping four_by_two() { return Mapping::sequential(Machine::parse("node:4 core:2"), 8); }

TEST(Prediction, KnowsWhichModelsAPlatformHas) {
  EXPECT_THAT(model_names(platform()), ElementsAre("hockney", "taulop"));
  EXPECT_THAT(model_names(), testing::IsSupersetOf({"hockney", "logp", "loggp", "lognp", "taulop"}));
}

TEST(Prediction, DescriptorsAreComplete) {
  for (const CostModel* model : cost_models()) {
    EXPECT_EQ(&find_model(model->name), model);
    EXPECT_FALSE(model->summary.empty() || model->source.empty() || model->message.empty()) << model->name;
    EXPECT_FALSE(model->covers(ModelChannel())) << model->name;
  }
}

TEST(Prediction, MessagesAreSegmentedByTheirOwnSize) {
  ModelPlatform machine = platform();
  machine.channels[0].get<TauLop>().transport = "segments";
  machine.channels[0].get<TauLop>().segment = 8;
  const Plan plan = recursive_doubling(4);
  const Mapping mapping = Mapping::sequential(Machine::parse("node:1 core:4"), 4);
  // The messages of both rounds fit in one segment: o + 2L(4, 4) + o + 2L(8, 4).
  EXPECT_DOUBLE_EQ(predictor(plan, mapping, machine, "taulop")->seconds(4), 1 + 2 * 9 + 1 + 2 * 17);
  // Those of the second round are two segments, which a rank sends and receives: o + 2L(8, 4) + o + 4L(8, 4).
  EXPECT_DOUBLE_EQ(predictor(plan, mapping, machine, "taulop")->seconds(8), 1 + 2 * 17 + 1 + 4 * 17);
}

TEST(Prediction, Seconds) {
  const ModelPlatform machine = platform();
  const Plan plan = recursive_doubling(4);
  const Mapping mapping = Mapping::sequential(Machine::parse("node:1 core:4"), 4);
  EXPECT_DOUBLE_EQ(predictor(plan, mapping, machine, "hockney")->seconds(8), 2 * 4 + 3 * 8);
  // o + 2L(8, 4) + o + 2L(16, 4)
  EXPECT_DOUBLE_EQ(predictor(plan, mapping, machine, "taulop")->seconds(8), 1 + 2 * 17 + 1 + 2 * 33);
  EXPECT_DOUBLE_EQ(predictor(plan, mapping, machine, "hockney", Rational(1, 4))->seconds(8), 2 * 4 + 3 * 2);
}

TEST(Prediction, ExchangesBetweenNodesHaveTheirOwnTransfers) {
  ModelPlatform machine = platform();
  const Plan plan = recursive_doubling(4);
  const Mapping mapping = Mapping::sequential(Machine::parse("node:4 core:1"), 4);
  const auto seconds = [&] { return predictor(plan, mapping, machine, "taulop")->seconds(8); };
  machine.channels[1].get<TauLop>().transport = "rdma";
  machine.channels[1].get<TauLop>().transfer = {{1, Piecewise::line(0, 2)}};
  EXPECT_DOUBLE_EQ(seconds(), 10 + 2 * 8 + 10 + 2 * 16);
  machine.channels[1].get<TauLop>().exchange = {{1, Piecewise::line(0, 3)}};
  EXPECT_DOUBLE_EQ(seconds(), 10 + 3 * 8 + 10 + 3 * 16);
}

TEST(Prediction, PackingComesBeforeAndBehind) {
  ModelPlatform machine = platform();
  const Plan plan = recursive_doubling(4);  // in place: the input is in the output
  const Mapping mapping = Mapping::sequential(Machine::parse("node:1 core:4"), 4);
  const auto packed = [&](std::string_view model) {
    return predictor(plan, mapping, machine, model, 1, true)->seconds(8);
  };
  EXPECT_THROW(packed("taulop"), Error);  // the platform has no packing cost
  EXPECT_THROW(packed("hockney"), Error);
  machine.packing = Piecewise::line(5, 2);
  EXPECT_DOUBLE_EQ(packed("taulop"), (5 + 2 * 8) + 1 + 2 * 17 + 1 + 2 * 33 + (5 + 2 * 24));
}

TEST(Prediction, LargeMessagesAreSegmentedWhereThePlatformSaysSo) {
  ModelPlatform machine = platform();
  machine.channels[0].get<TauLop>().transport = "segments";
  machine.channels[0].get<TauLop>().segment = 16;
  const Plan plan = binomial(2, false);
  const Mapping mapping = Mapping::sequential(Machine::parse("node:1 core:2"), 2);
  const auto cost = predictor(plan, mapping, machine, "taulop");
  const double L1 = 1 + 16 * 0.5, L2 = 1 + 16 * (0.5 + 1.5 / 3);
  EXPECT_DOUBLE_EQ(cost->seconds(16), 1 + 2 * L1);
  EXPECT_DOUBLE_EQ(cost->seconds(64), 1 + 2 * L1 + 3 * L2);
}

TEST(Prediction, RefusesWhatItDoesNotKnow) {
  const ModelPlatform machine = platform();
  const Plan plan = ring(8);
  const Mapping mapping = four_by_two();
  EXPECT_THROW(predictor(plan, mapping, machine, "hockey"), Error);
  EXPECT_THROW(predictor(plan, mapping, machine, "loggp"), Error);
  EXPECT_THROW(predictor(plan, mapping, ModelPlatform::two_channels(), "taulop"), Error);
}

TEST(HopBytes, RingCrossesEachBorderOnceARoundAndGoesBack) {
  // 7 rounds: three borders of one hop, and from the last node to the first, three.
  EXPECT_DOUBLE_EQ(hop_bytes(ring(8), four_by_two(), 10), 7 * 10 * (3 + 3));
  const Mapping one = Mapping::sequential(Machine::parse("node:1 core:8"), 8);
  EXPECT_DOUBLE_EQ(hop_bytes(ring(8), one, 10), 0);
  const Mapping cyclic = Mapping::cyclic(Machine::parse("node:4 core:2"), 8);
  EXPECT_DOUBLE_EQ(hop_bytes(ring(8), cyclic, 10), 7 * 10 * 2 * (3 + 3));
}

TEST(HopBytes, RecursiveDoublingInSequentialMapping) {
  // Distance 1 stays within nodes; distance 2 and 4 are 1 and 2 nodes, with 2 and 4 blocks.
  EXPECT_DOUBLE_EQ(hop_bytes(recursive_doubling(8), four_by_two(), 1), 8 * (2 * 1 + 4 * 2));
}

}  // namespace
}  // namespace convene::model
