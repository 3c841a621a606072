// SPDX-License-Identifier: BSD-3-Clause
#include "collective/shm/shm.hpp"

namespace convene::collective {

Rank signal_around(const Call& call, std::uint32_t each, Rank round, Builder& builder) {
  const Range all(Buffer::shared, 0, call.procs * each);
  for (Rank heard = 1; heard < call.procs; heard *= 2, ++round) {
    builder.round(round);
    builder.send(call.up(heard), all);
    builder.recv(call.down(heard), all);
  }
  return round;
}

}  // namespace convene::collective
