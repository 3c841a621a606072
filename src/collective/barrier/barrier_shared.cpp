// SPDX-License-Identifier: BSD-3-Clause
// Barrier by signals in shared memory: dissemination without messages. Its zero-byte blocks are shared
// places.
//
// Source:   Hensgen, Finkel and Manber 1988 (there, too, between processors that share memory).
// Requires: all processes on one node.
// Cost:     no message; ⌈log₂ P⌉ rounds of one signal per rank; P shared places without bytes.
//
//   P = 4: in round 0 rank r signals to r + 1, in round 1 to r + 2. P = 5 has a third round, to r + 4.
#include "collective/shm/shm.hpp"

namespace convene::collective {
namespace {

void generate_barrier_shared(const Call& call, Builder& builder) {
  builder.copy(Range(Buffer::input, 0), Range(Buffer::shared, call.rank));
  signal_around(call, 1, 0, builder);
  builder.copy(Range(Buffer::shared, 0, call.procs), Range(Buffer::output, 0, call.procs));
}

std::uint64_t barrier_places(Rank procs, std::span<const Value>) { return procs; }

}  // namespace

extern constinit const Algorithm barrier_shared = {
    .name = "shared",
    .summary = "Dissemination with signals in shared memory.",
    .source = "Hensgen et al. 1988",
    .collectives = {Collective::barrier},
    .rounds = "⌈log₂ P⌉",
    .shared_places = barrier_places,
    .generate = generate_barrier_shared,
};

}  // namespace convene::collective
