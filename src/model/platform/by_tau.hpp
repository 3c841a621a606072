// SPDX-License-Identifier: BSD-3-Clause
// Functions of a size for several τ, the number of concurrent operations.
#pragma once

#include <cstdint>
#include <map>

#include "model/platform/piecewise.hpp"

namespace convene::model {

/// Durations as functions of the size, for the measured τ: the duration of an operation concurrent with τ − 1
/// others of its kind.
using ByTau = std::map<std::uint32_t, Piecewise>;

/// The value for any τ: linear between two τ of the table; beyond the last on the line through 1 and the
/// last, so that f(m, 1) ≤ f(m, τ) ≤ τ·f(m, 1) holds there if it holds in the table. 0 for an empty table.
double at(const ByTau& table, double bytes, std::uint32_t tau);

}  // namespace convene::model
