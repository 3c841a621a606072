// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/declared_phase.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.hpp"

namespace convene::arrival {

std::optional<double> DeclaredPhase::begin(double now) {
  if (is_open()) throw Error("convene_phase_begin: a phase is already open; call convene_phase_end first");
  progress_.emplace(now);
  start_ = now;
  forecast_.reset();
  has_edge_ = false;
  if (!expects_edge_)
    if (const auto duration = durations_.predict(); duration && durations_.observations() >= 2)
      forecast_ = now + std::max(0., *duration);
  return forecast_;
}

std::optional<double> DeclaredPhase::edge(double fraction, double now) {
  if (!is_open()) throw Error("convene_phase_edge: no phase is open; call convene_phase_begin first");
  if (!(fraction > 0 && fraction <= 1))
    throw Error("convene_phase_edge: invalid fraction " + std::to_string(fraction) +
                "; give a number above 0 and at most 1 (50 % is 0.5)");
  progress_->edge(fraction, now);
  has_edge_ = true;
  if (forecast_) return std::nullopt;
  forecast_ = progress_->end();
  return forecast_;
}

void DeclaredPhase::end(double now) {
  if (!is_open()) throw Error("convene_phase_end: no phase is open; call convene_phase_begin first");
  progress_.reset();
  expects_edge_ = has_edge_;
  ++phases_;
  duration_ += now - start_;
  durations_.observe(now - start_);
  if (!forecast_) return;
  ++forecasts_;
  error_ += std::abs(*forecast_ - now);
}

std::vector<std::int32_t> arrivals_in_rounds(const std::vector<std::int64_t>& arrivals_ns,
                                             std::int64_t round_ns, std::int32_t widest_gap) {
  std::vector<std::size_t> order(arrivals_ns.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return arrivals_ns[a] < arrivals_ns[b]; });
  std::vector<std::int32_t> result(arrivals_ns.size(), 0);
  std::int64_t left_out = 0, before = 0;  // rounds after the earliest
  for (const std::size_t rank : order) {
    const std::int64_t rounds = (arrivals_ns[rank] - arrivals_ns[order.front()]) / round_ns;
    left_out += std::max<std::int64_t>(0, rounds - before - widest_gap);
    result[rank] = static_cast<std::int32_t>(rounds - left_out);
    before = rounds;
  }
  return result;
}

std::vector<std::int32_t> arrivals_in_rounds_of(std::uint32_t pieces,
                                                const std::vector<std::int64_t>& arrivals_ns,
                                                std::int64_t round_ns) {
  const auto procs = static_cast<std::int64_t>(arrivals_ns.size());
  const std::int64_t enough = 2 * std::max<std::int64_t>(procs, pieces) + 64;
  const std::int64_t widest_gap = std::min<std::int64_t>(enough, INT32_MAX / procs);
  return arrivals_in_rounds(arrivals_ns, round_ns, static_cast<std::int32_t>(widest_gap));
}

}  // namespace convene::arrival
