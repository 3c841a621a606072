// SPDX-License-Identifier: BSD-3-Clause
// Reordered calls: an algorithm on ranks with new numbers, for compositions of one part.
#pragma once

#include <string>

#include "collective/core/composition.hpp"

namespace convene::collective {

/// Adds this rank's steps of the call's part on the ranks by their new numbers; with a root, the root's
/// number is the one that it has there. Blocks stay in their places, or are `copied`: sent between buffers in
/// the new order.
void run_reordered(const Call& call, const Ranks& ranks, bool copied, Builder& builder);

/// The requirement of the part, or of a new order, that a call does not meet: a clause, or empty.
std::string unmet_by_reordered(const Call& call);

/// Composition::pieces: the order does not change it.
std::uint32_t pieces_of_reordered(const Algorithm& algorithm, const Call& call);

/// Call of the part, without a rank, a root and arrivals.
Call reordered_call(const Call& call);

}  // namespace convene::collective
