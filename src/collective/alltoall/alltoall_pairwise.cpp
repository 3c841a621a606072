// SPDX-License-Identifier: BSD-3-Clause
// Pairwise exchange: in round i every rank sends to the rank i above and receives from the rank i below, so
// that no rank receives two blocks at a time. A rank sends in round i when it has received the block of round
// i − window.
//
// Source:   Rico-Gallego 2015 (τ-Lop), section 4.5.4.
// Requires: nothing.
// Cost:     P − 1 rounds of one message and one block per rank, no extra memory.
//
//   P = 3, block xy goes from rank x to rank y; round 0 copies the own block, rounds 1 … P − 1 exchange:
//            round 1     round 2
//   rank     0  1  2     0  1  2
//   sends    01 12 20    02 10 21
//   to       1  2  0     2  0  1
#include "collective/parts/pace.hpp"

namespace convene::collective {
namespace {

void generate_alltoall_pairwise(const Call& call, Builder& builder) {
  const auto window = static_cast<Rank>(call.parameters[0]);
  set_pace(call.parameters[1], builder);
  builder.copy(Range(Buffer::input, call.rank), Range(Buffer::output, call.rank));
  for (Rank distance = 1; distance < call.procs; ++distance) {
    builder.round(distance - 1);
    const Range mine(Buffer::input, call.up(distance));
    if (distance > window) builder.join({mine, Range(Buffer::output, call.down(distance - window))});
    builder.send(call.up(distance), mine);
    builder.recv(call.down(distance), Range(Buffer::output, call.down(distance)));
  }
}

constexpr Parameter alltoall_pairwise_parameters[] = {
    {.name = "window",
     .summary = "number of rounds that a rank has in flight",
     .fallback = 1,
     .least = 1,
     .most = 1 << 20,
     .samples = {1, 3}},
    pace_parameter};

}  // namespace

extern constinit const Algorithm alltoall_pairwise = {
    .name = "pairwise",
    .summary = "In round i every rank sends to the rank i above and receives from the rank i below.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.5.4",
    .collectives = {Collective::alltoall, Collective::alltoallv, Collective::alltoallw},
    .symmetry = Symmetry::none,
    .rounds = "P − 1",
    .parameters = alltoall_pairwise_parameters,
    .generate = generate_alltoall_pairwise,
};

}  // namespace convene::collective
