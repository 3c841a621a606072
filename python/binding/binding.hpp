// SPDX-License-Identifier: BSD-3-Clause
// Parts of the Python module. They convert types and nothing else: what is done stands in src/experiment and
// below. Requests are classes whose fields are keyword arguments; a platform is read once and passed as an
// object; results are dictionaries. An algorithm with its parameters is written as in rules,
// "sparbit;send=packed".
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "collective/core/spec.hpp"
#include "experiment/experiment_names.hpp"

namespace convene::binding {

using namespace experiment;

void add_arrivals(nanobind::module_& module);
void add_catalogue(nanobind::module_& module);
void add_requests(nanobind::module_& module);
void add_plans(nanobind::module_& module);
void add_models(nanobind::module_& module);

void add_wisdom(nanobind::module_& module);
void add_simulation(nanobind::module_& module);

/// A value as a word of the parameter's list, or as a number.
nanobind::object parameter_value(const Parameter& parameter, const Value& value);

/// {name: value} of all parameters.
nanobind::dict parameter_values(const Spec& spec);

inline nanobind::str str(std::string_view text) { return nanobind::str(text.data(), text.size()); }

}  // namespace convene::binding
