// SPDX-License-Identifier: BSD-3-Clause
// Candidates of a trial: the few algorithms that a simple model expects to be the fastest in a context.
//
// The prior only selects what is tried. It never chooses against native: measurements do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "decide/rules.hpp"
#include "model/platform/model_platform.hpp"

namespace convene::decide {

/// Whether trials consider calls of a collective: all ranks know its size.
bool is_tried(Collective collective);

/// At most `most` algorithms that can run in a context whose nodes are known, best first: shared memory
/// where it is possible, then by LogGP with built-in parameters for memory and network. Equal on all ranks.
/// Takes up to a few milliseconds.
std::vector<Spec> trial_candidates(const CallContext& context, std::size_t most);

/// LogGP parameters that are typical of shared memory, and of a fast network.
ModelPlatform built_in_platform();

/// Nanoseconds that determining the candidates takes, typically: the ranks agree on nodes and machine and
/// create an internal communicator, and the model evaluates the algorithms.
inline constexpr std::int64_t list_nanoseconds = 3'000'000;
/// Nanoseconds that the first call of an algorithm takes beyond later ones, typically: shared memory is
/// created, a schedule is built. Equal on all ranks.
std::int64_t set_up_nanoseconds(const Spec& spec);

/// A number for a list of candidates: equal lists have equal numbers.
std::int64_t identity_of(const std::vector<Spec>& specs);

}  // namespace convene::decide
