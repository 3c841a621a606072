// SPDX-License-Identifier: BSD-3-Clause
// Expressions of the τ-Lop thesis, derived from plans and mappings.
#include "model/taulop/taulop_derivation.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/platform/model_plans_for_test.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {
namespace {

const ModelPlatform machine = ModelPlatform::two_channels();
constexpr TransportModel segments{.memory = MemoryTransport::segments};
constexpr TransportModel long_segments{.memory = MemoryTransport::long_segments};

Mapping sequential(Rank nodes, Rank cores) {
  return Mapping::sequential(
      Machine::parse("node:" + std::to_string(nodes) + " core:" + std::to_string(cores)), nodes * cores);
}
Mapping round_robin(Rank nodes, Rank cores) {
  return Mapping::cyclic(Machine::parse("node:" + std::to_string(nodes) + " core:" + std::to_string(cores)),
                         nodes * cores);
}

Expression derived(const Plan& plan, const Mapping& mapping, const Derivation& how = {}) {
  return derive(plan, mapping, machine.channels, how);
}

/// Chapter 4: all ranks in one node's memory; overheads of all sizes are one.
std::string one_channel(const Plan& plan, const Derivation& how = {}) {
  const Expression e = derived(plan, sequential(1, static_cast<Rank>(plan.size())), how);
  return to_text(simplify(expand(e, how.transport), {.merge_overheads = true}), {.channels = false});
}

std::string two_channels(const Plan& plan, const Mapping& mapping, const Simplification& how,
                         const TransportModel& transport = {}) {
  return to_text(simplify(expand(derived(plan, mapping, {.transport = transport}), transport), how));
}

TEST(TauLopDerived, BinomialBroadcastOnFourNodes) {  // (5.7)
  const Expression e = derived(binomial(16, false), sequential(4, 4));
  EXPECT_EQ(to_text(e), "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)");
  EXPECT_EQ(to_text(e, {.latex = true}), "2\\,T^{1}(m) + T^{0}(m) + 2 \\parallel T^{0}(m)");
}

TEST(TauLopDerived, RecursiveDoublingOnFourNodes) {  // (5.17) and after
  EXPECT_EQ(to_text(derived(recursive_doubling(16), sequential(4, 4))),
            "4 ∥ T_sr⁰(m) + 4 ∥ T_sr⁰(2m) + 4 ∥ T_sr¹(4m) + 4 ∥ T_sr¹(8m)");
  EXPECT_EQ(two_channels(recursive_doubling(16), sequential(4, 4), {.merge_overheads = true}),
            "2o⁰(m) + 2o¹(m) + 30L⁰(m, 4) + 12L¹(m, 4)");
  // Section 5.2.3 for P = 32.
  EXPECT_EQ(two_channels(recursive_doubling(32), sequential(4, 8), {.drop_overheads = true}),
            "62L⁰(m, 8) + 24L¹(m, 8)");
}

TEST(TauLopDerived, RingInSequentialMapping) {  // (5.11)
  EXPECT_EQ(to_text(derived(ring(16), sequential(4, 4))),
            "15[max{o⁰(m), o¹(m)} + L⁰(m, 4) + max{L⁰(m, 3), L¹(m, 1)} + L⁰(m, 1)]");
  EXPECT_EQ(two_channels(ring(16), sequential(4, 4), {.drop_overheads = true, .farther_dominates = true}),
            "15L⁰(m, 4) + 15L¹(m, 1) + 15L⁰(m, 1)");
}

TEST(TauLopDerived, RingInSequentialMappingSegmented) {
  // (5.12) counts Q processes; Q − 1 of a node's messages stay in it. Its second line should have 2L⁰(m,
  // 1) + L¹(m, 1).
  EXPECT_EQ(two_channels(ring(16), sequential(4, 4), {.drop_overheads = true}, segments),
            "30kL⁰(S, 3) + 30L⁰(m, 1) + 15L¹(m, 1)");
}

TEST(TauLopDerived, RingInRoundRobinMapping) {  // (6.10)
  EXPECT_EQ(two_channels(ring(16), round_robin(4, 4), {.drop_overheads = true}), "30L⁰(m, 4) + 15L¹(m, 4)");
}

TEST(TauLopDerived, RoundRobinCostsTheRingNoLessThanSequential) {  // section 6.2
  const Simplification how{.drop_overheads = true, .farther_dominates = true};
  for (Rank nodes : {2u, 4u, 8u})
    for (Rank cores : {2u, 4u, 8u}) {
      const Plan plan = ring(nodes * cores);
      const Expression rr = simplify(expand(derived(plan, round_robin(nodes, cores))), how);
      const Expression seq = simplify(expand(derived(plan, sequential(nodes, cores))), how);
      EXPECT_EQ(compare(rr, seq), Comparison::at_least) << nodes << " × " << cores;
    }
  const Plan plan = ring(16);
  const Expression rr = simplify(expand(derived(plan, round_robin(4, 4))), how);
  const Expression seq = simplify(expand(derived(plan, sequential(4, 4))), how);
  EXPECT_EQ(to_text(simplify(rr + Expression::times(-1, seq))),
            "15L⁰(m, 4) + 15L¹(m, 4) − 15L¹(m, 1) − 15L⁰(m, 1)");
}

TEST(TauLopDerived, BinomialBroadcastInOneChannel) {
  EXPECT_EQ(one_channel(binomial(8, false)), "3o(m) + 2L(m, 1) + 2L(m, 2) + 2L(m, 4)");  // (4.2)
  EXPECT_EQ(one_channel(binomial(8, false), {.transport = segments}),
            "3o(m) + 2L(S, 1) + (k + 1)L(S, 2) + (k + 1)L(S, 4) + (k − 1)L(S, 8)");  // (4.3)
  EXPECT_EQ(one_channel(binomial(8, false), {.transport = long_segments}),
            "3o(m) + kL(S, 2) + kL(S, 4) + kL(S, 8)");  // (4.4)
}

TEST(TauLopDerived, BinomialBroadcastWithOneRankInTheLastRound) {  // after (4.6), P = 65
  EXPECT_EQ(one_channel(binomial(65, false)),
            "7o(m) + 4L(m, 1) + 2L(m, 2) + 2L(m, 4) + 2L(m, 8) + 2L(m, 16) + 2L(m, 32)");
}

TEST(TauLopDerived, RecursiveDoublingInOneChannel) {
  EXPECT_EQ(one_channel(recursive_doubling(8)), "3o(m) + 14L(m, 8)");                            // (4.8)
  EXPECT_EQ(one_channel(recursive_doubling(8), {.transport = segments}), "3o(m) + 14kL(S, 8)");  // (4.9)
}

TEST(TauLopDerived, RingInOneChannel) {
  EXPECT_EQ(one_channel(ring(8, true)), "c(m, 8) + 7o(m) + 14L(m, 8)");                            // (4.14)
  EXPECT_EQ(one_channel(ring(8, true), {.transport = segments}), "c(m, 8) + 7o(m) + 14kL(S, 8)");  // (4.15)
}

TEST(TauLopDerived, BinomialScatterInOneChannel) {  // m is the data that all ranks get together
  const Rational block(1, 8);
  EXPECT_EQ(one_channel(binomial(8, true), {.place = block}),
            "3o(m) + L(m, 1) + 1/2 L(m, 2) + 1/4 L(m, 4)");  // (4.19), (4.21)
  EXPECT_EQ(one_channel(binomial(8, true), {.transport = long_segments, .place = block}),
            "3o(m) + k/2 L(S, 2) + k/4 L(S, 4) + k/8 L(S, 8)");  // (4.20), (4.22)
}

TEST(TauLopDerived, NeighborExchangeInOneChannel) {
  EXPECT_EQ(one_channel(neighbor_exchange(8)), "4o(m) + 14L(m, 8)");                            // (4.26)
  EXPECT_EQ(one_channel(neighbor_exchange(8), {.transport = segments}), "4o(m) + 14kL(S, 8)");  // (4.27)
}

TEST(TauLopDerived,
     BruckInOneChannel) {  // (4.36), (4.37), without the copies that a schedule over slots saves
  EXPECT_EQ(one_channel(bruck(8, 1)), "3o(m) + 14L(m, 8)");
  EXPECT_EQ(one_channel(bruck(8, 1), {.transport = segments}), "3o(m) + 14kL(S, 8)");
  EXPECT_EQ(one_channel(bruck(6, 1)), "3o(m) + 10L(m, 6)");
}

TEST(TauLopDerived, SeveralPortsGoOneAfterTheOther) {
  EXPECT_EQ(to_text(derived(bruck(9, 2), sequential(1, 9))), "2[9 ∥ T_sr⁰(m)] + 2[9 ∥ T_sr⁰(3m)]");
  EXPECT_EQ(to_text(derived(linear(5, true), sequential(1, 5))), "4T⁰(m)");
  EXPECT_EQ(to_text(derived(linear(5, false), sequential(1, 5))), "4T⁰(m)");
}

TEST(TauLopDerived, PairwiseAlltoallInOneChannel) {  // m is the data that one rank sends to all
  const Rational block(1, 8);
  EXPECT_EQ(one_channel(pairwise(8), {.place = block}), "1/8 c(m, 8) + 7o(m) + 7/4 L(m, 8)");  // (4.41)
  EXPECT_EQ(one_channel(pairwise(8), {.transport = segments, .place = block}),
            "1/8 c(m, 8) + 7o(m) + 7k/4 L(S, 8)");  // (4.42)
}

TEST(TauLopDerived, ForAllP) {
  for (Rank p = 2; p <= 64; ++p) {
    const std::string rounds = std::to_string(p - 1), P = std::to_string(p);
    EXPECT_EQ(to_text(derived(ring(p), sequential(1, p))),
              (p == 2 ? "" : rounds) + (p == 2 ? "2 ∥ T_sr⁰(m)" : "[" + P + " ∥ T_sr⁰(m)]"));
    const Expression bruck_cost =
        simplify(expand(derived(bruck(p, 1), sequential(1, p))), {.drop_overheads = true});
    EXPECT_EQ(bruck_cost, (Factor(2 * (static_cast<int>(p) - 1)) * L(0, {}, p))) << p;
  }
}

TEST(TauLopDerived, RecursiveDoublingCostsTwiceABinomialScatter) {  // (6.4)
  const Simplification how{.drop_overheads = true};
  for (Rank p = 2; p <= 64; p *= 2) {
    const Derivation part{.transport = long_segments, .place = Rational(1, p)};
    const Expression allgather =
        simplify(expand(derived(recursive_doubling(p), sequential(1, p), part), long_segments), how);
    const Expression scatter =
        simplify(expand(derived(binomial(p, true), sequential(1, p), part), long_segments), how);
    EXPECT_EQ(compare(allgather, 2 * scatter), p == 2 ? Comparison::equal : Comparison::at_least) << p;
    // Without contention it is twice as much, in a serial channel 2(P − 1)/log P times: three for P = 4, then
    // more.
    EXPECT_EQ(compare(allgather, 3 * scatter), p <= 4 ? Comparison::at_most : Comparison::undecided) << p;
  }
}

TEST(TauLopDerived, TransfersOfDifferentSizesContendAsLongAsTheShorterLasts) {  // (A.2), (A.20)
  EXPECT_EQ(to_text(concurrent_transfers(1, {{280, ""}, {208, ""}})), "L¹(208, 2) + L¹(72, 1)");
  const auto sizes = MessageSizes::by_place({100, 40, 40, 40});
  const Expression e = derive(ring(4), sequential(1, 4), machine.channels, {}, sizes);
  // In each round one message has 100 bytes and three have 40.
  EXPECT_EQ(to_text(e), "3[o⁰(100) + L⁰(40, 4) + L⁰(60, 1) + L⁰(40, 4) + L⁰(60, 1)]");
}

TEST(TauLopDerived, TheWorstNodeCounts) {
  // Three ranks in node 0 and one in node 1: linear scatter from rank 0.
  const std::vector<std::uint32_t> nodes{0, 0, 0, 1};
  const Mapping mapping = Mapping::on_nodes(Machine::parse("node:2 core:3"), nodes);
  EXPECT_EQ(to_text(derived(linear(4, false), mapping)), "2T⁰(m) + T¹(m)");
  // Two nodes of different load. Rounds 0 and 2 stay within them, (2 + 4)L⁰(m, 4) for the larger one; in
  // round 1 two messages of 2m leave each node, and two stay in the larger.
  const std::vector<std::uint32_t> uneven{0, 0, 0, 0, 1, 1};
  const Mapping two = Mapping::on_nodes(Machine::parse("node:2 core:4"), uneven);
  EXPECT_EQ(to_text(simplify(expand(derived(neighbor_exchange(6), two)), {.drop_overheads = true})),
            "8L⁰(m, 4) + 2max{L⁰(m, 2), L¹(m, 2)} + 2L⁰(m, 2)");
}

TEST(TauLopDerived, MessagesWithoutBytesCostTheirSynchronisation) {
  const Derivation nothing{.place = 0};
  const Expression e = derived(recursive_doubling(8), sequential(1, 8), nothing);
  EXPECT_EQ(to_text(e), "3[8 ∥ T_sr⁰(0)]");
  EXPECT_EQ(to_text(simplify(expand(e))), "3o⁰(0) + 6L⁰(0, 8)");
  const Expression fewer = derived(recursive_doubling(4), sequential(1, 4), nothing);
  EXPECT_EQ(compare(expand(e), expand(fewer)), Comparison::at_least);
}

TEST(TauLopDerived, ASmallerTransferElsewhereDoesNotShow) {
  // In the second round of a scatter to 7 ranks, two blocks go to one node and one to another.
  EXPECT_EQ(to_text(derived(binomial(7, true), sequential(7, 1))), "T¹(3m) + T¹(2m) + T¹(m)");
}

TEST(TauLopDerived, RanksThatSendToEachOtherExchange) {
  const ModelPlatform plain = ModelPlatform::two_channels();
  ModelPlatform with = plain;
  with.channels[1].add(TauLop{.transfer = {{1, Piecewise(1)}}, .exchange = {{1, Piecewise(2)}}});
  const auto sum = [](const Plan& plan, Rank nodes, Rank each, const ModelPlatform& platform) {
    const Expression e = derive(plan, sequential(nodes, each), platform.channels);
    return to_text(simplify(expand(e), {.drop_overheads = true}));
  };
  // The first round stays within the nodes; in the second both ranks of a node exchange with the other's.
  EXPECT_EQ(sum(recursive_doubling(4), 2, 2, plain), "6L⁰(m, 2) + 2L¹(m, 2)");
  EXPECT_EQ(sum(recursive_doubling(4), 2, 2, with), "6L⁰(m, 2) + 2L_sr¹(m, 2)");
  // A ring of more than two sends to one and receives from another.
  EXPECT_EQ(sum(ring(4), 4, 1, with), sum(ring(4), 4, 1, plain));
  EXPECT_EQ(sum(ring(2), 2, 1, with), "2L⁰(m, 1) + L_sr¹(m, 1)");
  EXPECT_EQ(to_text(L(1, {}, 2, TransferKind::exchange), {.latex = true}), "L_{sr}^{1}(m, 2)");
  // Neither bounds the other.
  EXPECT_EQ(compare(L(1, {}, 1), L(1, {}, 1, TransferKind::exchange)), Comparison::undecided);
  EXPECT_EQ(compare(L(1, {}, 1, TransferKind::exchange), L(1, {}, 2, TransferKind::exchange)),
            Comparison::at_most);
}

TEST(TauLopDerived, WhatGoesThroughSharedPlacesHasItsOwnTransfers) {
  ModelPlatform with = ModelPlatform::two_channels();
  with.channels[0].add(TauLop{.transfer = {{1, Piecewise(1)}}, .shared = {{1, Piecewise(2)}}});
  EXPECT_EQ(to_text(L(0, {}, 2, TransferKind::shared)), "L_c⁰(m, 2)");
  EXPECT_DOUBLE_EQ(evaluate(L(0, {}, 1, TransferKind::shared), with, 8), 2);
  with.channels[0].get<TauLop>().shared.clear();
  EXPECT_DOUBLE_EQ(evaluate(L(0, {}, 1, TransferKind::shared), with, 8), 1);
}

TEST(TauLopDerived, WhatIsNotInOnePieceIsPackedAndUnpacked) {  // section 3.4: Θ(m) = 2p(m) + T(m)
  const Derivation packed{.packed = true};
  const Expression e = derived(ring(4, true), sequential(1, 4), packed);
  EXPECT_EQ(to_text(e), "p(m) + c(m, 4) + 3[4 ∥ T_sr⁰(m)] + p(4m)");
  EXPECT_EQ(to_text(simplify(3 * e, {.drop_overheads = true})),
            "3p(m) + 3c(m, 4) + 3p(4m) + 9[4 ∥ T_sr⁰(m)]");
  EXPECT_EQ(to_text(simplify(e, {.drop_copies = true})), "3[4 ∥ T_sr⁰(m)]");
  // In place the own block is in the output already, and is not unpacked.
  EXPECT_EQ(to_text(derived(ring(4), sequential(1, 4), packed)), "p(m) + 3[4 ∥ T_sr⁰(m)] + p(3m)");
  // Packing more does not cost less; but the cost is not linear.
  EXPECT_EQ(compare(p({1, "m"}), p({2, "m"})), Comparison::at_most);
  EXPECT_EQ(compare(2 * p({1, "m"}), p({2, "m"})), Comparison::undecided);
}

TEST(TauLopDerived, SaysWhatDoesNotFit) {
  EXPECT_THROW(derived(ring(4), sequential(1, 5)), Error);
  EXPECT_THROW(derive(ring(4), sequential(1, 4), machine.channels, {}, MessageSizes::uniform(0.5)), Error);
}

}  // namespace
}  // namespace convene::model
