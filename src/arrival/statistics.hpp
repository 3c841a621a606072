// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a call: imbalance, exit and run times, absorption. Times are in any one unit, seconds or
// rounds. Vectors are by rank, nonempty and of equal length. Throws std::invalid_argument if they are not, or
// if a time is not finite.
//
// Source: Proficz 2021, section 2, equations 1 to 4; Marendic et al. 2016, definitions 3.6, 3.8 and 3.9.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/durations.hpp"

namespace convene::arrival {

/// ω = max a − min a, the worst case imbalance time.
double imbalance(std::span<const double> arrivals);

/// ω/τ ≥ 1; τ > 0 is the duration of a message of the collective.
bool is_imbalanced(std::span<const double> arrivals, double message);

/// e_i = f_i − a_i.
std::vector<double> elapsed(std::span<const double> arrivals, std::span<const double> exits);
double mean_elapsed(std::span<const double> arrivals, std::span<const double> exits);

/// r = max f − min a.
double run_time(std::span<const double> arrivals, std::span<const double> exits);

/// max f − max a.
double last_arrival_to_last_exit(std::span<const double> arrivals, std::span<const double> exits);

/// A = r′ − r + ω: the imbalance that the algorithm absorbed; r′ is its run time without imbalance. A = ω if
/// the delays cost nothing; A is negative if they cost more than their length.
double absorption(double balanced_run_time, double run_time, double imbalance);

/// A / r′, and ω / r′: comparable between algorithms and sizes. r′ > 0.
double normalised_absorption(double balanced_run_time, double run_time, double imbalance);
double normalised_imbalance(double balanced_run_time, double imbalance);

/// Arrivals in whole rounds after the earliest, ⌊(a − min a)/round⌋, for generators: all ranks compute equal
/// ticks from equal nanoseconds, and a pattern with ω/τ < 1 is all 0. `round` > 0. At most 2^31 − 1 rounds.
std::vector<std::int32_t> to_ticks(std::span<const Nanoseconds> arrivals, Nanoseconds round);

}  // namespace convene::arrival
