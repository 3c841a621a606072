// SPDX-License-Identifier: BSD-3-Clause
#include "collective/shm/in_situ.hpp"

#include <array>

namespace convene::collective {

void InSitu::put() const {
  const Rank own = call_.rank, procs = call_.procs;
  const auto others = [&](Buffer buffer, Place first) {
    return std::array{Range(buffer, first, own), Range(buffer, first + own + 1, procs - own - 1)};
  };
  builder_.copy(others(Buffer::input, 0), others(Buffer::shared, own * procs));
  for (Rank above = 1; above < procs; ++above) builder_.send(call_.up(above), part(own, call_.up(above)));
}

Range InSitu::combine() const {
  const Rank own = call_.rank;
  const Place sized_like[] = {own};
  const Range sum(builder_.scratch(sized_like), 0);
  for (Rank rank = call_.procs; rank-- > 0;) {
    const Range from = rank == own ? Range(Buffer::input, own) : part(rank, own);
    if (rank != own) builder_.recv(rank, from);
    rank + 1 == call_.procs ? builder_.copy(from, sum) : builder_.combine(from, sum);
  }
  return sum;
}

void InSitu::collect(const Range& sum) const {
  builder_.copy(sum, Range(Buffer::output, call_.rank));
  for (Rank above = 1; above < call_.procs; ++above) {
    const Rank peer = call_.up(above);
    builder_.recv(peer, part(peer, peer));
    builder_.copy(part(peer, peer), Range(Buffer::output, peer));
  }
}

void InSitu::put(const Range& sum) const { builder_.copy(sum, part(call_.rank, call_.rank)); }

}  // namespace convene::collective
