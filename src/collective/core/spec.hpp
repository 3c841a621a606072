// SPDX-License-Identifier: BSD-3-Clause
// Specs as text: "sparbit;send=packed" for one collective, and "allgather=sparbit;send=packed,
// allgatherv=ring" for several. The same syntax on the command line, in rules and in CONVENE_USE.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// "sparbit", "sparbit;send=packed", "bruck;ports=2": omitted parameters have their descriptor's default.
/// Parts of a composed algorithm are in brackets, "hier(sparbit,linear;leaders=2)": the last part given
/// stands for all that are omitted; a parameter after it that the composed algorithm has belongs to the
/// composed one. '-' is read as '_' in names. Throws Error.
Spec parse_spec(Collective collective, std::string_view text);

/// One parameter's value: a word of its list, or a whole number ("4KiB" is accepted) within its bounds.
/// Throws Error.
Value parse_parameter(const Algorithm& algorithm, const Parameter& parameter, std::string_view text);

/// A parameter's value as text: a word of its list, or the number.
std::string parameter_text(const Parameter& parameter, const Value& value);

/// The spec as text, with the parameters that differ from their defaults.
std::string spec_text(const Spec& spec);

/// The parts of a composed algorithm: the name of each, and its algorithm as text.
std::vector<std::pair<std::string_view, std::string>> part_texts(const Spec& spec);

struct Use {
  Collective collective;
  Spec spec;
};

/// "allgather=sparbit;send=packed,allgatherv=ring". Collectives are separated by commas or line ends. Throws
/// Error.
std::vector<Use> parse_uses(std::string_view text);

/// The collective of this name. Throws Error.
Collective parse_collective(std::string_view text);

}  // namespace convene::collective
