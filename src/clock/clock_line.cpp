// SPDX-License-Identifier: BSD-3-Clause
#include "clock/clock_line.hpp"

#include <algorithm>
#include <cstdlib>

namespace convene::clock {
namespace {

/// (The drop-in libraries depend on libc only: no function of the mathematical library.)
Nanoseconds rounded(double value) { return static_cast<Nanoseconds>(value < 0 ? value - 0.5 : value + 0.5); }

}  // namespace

void RoundTrips::add(Nanoseconds before, Nanoseconds there, Nanoseconds after) {
  const Nanoseconds half = (after - before + 1) / 2;
  if (!best_.is_known() || half < best_.error) best_ = {after, before + half - there, half};
}

void ClockLine::add(const ClockOffset& look) {
  if (!look.is_known()) return;
  if (looks_.size() >= most_looks) {
    std::size_t kept = 0;  // the first one stays: the longer the line, the more precise its drift
    for (std::size_t i = 0; i < looks_.size(); i += 2) looks_[kept++] = looks_[i];
    looks_.resize(kept);
  }
  looks_.push_back(look);
  fit();
}

void ClockLine::fit() {
  const ClockOffset& first = looks_.front();
  const Nanoseconds span = looks_.back().at - first.at;
  if (span < least_span) {
    const auto best = std::min_element(looks_.begin(), looks_.end(),
                                       [](const auto& a, const auto& b) { return a.error < b.error; });
    at_ = best->at;
    offset_ = best->offset;
    error_ = best->error;
    from_ = to_ = at_;  // the drift is unknown: far from that measurement the error is unbounded
    return;
  }
  // Least squares of the offsets over time, weighted by the precision of each measurement; relative to the
  // first one, so that doubles are exact enough.
  double weights = 0, times = 0, offsets = 0;
  const auto weight = [](const ClockOffset& look) {
    const auto error = static_cast<double>(std::max<Nanoseconds>(look.error, 1));
    return 1 / (error * error);
  };
  for (const ClockOffset& look : looks_) {
    weights += weight(look);
    times += weight(look) * static_cast<double>(look.at - first.at);
    offsets += weight(look) * static_cast<double>(look.offset - first.offset);
  }
  const double mean_time = times / weights, mean_offset = offsets / weights;
  double across = 0, square = 0;
  for (const ClockOffset& look : looks_) {
    const double time = static_cast<double>(look.at - first.at) - mean_time;
    across += weight(look) * time * (static_cast<double>(look.offset - first.offset) - mean_offset);
    square += weight(look) * time * time;
  }
  drift_ = across / square;
  at_ = first.at + static_cast<Nanoseconds>(mean_time);
  offset_ = first.offset + rounded(mean_offset);
  error_ = 0;
  for (const ClockOffset& look : looks_)
    error_ = std::max(error_, look.error + std::abs(look.offset - offset_at(look.at)));
  from_ = first.at;
  to_ = looks_.back().at;
  drift_error_ = 2 * static_cast<double>(error_) / static_cast<double>(span);
}

Nanoseconds ClockLine::offset_at(Nanoseconds own) const {
  return offset_ + rounded(drift_ * static_cast<double>(own - at_));
}

Nanoseconds ClockLine::to_own(Nanoseconds other) const {
  // other = own - offset - drift (own - at), solved for own - at.
  const double passed = static_cast<double>(other + offset_ - at_) / (1 - drift_);
  return at_ + rounded(passed);
}

Nanoseconds ClockLine::error_at(Nanoseconds own) const {
  if (!is_known()) return -1;
  const auto outside = static_cast<double>(std::max({from_ - own, own - to_, Nanoseconds{0}}));
  return error_ + rounded(drift_error_ * outside);
}

}  // namespace convene::clock
