// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/spec_tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "collective/core/spec.hpp"

namespace convene::collective {
namespace {

constexpr Value three_numbers = {4, 4, 8};
static_assert(three_numbers.size() == 3 && three_numbers[2] == 8);

TEST(Value, IsANumberOrAList) {
  EXPECT_EQ(Value(7), 7);
  EXPECT_EQ(Value(7).size(), 1u);
  EXPECT_EQ(static_cast<std::uint32_t>(Value(7)), 7u);
  EXPECT_EQ(Value(std::int64_t{1} << 40), std::int64_t{1} << 40);
  EXPECT_EQ(value_text(three_numbers), "4x4x8");
  EXPECT_NE(Value(4), (Value{4, 4}));
  EXPECT_LT(Value(3), Value(4));
  Value list(4);
  list.push_back(4);
  list.push_back(8);
  EXPECT_EQ(list, three_numbers);
}

TEST(Value, HasLimits) {
  Value list(1);
  for (std::size_t i = 1; i < Value::most; ++i) list.push_back(1);
  EXPECT_THROW(list.push_back(1), std::logic_error);
  Value small(1);
  EXPECT_THROW(small.push_back(std::int64_t{1} << 31), std::logic_error);
  EXPECT_EQ(small, 1);
}

/// Any spec of a collective, with nested compositions up to a depth.
Spec any_spec(Collective collective, int depth, bool is_part) {
  std::vector<const Algorithm*> known = catalogue(collective);
  std::erase_if(known, [&](const Algorithm* each) {
    return (each->is_composed() && depth == 0) || (is_part && !each->generate);
  });
  const Algorithm* algorithm = *rc::gen::elementOf(known);
  Spec spec{algorithm};
  for (const Parameter& parameter : algorithm->parameters) {
    const auto number = [&] {
      return parameter.words.empty()
                 ? *rc::gen::inRange(parameter.least, parameter.most + 1)
                 : *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(parameter.words.size()));
    };
    Value value(number());
    if (parameter.is_list)
      for (auto more = *rc::gen::inRange<std::size_t>(0, Value::most); more > 0; --more)
        value.push_back(number());
    spec.parameters.push_back(value);
  }
  if (algorithm->is_composed())
    for (const PartSlot& slot : algorithm->composition->parts)
      spec.parts.push_back(
          any_spec(slot.among == Among::all ? collective : slot.collective, depth - 1, true));
  return spec;
}

Collective any_collective() { return all_collectives[*rc::gen::inRange<std::size_t>(0, collectives_count)]; }

RC_GTEST_PROP(SpecTree, IsWrittenAndReadBack, ()) {
  const Collective collective = any_collective();
  const Spec spec = any_spec(collective, 3, false);
  RC_ASSERT(parse_spec(collective, spec_text(spec)) == spec);
}

TEST(SpecTree, NoParameterOfAPartHasTheNameOfACompositions) {
  for (const Collective collective : all_collectives)
    for (const Algorithm* composed : catalogue(collective)) {
      if (!composed->is_composed()) continue;
      for (const PartSlot& slot : composed->composition->parts)
        for (const Algorithm* part : catalogue(slot.among == Among::all ? collective : slot.collective)) {
          if (part->is_composed()) continue;  // brackets keep its parameters apart
          for (const Parameter& parameter : part->parameters)
            EXPECT_EQ(composed->find_parameter(parameter.name), -1)
                << composed->name << "(" << part->name << ";" << parameter.name << "=…)";
        }
    }
}

RC_GTEST_PROP(SpecTree, OrderAndHashAgreeWithEquality, ()) {
  const Collective collective = any_collective();
  std::vector<Spec> specs;
  for (int i = 0; i < 4; ++i) specs.push_back(any_spec(collective, 2, false));
  specs.push_back(specs.front());
  for (const Spec& a : specs)
    for (const Spec& b : specs) {
      RC_ASSERT((a == b) == (spec_text(a) == spec_text(b) && a.algorithm == b.algorithm));
      RC_ASSERT((a == b) == ((a <=> b) == 0));
      RC_ASSERT((a < b) == (b > a));
      RC_ASSERT(a != b || hash(a) == hash(b));
      for (const Spec& c : specs) RC_ASSERT(!(a < b && b < c) || a < c);
    }
  RC_ASSERT((std::set<Spec>(specs.begin(), specs.end()).size() ==
             std::unordered_set<Spec>(specs.begin(), specs.end()).size()));
}

TEST(SpecTree, PartsAreSpecs) {
  const Spec spec = parse_spec(Collective::allgather, "remap(hier(ring,linear,chain;segments=4;leaders=2))");
  EXPECT_EQ(depth(spec), 2u);
  ASSERT_EQ(spec.parts.size(), 1u);
  const Spec& hier = spec.parts.front();
  EXPECT_EQ(hier.algorithm->name, "hier");
  EXPECT_EQ(hier.parameters, (std::vector<Value>{2, 0}));
  ASSERT_EQ(hier.parts.size(), 3u);
  EXPECT_EQ(spec_text(hier.parts[2]), "chain;segments=4");
  EXPECT_EQ(hier.parts[0], parse_spec(Collective::allgather, "ring"));
  EXPECT_EQ(depth(hier.parts[0]), 0u);
}

TEST(SpecTree, DiffersWhereAPartDoes) {
  const auto spec = [](std::string_view text) { return parse_spec(Collective::allgather, text); };
  EXPECT_EQ(spec("hier"), default_spec(*spec("hier").algorithm));
  EXPECT_NE(spec("hier(ring,linear)"), spec("hier(sparbit,linear)"));
  EXPECT_NE(spec("hier(sparbit;send=packed,linear)"), spec("hier(sparbit,linear)"));
  EXPECT_NE(spec("hier(ring,linear;leaders=2)"), spec("hier(ring,linear)"));
  std::map<Spec, int> cache;
  cache[spec("remap(hier(ring,linear))")] = 1;
  cache[spec("remap(hier(ring,linear,chain))")] = 2;
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache[spec("remap(hier(ring,linear))")], 1);
}

std::string nested(int compositions) {
  std::string text = "ring";
  for (int i = 0; i < compositions; ++i) text = "remap(" + text + ")";
  return text;
}

TEST(SpecTree, IsNestedToALimit) {
  constexpr int most = 8;
  const Spec deepest = parse_spec(Collective::allgather, nested(most));
  EXPECT_EQ(depth(deepest), static_cast<std::size_t>(most));
  EXPECT_EQ(spec_text(deepest), nested(most));
  EXPECT_THROW(parse_spec(Collective::allgather, nested(most + 1)), Error);
}

TEST(SpecTree, ACallOfAComposedAlgorithmNamesItsParts) {
  const Spec spec = parse_spec(Collective::allgather, "hier");
  Call call{.procs = 4, .parameters = spec.parameters, .nodes = {0, 0, 1, 1}};
  EXPECT_THROW(static_cast<void>(unmet_requirement(*spec.algorithm, call)), std::logic_error);
  EXPECT_THROW(build_plan(*spec.algorithm, call), std::logic_error);
  call.parts = spec.parts;
  EXPECT_EQ(unmet_requirement(*spec.algorithm, call), "");
  EXPECT_EQ(build_plan(*spec.algorithm, call).size(), 4u);
}

}  // namespace
}  // namespace convene::collective
