// SPDX-License-Identifier: BSD-3-Clause
// For tests only: data for the contents of a contract (schedule/check/contract.hpp), with an operator that
// need not commute.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/functions.hpp"
#include "schedule/check/contract.hpp"

namespace convene::runtime {

/// x → factor · x + offset, modulo 2^32. Composition is associative and does not commute.
struct Element {
  std::uint32_t factor, offset;
  friend bool operator==(const Element&, const Element&) = default;
};
using Values = std::vector<Element>;

inline Element composed(const Element& left, const Element& right) {
  return {left.factor * right.factor, left.factor * right.offset + left.offset};
}
inline Element added(const Element& left, const Element& right) {
  return {left.factor + right.factor, left.offset + right.offset};
}

/// Operator::apply, whose context says whether it commutes.
inline int apply(void* commutes, const std::byte* left, std::byte* right, std::size_t bytes) {
  const auto combine = *static_cast<const bool*>(commutes) ? added : composed;
  const auto* a = reinterpret_cast<const Element*>(left);
  auto* b = reinterpret_cast<Element*>(right);
  for (std::size_t i = 0; i < bytes / sizeof(Element); ++i) b[i] = combine(a[i], b[i]);
  return bytes % sizeof(Element) == 0 ? MPI_SUCCESS : MPI_ERR_COUNT;
}

/// Element i of place `place` of a rank's vector.
inline Element value(Rank rank, Place place, std::uint32_t i) {
  return {2 * (rank + 7 * place) + 3, rank * 31 + place + i};
}

/// The values of a buffer with given contents, `elements` for each place. Of a reduction with `segments`
/// places: contributions or, if `combined`, their sums. Without a reduction (0 segments): blocks.
inline Values values_of(const std::vector<Content>& contents, std::uint32_t segments, bool combined,
                        bool commutes, std::uint32_t elements) {
  Values values;
  for (const Content content : contents)
    for (std::uint32_t i = 0; i < elements; ++i) {
      if (content == nothing) {
        values.push_back({});
        continue;
      }
      const auto number = static_cast<Rank>(content), last = segments > 0 ? number / segments : number;
      const Place place = segments > 0 ? number % segments : 0;
      const bool is_sum = combined && segments > 0;
      Element sum = value(is_sum ? 0 : last, place, i);
      for (Rank rank = 1; is_sum && rank <= last; ++rank)
        sum = (commutes ? added : composed)(sum, value(rank, place, i));
      values.push_back(sum);
    }
  return values;
}

}  // namespace convene::runtime
