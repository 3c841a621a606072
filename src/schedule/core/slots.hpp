// SPDX-License-Identifier: BSD-3-Clause
// Slots: the locations of data. A slot is a (buffer, place); a set of slots is a strided range of places.
#pragma once

#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::schedule {

using Rank = std::uint32_t;
using Place = std::uint32_t;

/// The memory of a slot. `input` and `output` are the caller's buffers; `shared` is memory of the node that
/// all its ranks read and write; scratch k is private to the rank.
enum class Buffer : std::uint8_t { input, output, shared, scratch };  // scratch k is Buffer(scratch + k)

constexpr Buffer scratch(unsigned k) {
  return static_cast<Buffer>(static_cast<unsigned>(Buffer::scratch) + k);
}
constexpr unsigned index(Buffer buffer) { return static_cast<unsigned>(buffer); }

/// The most buffers that one schedule may name: input, output, shared and 13 scratch buffers.
inline constexpr unsigned max_buffers = 16;

/// The `count` places first, first + stride, …, each modulo the buffer's number of places. 12 bytes:
/// schedules of a million steps have one or two ranges a step.
struct Range {
  // In this order: the first two are mostly constants and pass as one word.
  std::uint32_t stride = 1;
  std::uint32_t packed = 0;  // buffer in the top 4 bits, count in the rest
  std::uint32_t first = 0;

  static constexpr std::uint32_t max_count = (1u << 28) - 1;

  constexpr Range() = default;
  constexpr Range(Buffer buffer, Place first_place, std::uint32_t count = 1, std::uint32_t stride_ = 1)
      : stride(stride_), packed(index(buffer) << 28 | count), first(first_place) {}

  constexpr Buffer buffer() const { return static_cast<Buffer>(packed >> 28); }
  constexpr std::uint32_t count() const { return packed & max_count; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

/// Calls visit(place) for each place of a range, in order. `places` is the buffer's number of places; the
/// range's first and stride must be below it; the builder ensures that.
template <class Visit>
void for_each_place(const Range& range, std::uint32_t places, Visit&& visit) {
  if (range.count() == 1) return visit(range.first);
  Place place = range.first;
  for (std::uint32_t left = range.count(); left > 0; --left) {
    visit(place);
    place += range.stride;
    if (place >= places) place -= places;
  }
}

}  // namespace convene::schedule
