// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/spec_tree.hpp"

#include <algorithm>

namespace convene::collective {

std::string value_text(const Value& value) {
  std::string result = std::to_string(value[0]);
  for (std::size_t i = 1; i < value.size(); ++i) result += "x" + std::to_string(value[i]);
  return result;
}

bool operator==(const Spec& a, const Spec& b) {
  return a.algorithm == b.algorithm && a.parameters == b.parameters && a.parts == b.parts;
}

std::strong_ordering operator<=>(const Spec& a, const Spec& b) {
  if (a.algorithm != b.algorithm) return std::compare_three_way()(a.algorithm, b.algorithm);
  const auto by_parameters = a.parameters <=> b.parameters;
  return by_parameters != 0 ? by_parameters : a.parts <=> b.parts;
}

std::size_t hash(const Spec& spec) {
  std::size_t result = std::hash<const void*>()(spec.algorithm);
  const auto mix = [&](std::size_t more) {
    result ^= more + 0x9e3779b97f4a7c15u + (result << 6) + (result >> 2);
  };
  for (const Value& value : spec.parameters)
    for (std::size_t i = 0; i < value.size(); ++i) mix(std::hash<std::int64_t>()(value[i]));
  for (const Spec& part : spec.parts) mix(hash(part));
  return result;
}

std::size_t depth(const Spec& spec) {
  std::size_t most = 0;
  for (const Spec& part : spec.parts) most = std::max(most, depth(part));
  return spec.parts.empty() ? 0 : most + 1;
}

}  // namespace convene::collective
