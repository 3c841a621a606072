// SPDX-License-Identifier: BSD-3-Clause
// Linear scatter with synchronisation: the root sends every rank the first segment of its block, and the
// whole block only to those that have sent the segment back. So no large message is sent to a rank that has
// not arrived, and the rank that is ready first is served first.
//
// Source:   Viertel, section 5.1.2 (a ready signal before large data; the root serves ranks in the order in
//           which they are ready). The first segment, sent back, as the signal is this project's choice.
// Requires: nothing. The smaller the first segment the better: a block is cut into `segments` of which it is
//           one.
// Cost:     3 rounds; to each rank 2 messages of a segment and a block, from each rank one of a segment; in
//           scratch P − 1 segments at the root, one elsewhere.
//
//            before        round 0       round 1       round 2     (root 1; a: first segment, b: the rest)
//   rank     0  1  2  3    0  1  2  3    0  1  2  3    0  1  2  3
//   block 0  .  ab .  .    a  ab .  .    a  ab .  .    ab ab .  .
//   block 1  .  ab .  .    .  ab .  .    .  ab .  .    .  ab .  .
//   block 2  .  ab .  .    .  ab a  .    .  ab a  .    .  ab ab .
//   block 3  .  ab .  .    .  ab .  a    .  ab .  a    .  ab .  ab
//
//   In round 1 the root gets every a back.
#include "collective/parts/rooted.hpp"

namespace convene::collective {
namespace {

void answer_waiting_root(const Call& call, Rank segments, Builder& builder) {
  const Place own = call.rank * segments;
  const Range asked(builder.scratch(std::span(&own, 1)), 0);
  builder.round(0);
  builder.recv(call.root, asked);
  builder.round(1);
  builder.send(call.root, asked);
  builder.round(2);
  builder.recv(call.root, Range(Buffer::output, 0, segments));
}

void ask_all(const Call& call, Rank segments, Builder& builder) {
  std::vector<Place> sized_like;
  for (Rank above = 1; above < call.procs; ++above) sized_like.push_back(call.up(above) * segments);
  const Buffer answered = builder.scratch(sized_like);
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    const Range segment(answered, above - 1);
    builder.round(0);
    builder.send(rank, Range(Buffer::input, rank * segments));
    builder.round(1);
    builder.recv(rank, segment);
    builder.round(2);
    builder.send(rank, {segment, Range(Buffer::input, rank * segments + 1, segments - 1)});
  }
  builder.copy(Range(Buffer::input, call.rank * segments, segments), Range(Buffer::output, 0, segments));
}

void generate_scatter_linear_sync(const Call& call, Builder& builder) {
  const auto segments = static_cast<Rank>(call.parameters[0]);
  if (call.procs == 1 || call.is_root()) return ask_all(call, segments, builder);
  answer_waiting_root(call, segments, builder);
}

constexpr Parameter scatter_linear_sync_parameters[] = {
    {.name = "segments",
     .summary = "number of segments of a block; the first one probes whether its rank has arrived",
     .fallback = 64,
     .least = 2,
     .most = 4096,
     .samples = {2}}};

}  // namespace

extern constinit const Algorithm scatter_linear_sync = {
    .name = "linear_sync",
    .summary = "The root sends the rest of a block after its rank has returned the first segment.",
    .source = "after Viertel 2007, section 5.1.2",
    .collectives = scatters,
    .rounds = "3",
    .parameters = scatter_linear_sync_parameters,
    .generate = generate_scatter_linear_sync,
};

}  // namespace convene::collective
