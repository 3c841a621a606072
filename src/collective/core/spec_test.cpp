// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/spec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.hpp"

namespace convene::collective {
namespace {

constexpr Parameter example_parameters[] = {
    {.name = "ports", .summary = "", .fallback = 1, .least = 1, .most = 64},
    {.name = "send_how", .summary = "", .fallback = 0, .words = {"each", "packed_up"}}};

/// A test algorithm with known bounds and words.
Algorithm example() {
  Algorithm algorithm;
  algorithm.name = "example";
  algorithm.parameters = example_parameters;
  return algorithm;
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Spec, EveryAlgorithmIsFoundByItsName) {
  for (Collective collective : all_collectives)
    for (const Algorithm* algorithm : catalogue(collective)) {
      const Spec spec = parse_spec(collective, algorithm->name);
      EXPECT_EQ(spec.algorithm, algorithm);
      EXPECT_EQ(spec, default_spec(*algorithm));
      const std::string text = spec_text(spec);
      EXPECT_EQ(algorithm->is_composed() ? text.substr(0, text.find('(')) : text, algorithm->name);
    }
}

TEST(Spec, EverySampleIsWrittenAndReadBack) {
  for (Collective collective : all_collectives)
    for (const Algorithm* algorithm : catalogue(collective))
      for (const Spec& spec : sample_specs(*algorithm)) {
        const std::string text = spec_text(spec);
        EXPECT_EQ(parse_spec(collective, text), spec) << text;
      }
}

TEST(Spec, DashesStandForUnderscores) {
  const Spec spec = parse_spec(Collective::allgather, " recursive-doubling ");
  EXPECT_EQ(spec.algorithm->name, "recursive_doubling");
}

TEST(Spec, UnknownAlgorithmNamesTheNearest) {
  const std::string text = error_of([] { parse_spec(Collective::allgather, "sparbti"); });
  EXPECT_TRUE(text.starts_with("there is no allgather algorithm 'sparbti'; did you mean sparbit? Known: "))
      << text;
  EXPECT_TRUE(contains(error_of([] { parse_spec(Collective::allgather, ""); }), "algorithm ''"));
}

TEST(Spec, WholeNumbersHaveBounds) {
  const Algorithm algorithm = example();
  const Parameter& ports = algorithm.parameters[0];
  EXPECT_EQ(parse_parameter(algorithm, ports, "64"), 64);
  EXPECT_EQ(error_of([&] { parse_parameter(algorithm, ports, "65"); }),
            "ports of example must be a whole number from 1 to 64, not 65");
  EXPECT_EQ(error_of([&] { parse_parameter(algorithm, ports, "0"); }),
            "ports of example must be a whole number from 1 to 64, not 0");
  EXPECT_EQ(error_of([&] { parse_parameter(algorithm, ports, "two"); }),
            "ports of example must be a whole number from 1 to 64, not 'two'");
}

TEST(Spec, WordsComeFromAList) {
  const Algorithm algorithm = example();
  const Parameter& send = algorithm.parameters[1];
  EXPECT_EQ(parse_parameter(algorithm, send, "packed-up"), 1);
  EXPECT_EQ(error_of([&] { parse_parameter(algorithm, send, "eahc"); }),
            "send_how of example cannot be 'eahc'; did you mean each? Known: each, packed_up");
}

TEST(Spec, ANumberForEachRound) {
  const auto radices = [](std::string_view text) {
    return parse_spec(Collective::reduce, "radix_k;radix=" + std::string(text)).parameters[0];
  };
  EXPECT_EQ(radices("4x4x8"), (Value{4, 4, 8}));
  EXPECT_EQ(radices("2,1024"), (Value{2, 1024}));
  EXPECT_EQ(radices("3"), Value(3));
  const Spec spec = parse_spec(Collective::reduce, "radix_k;radix=1024x2x3x4x1023");
  EXPECT_EQ(spec_text(spec), "radix_k;radix=1024x2x3x4x1023");
  EXPECT_EQ(error_of([&] { radices("4x1"); }),
            "radix of radix_k must be a whole number from 2 to 1024, not 1");
  EXPECT_EQ(error_of([&] { radices("2x2x2x2x2x2"); }),
            "radix of radix_k must be a whole number from 2 to 1024, or up to 5 of them, as in 4x4x8, not "
            "'2x2x2x2x2x2'");
}

TEST(Spec, ParametersAreNamedOnce) {
  const auto error = [](std::string_view text) {
    return error_of([&] { parse_spec(Collective::allgather, text); });
  };
  EXPECT_TRUE(contains(error("sparbit;sned=packed"), "did you mean send?")) << error("sparbit;sned=packed");
  EXPECT_TRUE(contains(error("sparbit;packed"), "give NAME=VALUE"));
  EXPECT_TRUE(contains(error("sparbit;send=packed;send=packed"), "given twice"));
  EXPECT_TRUE(contains(error("native;send=packed"), "native has no parameters"));
  EXPECT_TRUE(contains(error("sparbit;"), "give NAME=VALUE"));
}

/// The text of a parsed spec.
std::string rewritten(Collective collective, std::string_view text) {
  const Spec spec = parse_spec(collective, text);
  return spec_text(spec);
}

TEST(Composition, PartsStandInBrackets) {
  EXPECT_EQ(rewritten(Collective::allgather, "hier(sparbit,linear;leaders=2)"),
            "hier(sparbit,linear;leaders=2)");
  EXPECT_EQ(rewritten(Collective::allgather, " hier( recursive-doubling , linear ) ; leaders = 2 "),
            "hier(recursive_doubling,linear;leaders=2)");
  EXPECT_EQ(rewritten(Collective::allgather, "hier"), "hier(sparbit,linear)");
  EXPECT_EQ(rewritten(Collective::allgather, "hier(sparbit;send=packed,linear,binary)"),
            "hier(sparbit;send=packed,linear,binary)");
  EXPECT_EQ(rewritten(Collective::bcast, "hier(binomial)"), "hier(binomial,binomial)");
  EXPECT_EQ(rewritten(Collective::bcast, "hier(binomial,chain;segments=4;leaders=2)"),
            "hier(binomial,chain;segments=4;leaders=2)");
  EXPECT_EQ(rewritten(Collective::alltoallv, "remap(linear;order=cyclic)"), "remap(linear;order=cyclic)");
  EXPECT_EQ(rewritten(Collective::alltoallv, "remap(bruck)"), "remap(bruck)");
  EXPECT_EQ(rewritten(Collective::allgather, "remap(hier(ring,linear;leaders=2);blocks=copied)"),
            "remap(hier(ring,linear;leaders=2);blocks=copied)");
}

TEST(Composition, ErrorsSayWhichPartIsWrong) {
  const auto error = [](std::string_view text, Collective collective = Collective::allgather) {
    return error_of([&] { parse_spec(collective, text); });
  };
  EXPECT_TRUE(contains(error("hier(sparbti,linear)"), "allgather algorithm 'sparbti'; did you mean sparbit"));
  EXPECT_TRUE(contains(error("hier(ring,ring)"), "there is no gather algorithm 'ring'"))
      << error("hier(ring,ring)");
  EXPECT_TRUE(contains(error("hier(ring,ring)"), "one by one: between, gather, bcast"));
  EXPECT_EQ(error("hier(ring,linear,linear,linear)"),
            "hier of allgather has 3 parts, between, gather, bcast; 'ring,linear,linear,linear' names 4");
  EXPECT_EQ(error("ring(linear)"), "ring is not composed of other algorithms: '(linear)' has no effect");
  EXPECT_EQ(error("hier(ring,native)"),
            "native cannot be a part of another algorithm: it has no schedule (name the parts of "
            "hier one by one: between, gather, bcast)");
  EXPECT_TRUE(contains(error("hier(ring,linear"), "brackets"));
  EXPECT_TRUE(contains(error("hier(ring,linear))"), "brackets"));
  EXPECT_TRUE(contains(error("hier(ring,linear)x"), "'x' follows the brackets"));
  EXPECT_TRUE(contains(error("hier(ring,linear;leaders=0)"), "leaders of hier must be"));
  EXPECT_TRUE(contains(error("hier(ring,linear;leaders=2);leaders=2"), "given twice"));
  EXPECT_TRUE(contains(error("hier(ring,linear;laeders=2)"), "linear has no parameters"))
      << error("hier(ring,linear;laeders=2)");
  EXPECT_TRUE(contains(error("remap(hier)", Collective::alltoallv), "no alltoallv algorithm 'hier'"));
}

TEST(Uses, CompositionsHoldCommas) {
  const auto uses = parse_uses("allgather=hier(sparbit,linear;leaders=2),bcast=binomial");
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].spec.algorithm->name, "hier");
  EXPECT_EQ(uses[1].spec.algorithm->name, "binomial");
}

