// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_expression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/linear_program.hpp"

namespace convene::model {
namespace {

const Size m{1, "m"};

std::string simple(const Expression& e, const Simplification& how = {}) { return to_text(simplify(e, how)); }

TEST(TauLop, LBetweenAndBeyondTheMeasuredNumbersOfTransfers) {
  TauLop parameters;
  parameters.transfer = {{1, Piecewise(1)}, {4, Piecewise(2.5)}};
  EXPECT_DOUBLE_EQ(parameters.L(8, 1), 1);
  EXPECT_DOUBLE_EQ(parameters.L(8, 2), 1.5);
  EXPECT_DOUBLE_EQ(parameters.L(8, 4), 2.5);
  EXPECT_DOUBLE_EQ(parameters.L(8, 7), 4);
  parameters.transfer.erase(4);
  EXPECT_DOUBLE_EQ(parameters.L(8, 7), 1);
}

TEST(Rational, IsExactAndRefusesWhatDoesNotFit) {
  EXPECT_EQ(Rational(6, -4), Rational(-3, 2));
  EXPECT_EQ(Rational(1, 3) + Rational(1, 6), Rational(1, 2));
  EXPECT_LT(Rational(1, 3), Rational(1, 2));
  EXPECT_THROW(Rational(INT64_MAX) * Rational(2), std::overflow_error);
  EXPECT_THROW(Rational(1, 0), std::overflow_error);
}

TEST(Expression, ConcurrencyMultipliesTauAndLeavesOverheadsAlone) {  // rule (a)
  EXPECT_EQ(simple(Expression::concurrent(2, o(0) + 2 * L(0, m, 1))), "o⁰(m) + 2L⁰(m, 2)");
  EXPECT_EQ(simple(Expression::concurrent(3, Expression::concurrent(2, L(0, m, 4)))), "L⁰(m, 24)");
}

TEST(Expression, TransmissionsStayWholeUntilTheyAreExpanded) {
  const Expression e = 2 * T(1) + T(0) + Expression::concurrent(2, T(0));
  EXPECT_EQ(to_text(e), "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)");
  EXPECT_EQ(simple(e), "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)");
  EXPECT_EQ(simple(3 * Expression::concurrent(2, T(0))), "3[2 ∥ T⁰(m)]");
  EXPECT_EQ(simple(expand(T(1))), "o¹(m) + 2L⁰(m, 1) + L¹(m, 1)");  // (3.3)
  EXPECT_EQ(simple(expand(T(0), {.memory = MemoryTransport::zero_copy})), "o⁰(m) + L⁰(m, 1)");
  EXPECT_EQ(simple(expand(T(0), {.memory = MemoryTransport::buffered})), "o⁰(m) + 3L⁰(m, 1)");
  EXPECT_EQ(simple(expand(T(1), {.network = NetworkTransport::rdma})), "o¹(m) + L¹(m, 1)");
  EXPECT_EQ(simple(expand(T(0), {.memory = MemoryTransport::segments})),
            "o⁰(m) + 2L⁰(S, 1) + (k − 1)L⁰(S, 2)");  // (3.2)
  EXPECT_EQ(simple(Expression::concurrent(2, expand(T(0), {.memory = MemoryTransport::segments}))),
            "o⁰(m) + 2L⁰(S, 2) + (k − 1)L⁰(S, 4)");  // section 3.5
  EXPECT_EQ(simple(Expression::concurrent(8, expand(T_sr(0), {.memory = MemoryTransport::segments}))),
            "o⁰(m) + 2kL⁰(S, 8)");  // (3.7)
}

TEST(Expression, LinearityTakesFactorsOutOfSizes) {  // rule (g)
  EXPECT_EQ(simple(L(0, {4, "m"}, 2) + L(0, {Rational(1, 2), "m"}, 2)), "9/2 L⁰(m, 2)");
  EXPECT_EQ(simple(L(0, {4, "m"}, 2), {.linear = false}), "L⁰(4m, 2)");
  EXPECT_EQ(simple(o(0, {4, "m"}) + o(0)), "o⁰(4m) + o⁰(m)");
  EXPECT_EQ(simple(o(0, {4, "m"}) + o(0), {.merge_overheads = true}), "2o⁰(m)");
}

TEST(Expression, MaximaLoseWhatOthersBound) {  // rule (f)
  EXPECT_EQ(simple(Expression::max({L(0, m, 3), L(0, m, 4)})), "L⁰(m, 4)");
  EXPECT_EQ(simple(Expression::max({L(0, m, 3), L(1, m, 1)})), "max{L⁰(m, 3), L¹(m, 1)}");
  EXPECT_EQ(simple(Expression::concurrent(2, Expression::max({L(0, m, 3), L(1, m, 1)}))),
            "max{L⁰(m, 6), L¹(m, 2)}");
  EXPECT_EQ(simple(3 * Expression::max({L(0, {2, "m"}, 3), L(1, {2, "m"}, 1)})), "6max{L⁰(m, 3), L¹(m, 1)}");
  EXPECT_EQ(simple(Expression::max({L(0, m, 3), L(1, m, 1)}), {.farther_dominates = true}), "L¹(m, 1)");
}

TEST(Expression, TextAndLatex) {
  const Expression e =
      15 * (Expression::max({L(0, m, 3), L(1, m, 1)}) + L(0, {Rational(3, 4), "m"}, 1)) + gamma({8, ""}, 2);
  EXPECT_EQ(to_text(e), "15[max{L⁰(m, 3), L¹(m, 1)} + L⁰(3m/4, 1)] + γ(8, 2)");
  EXPECT_EQ(to_text(e, {.latex = true}),
            "15\\,\\left[\\max\\{L^{0}(m, 3), L^{1}(m, 1)\\} + L^{0}(\\frac{3m}{4}, 1)\\right] + "
            "\\gamma_{op}(8, 2)");
  EXPECT_EQ(to_text(T(0) + Rational(-1) * Factor(2) * L(0, m, 4), {.channels = false}), "T(m) − 2L(m, 4)");
  EXPECT_EQ(to_text(Expression()), "0");
  EXPECT_EQ(simple(L(0, m, 2) + Expression::times(-1, L(0, m, 2))), "0");
}

ModelPlatform platform() {
  ModelPlatform result = ModelPlatform::two_channels();
  result.channels[0].add(TauLop{Piecewise(0.5), {{1, Piecewise::line(1, 0.5)}, {4, Piecewise::line(1, 1)}}});
  result.channels[1].add(TauLop{Piecewise(10), {{1, Piecewise::line(5, 2)}, {2, Piecewise::line(5, 4)}}});
  result.copy = {{1, Piecewise::line(0, 0.25)}};
  result.computation = ByTau{{1, Piecewise::line(0, 1)}, {3, Piecewise::line(0, 2)}};
  return result;
}

TEST(Expression, Values) {
  const ModelPlatform machine = platform();
  EXPECT_DOUBLE_EQ(evaluate(o(0) + 2 * L(0, m, 4) + c(m, 8), machine, 8), 0.5 + 2 * 9 + 2);
  EXPECT_DOUBLE_EQ(evaluate(Expression::concurrent(4, T(0)), machine, 8), 0.5 + 2 * 9);
  EXPECT_DOUBLE_EQ(evaluate(gamma(m, 2), machine, 8), 12);
  EXPECT_DOUBLE_EQ(evaluate(T(1), machine, 8), 10 + 2 * 5 + 21);
  EXPECT_DOUBLE_EQ(evaluate(Expression::max({L(0, m, 1), L(1, m, 2)}), machine, 8), 37);
  const TransportModel segments{.memory = MemoryTransport::segments};
  EXPECT_DOUBLE_EQ(evaluate(Expression::concurrent(2, T(0)), machine, 32, segments, 8),
                   0.5 + 2 * (1 + 8 * (0.5 + 0.5 / 3)) + 3 * 9);
  EXPECT_DOUBLE_EQ(evaluate(Expression::concurrent(2, T_sr(0)), machine, 32, segments, 8),
                   0.5 + 8 * (1 + 8 * (0.5 + 0.5 / 3)));
  EXPECT_DOUBLE_EQ(evaluate(Factor(-1, 1) * L(0, {1, "S"}, 1), machine, 32, segments, 8), 3 * 5);
  EXPECT_THROW(evaluate(L(7, m, 1), machine, 8), Error);
  EXPECT_THROW(evaluate(L(0, m, 1), ModelPlatform::two_channels(), 8), Error);
}

RC_GTEST_PROP(Expression, ExpandingAndSimplifyingKeepsTheValueOfALinearMachine, ()) {
  ModelPlatform machine = ModelPlatform::two_channels();
  for (ModelChannel& channel : machine.channels)
    channel.add(TauLop{Piecewise(0.5), {{1, Piecewise::line(0, 0.5)}, {4, Piecewise::line(0, 1)}}});
  const auto random_term = [] {
    const Size size{*rc::gen::inRange<std::int64_t>(1, 9), "m"};
    return *rc::gen::inRange(1, 4) * Expression::concurrent(*rc::gen::inRange<std::uint32_t>(1, 5),
                                                            T(*rc::gen::inRange(0, 2), size) + T_sr(0, size));
  };
  Expression e = random_term() + Expression::max({random_term(), random_term()});
  const double value = evaluate(e, machine, 16);
  RC_ASSERT(std::abs(evaluate(expand(e), machine, 16) - value) < 1e-9 * value);
  RC_ASSERT(std::abs(evaluate(simplify(expand(e)), machine, 16) - value) < 1e-9 * value);
}

TEST(Compare, TheBoundsOfL) {
  EXPECT_EQ(compare(L(0, m, 2), L(0, m, 4)), Comparison::at_most);
  EXPECT_EQ(compare(2 * L(0, m, 2), L(0, m, 4)), Comparison::at_least);
  EXPECT_EQ(compare(2 * L(0, m, 2), L(0, m, 5)),
            Comparison::undecided);  // only L(m, 5) ≤ 3L(m, 2) is known
  EXPECT_EQ(compare(3 * L(0, m, 2), L(0, m, 5)), Comparison::at_least);
  EXPECT_EQ(compare(L(0, {3, "m"}, 2), 3 * L(0, m, 2)), Comparison::equal);
  EXPECT_EQ(compare(L(0, m, 2), L(1, m, 2)), Comparison::undecided);
  EXPECT_EQ(compare(L(0, m, 2), L(1, m, 2), {.farther_is_slower = true}), Comparison::at_most);
  EXPECT_EQ(compare(o(0), o(0, {2, "m"})), Comparison::at_most);
  EXPECT_EQ(compare(2 * o(0), o(0, {2, "m"})), Comparison::undecided);
  EXPECT_EQ(compare(T(0), L(0, m, 1)), Comparison::undecided);
  EXPECT_EQ(compare(expand(T(0)), L(0, m, 1)), Comparison::at_least);
}

TEST(Compare, SumsAreComparedAsAWhole) {
  // Neither side bounds the other term by term.
  EXPECT_EQ(compare(L(0, m, 1) + L(0, m, 4), 2 * L(0, m, 2)), Comparison::undecided);
  EXPECT_EQ(compare(L(0, m, 2) + L(0, m, 4), L(0, m, 1) + L(0, m, 8)), Comparison::undecided);
  EXPECT_EQ(compare(3 * L(0, m, 1), L(0, m, 1) + L(0, m, 2)), Comparison::at_least);
  EXPECT_EQ(compare(Expression::max({L(0, m, 2), L(1, m, 1)}), L(0, m, 2) + L(1, m, 1)), Comparison::at_most);
  EXPECT_EQ(compare(L(1, m, 1), Expression::max({L(0, m, 2), L(1, m, 1)})), Comparison::at_most);
}

TEST(Compare, SegmentsOfMAreKTimesS) {
  const Size s{1, "S"};
  EXPECT_EQ(compare(Factor(0, 1) * L(0, s, 2), L(0, m, 2)), Comparison::equal);
  EXPECT_EQ(compare(Factor(-1, 1) * L(0, s, 2), L(0, m, 2)), Comparison::at_most);
  EXPECT_EQ(compare(Factor(3) * L(0, s, 2), Factor(0, 2) * L(0, s, 2)),
            Comparison::undecided);  // k = 1 or more
}

/// Values within the bounds: L(m, τ) = τ^e.
RC_GTEST_PROP(Compare, IsTrueOnMachinesWithinTheBounds, ()) {
  const auto random = [] {
    Expression e;
    for (int i = 0; i < 3; ++i)
      e = e + *rc::gen::inRange(1, 5) * L(0, m, *rc::gen::inRange<std::uint32_t>(1, 9));
    return e;
  };
  const Expression a = random(), b = random();
  const Comparison found = compare(a, b);
  for (double exponent : {0.0, 0.3, 0.5, 0.8, 1.0}) {
    TauLop L;
    for (std::uint32_t tau = 1; tau <= 8; ++tau) L.transfer[tau] = Piecewise(std::pow(tau, exponent));
    ModelPlatform machine = ModelPlatform::two_channels();
    machine.channels[0].add(L);
    const double x = evaluate(a, machine, 1), y = evaluate(b, machine, 1);
    RC_ASSERT(found != Comparison::at_most || x <= y + 1e-9);
    RC_ASSERT(found != Comparison::at_least || x >= y - 1e-9);
    RC_ASSERT(found != Comparison::equal || std::abs(x - y) < 1e-9);
  }
}

RC_GTEST_PROP(LinearProgram, NoPointOfTheConeIsLower, (const std::vector<std::uint8_t>& numbers)) {
  // Increasing variables, each at most twice the one before it.
  constexpr std::size_t n = 6;
  std::vector<HalfSpace> cone;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    cone.push_back({i, 1, i + 1, 1});
    cone.push_back({i + 1, 1, i, 2});
  }
  std::vector<double> weights(n, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) weights[i % n] += numbers[i] - 128.0;
  const double least = least_in_cone(weights, cone);
  double largest = 0, best = 0;
  for (double weight : weights) largest = std::max(largest, std::abs(weight));
  // The corners: each step doubles or keeps the value, and the last value is 1.
  for (unsigned corner = 0; corner < 1u << (n - 1); ++corner) {
    double x = 1, sum = 0;
    for (std::size_t i = n; i-- > 0;) {
      sum += weights[i] * x;
      if (i > 0 && corner >> (i - 1) & 1) x /= 2;
    }
    best = std::min(best, sum);
  }
  RC_ASSERT(std::abs(least * largest - best) < 1e-6 * (1 + largest));
}

}  // namespace
}  // namespace convene::model
