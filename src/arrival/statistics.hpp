// SPDX-License-Identifier: BSD-3-Clause
// What is said about one call: who came and left when, and how much of the waiting an algorithm made good. Times are
// doubles in any one unit, seconds or rounds; all vectors are by rank, of equal and not zero length. Throws
// std::invalid_argument where they are not, or where a time is not a finite number.
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

/// Whether ω/τ ≥ 1, τ > 0 the time that a message of the collective takes.
bool is_imbalanced(std::span<const double> arrivals, double message);

/// e_i = f_i − a_i.
std::vector<double> elapsed(std::span<const double> arrivals, std::span<const double> exits);
double mean_elapsed(std::span<const double> arrivals, std::span<const double> exits);

/// r = max f − min a.
double run_time(std::span<const double> arrivals, std::span<const double> exits);

/// max f − max a.
double last_arrival_to_last_exit(std::span<const double> arrivals, std::span<const double> exits);

/// A = r′ − r + ω: how much of the imbalance the algorithm absorbed, r′ its run time when all arrive at once. ω where the
/// lateness costs nothing, negative where it costs more than itself.
double absorption(double balanced_run_time, double run_time, double imbalance);

/// A / r′, and ω / r′: comparable between algorithms and sizes. r′ > 0.
double normalised_absorption(double balanced_run_time, double run_time, double imbalance);
double normalised_imbalance(double balanced_run_time, double imbalance);

/// Arrivals in whole rounds after the earliest, ⌊(a − min a)/round⌋, as algorithms take them: from equal nanoseconds all
/// ranks make equal ticks, and a pattern with ω/τ < 1 is all 0. `round` > 0. What is later than 2^31 − 1 rounds is that.
std::vector<std::int32_t> to_ticks(std::span<const Nanoseconds> arrivals, Nanoseconds round);

}  // namespace convene::arrival
