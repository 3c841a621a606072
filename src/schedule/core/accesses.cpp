// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/accesses.hpp"

#include <algorithm>
#include <stdexcept>

namespace convene::schedule {
namespace {

constexpr std::uint32_t wide_from = 16;  // places
// Every write compares with each wide read. Beyond this number, reads are recorded place by place.
constexpr std::size_t most_wide_reads = 64;

}  // namespace

void Accesses::clear() {
  std::fill(std::begin(places_), std::end(places_), 0);
  alias_ = alias_of_ = Buffer::input;
  writer_.clear();
  readers_.clear();
  pool_.clear();
  wide_reads_.clear();
  seen_.clear();
  depends_.clear();
}

void Accesses::declare(Buffer buffer, std::uint32_t places) {
  base_[index(buffer)] = static_cast<std::uint32_t>(writer_.size());
  places_[index(buffer)] = places;
  writer_.resize(writer_.size() + places, none);
  readers_.resize(readers_.size() + places, none);
}

void Accesses::grow(Buffer buffer, std::uint32_t more) {
  const std::uint32_t end = base_[index(buffer)] + places_[index(buffer)];
  writer_.insert(writer_.begin() + end, more, none);
  readers_.insert(readers_.begin() + end, more, none);
  for (unsigned b = 0; b < max_buffers; ++b)
    if (b != index(buffer) && base_[b] >= end) base_[b] += more;
  places_[index(buffer)] += more;
}

void Accesses::alias(Buffer alias, Buffer of, Place first) {
  alias_ = alias;
  alias_of_ = of;
  alias_first_ = first;
}

Range Accesses::reduced(Range range) const {
  if (alias_ != alias_of_ && range.buffer() == alias_)
    range = Range(alias_of_, range.first % places(alias_) + alias_first_, range.count(), range.stride);
  const std::uint32_t n = places(range.buffer());
  if (n == 0) throw std::logic_error("a step names a buffer that was not declared");
  range.first %= n;
  range.stride %= n;
  return range;
}

void Accesses::read_many(const Range& range) {
  const StepId* from = writer_.data() + base_[index(range.buffer())];
  StepId last = none;  // consecutive places mostly have one writer
  for_each_place(range, places(range.buffer()), [&](Place place) {
    if (from[place] != last) depend(last = from[place]);
  });
}

void Accesses::write_many(const Range& range) {
  const std::uint32_t base = base_[index(range.buffer())];
  for_each_place(range, places(range.buffer()), [&](Place place) { write_one(base + place); });
  for (const WideRead& wide : wide_reads_)
    if (overlap(wide.range, range)) depend(wide.step);
}

void Accesses::forget() {
  for (StepId on : depends_) seen_[on] = none;  // the id of the marks will be another step's
  depends_.clear();
}

/// True if a wide read and another range share a place.
bool Accesses::overlap(const Range& wide, const Range& other) const {
  if (wide.buffer() != other.buffer()) return false;
  const std::uint32_t n = places(wide.buffer());
  const auto distance = [n](Place from, Place to) { return to >= from ? to - from : to + n - from; };
  if (other.stride == 1)
    return distance(wide.first, other.first) < wide.count() ||
           distance(other.first, wide.first) < other.count();
  bool shared = false;
  for_each_place(other, n, [&](Place place) { shared |= distance(wide.first, place) < wide.count(); });
  return shared;
}

void Accesses::note_read_of_many(const Range& range, StepId step) {
  const bool wide = range.stride == 1 && range.count() >= wide_from &&
                    range.count() <= places(range.buffer()) && wide_reads_.size() < most_wide_reads;
  if (wide) return wide_reads_.push_back({step, range});
  const std::uint32_t base = base_[index(range.buffer())];
  for_each_place(range, places(range.buffer()), [&](Place place) { note_read_of_one(base + place, step); });
}

void Accesses::note_write_of_many(const Range& range, StepId step) {
  const std::uint32_t base = base_[index(range.buffer())];
  for_each_place(range, places(range.buffer()), [&](Place place) { note_write_of_one(base + place, step); });
}

void Accesses::note_writer(const Range& range, StepId step) {
  StepId* writers = writer_.data() + base_[index(range.buffer())];
  for_each_place(range, places(range.buffer()), [&](Place place) { writers[place] = step; });
}

}  // namespace convene::schedule
