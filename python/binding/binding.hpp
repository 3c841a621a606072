// SPDX-License-Identifier: BSD-3-Clause
// The module's parts. Everything crosses as text, numbers, lists and dictionaries: Python keeps no C++
// objects, and an algorithm with its parameters is written as in rules, "sparbit;send=packed".
#pragma once

#include <nanobind/nanobind.h>

#include <stop_token>
#include <string>
#include <string_view>

#include "collective/core/spec.hpp"

namespace convene::binding {

void add_arrivals(nanobind::module_& module);
void add_catalogue(nanobind::module_& module);
void add_requests(nanobind::module_& module);
void add_plans(nanobind::module_& module);
void add_models(nanobind::module_& module);

/// The plan of a request, and in how many places it cuts a block. `machine` and `placement` say where ranks
/// sit, both empty where nobody does. Throws Error where it cannot be.
struct BuiltPlan {
  Plan plan;
  std::uint32_t segments;
};
BuiltPlan build(const std::string& collective, const std::string& spec, Rank procs, Rank root,
                const std::string& machine, const std::string& placement);

/// The nodes of ranks for a call, where the algorithm looks at them; else none.
std::vector<Rank> nodes_of(const Algorithm& algorithm, Rank procs, const std::string& machine,
                           const std::string& placement);
/// What schedules take: memory for their steps, and seconds to build them.
struct Extent {
  std::uint64_t steps = 0;
  double seconds = 0;

  /// Why that is too much for plans of so many steps; empty where it is not. `doing`: what would be done,
  /// such as "simulating ring on 4 processes".
  std::string refusal(const std::string& doing, std::uint64_t most_steps) const;
};
/// One rank's. `work`: where there is one, it is shared with other calls.
Extent extent_of(const Algorithm& algorithm, Call call, Rank rank, Builder& builder,
                 SharedWork* work = nullptr);
/// About that of all ranks together: by the schedules of a few of them or, where there will be far more steps
/// than so many, by those for few ranks. The seconds are measured, so they differ from time to time. Where it
/// is asked to stop, what it has come to.
Extent expected_extent(const Algorithm& algorithm, const Call& call, std::uint64_t most_steps,
                       const std::stop_token& stop = {}, SharedWork* work = nullptr);

/// Throws Error where an algorithm's requirement does not hold for a call.
void require_met(const Spec& spec, const Call& call);
void add_simulation(nanobind::module_& module);

/// A value as a word of the parameter's list, or as a number.
nanobind::object parameter_value(const Parameter& parameter, const Value& value);

/// {name: value} of all parameters.
nanobind::dict parameter_values(const Spec& spec);

inline nanobind::str str(std::string_view text) { return nanobind::str(text.data(), text.size()); }

}  // namespace convene::binding
