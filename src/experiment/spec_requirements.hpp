// SPDX-License-Identifier: BSD-3-Clause
// Requirements of an algorithm: what it needs of the ranks that a request describes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collective/core/spec.hpp"
#include "experiment/experiment_names.hpp"

namespace convene::experiment {

/// The largest number of ranks of any request.
constexpr Rank most_procs = 1u << 20;

/// A spec in its shortest form; each option is a parameter that is appended to the text. Throws Error.
std::string complete_spec(const std::string& collective, const std::string& spec,
                          const std::vector<std::pair<std::string, std::string>>& options);

/// The nodes of the ranks if the algorithm depends on them, else none. `machine` and `placement` are empty if
/// unknown: then an algorithm in shared memory has all ranks on one node. Throws Error.
std::vector<Rank> nodes_of(const Algorithm& algorithm, Rank procs, const std::string& machine,
                           const std::string& placement);

/// The domains of the ranks within their nodes, if the algorithm depends on them and the machine has such
/// levels, else none. Throws Error.
std::vector<Domains> domains_of(const Spec& spec, Rank procs, const std::string& machine,
                                const std::string& placement);

/// Throws Error if there is no schedule of the algorithm (native), or the number of ranks is out of range.
/// `advice` ends the sentence about native.
void require_schedules(const Spec& spec, Rank procs, const std::string& advice);
/// Throws Error if the root is out of range.
void require_root(Rank root, Rank procs);
/// Throws Error if the call does not meet the algorithm's requirement.
void require_met(const Spec& spec, const Call& call);

/// The unmet requirement as a clause, such as "needs a power of two"; empty if met, or if it depends on
/// unknown nodes. Throws Error.
std::string unmet_by(const std::string& collective, const std::string& spec, Rank procs,
                     const std::string& machine, const std::string& placement, bool commutative);

}  // namespace convene::experiment
