// SPDX-License-Identifier: BSD-3-Clause
#include "collective/shm/beside_root.hpp"

namespace convene::collective {

void put_beside_root(std::uint32_t segment, const Call& call, Builder& builder) {
  const Range place = place_beside_root(call.rank, segment, call);
  builder.round(2 * segment);
  if (segment >= turns) builder.recv(call.root, place);
  builder.copy(Range(Buffer::input, segment), place);
  builder.send(call.root, place);
}

}  // namespace convene::collective