TEST(Uses, SeveralCollectives) {
  const auto uses = parse_uses("allgather=sparbit;send=packed,\n allgatherv = ring\n");
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].collective, Collective::allgather);
  EXPECT_EQ(spec_text(uses[0].spec), "sparbit;send=packed");
  EXPECT_EQ(uses[1].collective, Collective::allgatherv);
  EXPECT_EQ(uses[1].spec.algorithm->name, "ring");
  EXPECT_TRUE(parse_uses("").empty());
  EXPECT_TRUE(parse_uses(" , \n").empty());
}

TEST(Uses, ErrorsSayHowToWriteIt) {
  const auto error = [](std::string_view text) { return error_of([&] { parse_uses(text); }); };
  EXPECT_EQ(error("sparbit"),
            "the collective is missing before 'sparbit'; give the collective first, as in "
            "allgather=sparbit");
  EXPECT_TRUE(contains(error("sparbit;send=packed"), "give the collective first"));
  EXPECT_EQ(error("allgather"), "the algorithm is missing for allgather; give it as in allgather=sparbit");
  EXPECT_TRUE(
      contains(error("allgahter=ring"), "there is no collective 'allgahter'; did you mean allgather"));
  EXPECT_TRUE(contains(error("allgather=ring,allgather=ring"), "given two algorithms"));
  EXPECT_TRUE(contains(error("allgather="), "there is no allgather algorithm ''"));
}

RC_GTEST_PROP(Uses, AnyTextIsUsesOrAnError, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::element<std::string>("allgather", "allgatherv", "=", ";", ",", "sparbit", "send", "packed",
                                    "bruck", "ports", "2", "(", ")", "hier", "linear", " ", "\n", "-"),
      rc::gen::arbitrary<std::string>()));
  std::string text;
  for (const std::string& word : words) text += word;
  try {
    for (const Use& use : parse_uses(text)) RC_ASSERT(use.spec.algorithm->serves(use.collective));
  } catch (const Error& error) {
    RC_ASSERT(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace
}  // namespace convene::collective
