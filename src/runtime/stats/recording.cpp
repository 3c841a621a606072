// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stats/recording.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace convene::runtime {
namespace {

constexpr std::uint16_t no_site = 0xffff;

std::size_t hash(const SiteKey& key) {
  std::uint64_t value = reinterpret_cast<std::uintptr_t>(key.address);
  for (const auto part :
       {static_cast<std::uint64_t>(key.call.collective), static_cast<std::uint64_t>(key.call.root),
        static_cast<std::uint64_t>(key.call.sendcount), static_cast<std::uint64_t>(key.call.recvcount)})
    value = (value ^ part) * 0x9e3779b97f4a7c15ull;
  return value >> 40;
}

}  // namespace

// (Uninitialised: the memory of a ring that is never filled is never touched.)
Recording::Recording(std::size_t calls, TickLine ticks)
    : capacity_(std::bit_ceil(std::max<std::size_t>(calls, 2))),
      ring_(std::make_unique_for_overwrite<RecordedCall[]>(capacity_)),
      places_(2 * most_sites, no_site),
      ticks_(ticks) {}

std::uint64_t Recording::begin(const SiteKey& key, std::uint64_t arrival) {
  const std::uint64_t number = calls_++;
  const std::uint16_t index = find_site(key);
  Site& site = sites_[index];
  const std::uint64_t back = site.calls == 0 ? 0 : number - site.last;
  RecordedCall& call = ring_[number & (capacity_ - 1)];
  call.arrival = arrival;
  call.exit = 0;
  call.bytes = 0;
  call.back = static_cast<std::uint32_t>(std::min<std::uint64_t>(back, UINT32_MAX));
  call.site = index;
  call.algorithm = no_algorithm;
  ++site.calls;
  site.last = number;
  sites_[last_site_].next = index;
  last_site_ = index;
  return number;
}

void Recording::end(std::uint64_t number, const CallStats* record, std::uint64_t bytes, std::uint64_t exit) {
  RecordedCall& call = ring_[number & (capacity_ - 1)];
  Site& site = sites_[call.site];
  if (site.record != record) {
    site.record = record;
    site.algorithm = find_algorithm(record);
  }
  call.algorithm = site.algorithm;
  call.bytes = bytes;
  call.exit = exit;
}

/// Programs repeat their calls: most often it is the site that followed the previous one last time.
std::uint16_t Recording::find_site(const SiteKey& key) {
  if (!sites_.empty() && sites_[sites_[last_site_].next].key == key) return sites_[last_site_].next;
  std::size_t at = hash(key) % places_.size();
  for (; places_[at] != no_site; at = (at + 1) % places_.size())
    if (sites_[places_[at]].key == key) return places_[at];
  constexpr std::uint16_t others = most_sites - 1;
  if (sites_.size() > others) return others;
  const auto added = static_cast<std::uint16_t>(sites_.size());
  sites_.push_back({});
  if (added == others) return others;  // it has no address
  sites_[added].key = key;
  places_[at] = added;
  return added;
}

std::uint16_t Recording::find_algorithm(const CallStats* record) {
  if (!record) return no_algorithm;
  const auto found = std::find(algorithms_.begin(), algorithms_.end(), record);
  if (found != algorithms_.end()) return static_cast<std::uint16_t>(found - algorithms_.begin());
  if (algorithms_.size() == no_algorithm) return no_algorithm;
  algorithms_.push_back(record);
  return static_cast<std::uint16_t>(algorithms_.size() - 1);
}

TimedCall Recording::timed(std::uint64_t number) const {
  const RecordedCall& found = call(number);
  return {.number = number,
          .arrival = seconds(found.arrival),
          .exit = found.exit == 0 ? std::numeric_limits<double>::quiet_NaN() : seconds(found.exit)};
}

std::size_t Recording::history(std::uint16_t site, std::span<TimedCall> found) const {
  if (site >= sites_.size() || sites_[site].calls == 0) return 0;
  std::size_t count = 0;
  std::uint64_t number = sites_[site].last;
  while (count < found.size() && has(number)) {
    found[count++] = timed(number);
    const std::uint32_t back = call(number).back;
    if (back == 0 || back > number) break;
    number -= back;
  }
  return count;
}

void Recording::close() {
  for (const CallStats*& record : algorithms_) {
    names_.push_back(*record);
    record = &names_.back();
  }
  for (Site& site : sites_) site.record = nullptr;
  profile_.reset();
  places_ = {};
  const std::uint64_t kept = calls_ - oldest();
  if (kept >= capacity_) return;
  // Not full: the calls are at the beginning.
  const std::size_t needed = std::bit_ceil(std::max<std::size_t>(kept, 2));
  auto smaller = std::make_unique_for_overwrite<RecordedCall[]>(needed);
  std::copy_n(ring_.get(), kept, smaller.get());
  ring_ = std::move(smaller);
  capacity_ = needed;
}

}  // namespace convene::runtime
