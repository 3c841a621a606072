// SPDX-License-Identifier: BSD-3-Clause
// Linear gather with synchronisation: no more than a window of ranks send their blocks to the root at a time. Each rank
// announces itself with the first segment of its block, the root gives that back when it is this rank's turn, and the
// rank answers with the whole block. Until then at most a segment waits at the root that was not asked for.
//
// Source:   Proficz (BSLS: a tiny first segment says that the rest is ready); Viertel, section 5.1.2 (a signal before
//           large data). Asking by giving the segment back, in the order of ranks, is this project's choice.
// Requires: nothing. The smaller the first segment the better: a block is cut into `segments` of which it is one.
// Cost:     3 rounds; from each rank 2 messages of a segment and a block, to each rank one of a segment; in scratch P − 1
//           segments at the root, one elsewhere.
//
//            before        round 0       round 1       round 2     (root 1; a: first segment, b: the rest)
//   rank     0  1  2  3    0  1  2  3    0  1  2  3    0  1  2  3
//   block 0  ab .  .  .    ab a  .  .    ab a  .  .    ab ab .  .
//   block 1  .  ab .  .    .  ab .  .    .  ab .  .    .  ab .  .
//   block 2  .  .  ab .    .  a  ab .    .  a  ab .    .  ab ab .
//   block 3  .  .  .  ab   .  a  .  ab   .  a  .  ab   .  ab .  ab
//
//   In round 1 rank i gets its own a back; with window = 1 the root asks rank 3 when the block of rank 2 is there, and
//   rank 0 after that of rank 3.
#include "collective/rooted.hpp"

namespace convene {
namespace {

void answer_root(const Call& call, Rank segments, Builder& builder) {
  const Place own = call.rank * segments;
  const Range asked(builder.scratch(std::span(&own, 1)), 0);
  builder.round(0);
  builder.send(call.root, Range(Buffer::input, 0));
  builder.round(1);
  builder.recv(call.root, asked);
  builder.round(2);
  builder.send(call.root, {asked, Range(Buffer::input, 1, segments - 1)});
}

void ask_all(const Call& call, Rank segments, Rank window, Builder& builder) {
  const auto block_of = [&](Rank rank) { return Range(Buffer::output, rank * segments, segments); };
  std::vector<Place> like;
  for (Rank above = 1; above < call.procs; ++above) like.push_back(call.up(above) * segments);
  const Buffer announced = builder.scratch(like);
  builder.copy(Range(Buffer::input, 0, segments), block_of(call.rank));
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    const Range segment(announced, above - 1);
    builder.round(0);
    builder.recv(rank, segment);
    if (above > window) builder.join({segment, block_of(call.up(above - window))});
    builder.round(1);
    builder.send(rank, segment);
    builder.round(2);
    builder.recv(rank, block_of(rank));
  }
}

void generate(const Call& call, Builder& builder) {
  const auto segments = static_cast<Rank>(call.parameters[0]);
  const auto window = static_cast<Rank>(call.parameters[1]);
  if (call.procs == 1 || call.is_root()) return ask_all(call, segments, window, builder);
  answer_root(call, segments, builder);
}

}  // namespace

extern const Algorithm gather_linear_sync = {
    .name = "linear_sync",
    .summary =
        "The root asks for the blocks, a window of ranks at a time, when their first segments are there.",
    .source = "after Proficz 2018 (BSLS) and Viertel 2007, section 5.1.2",
    .collectives = gathers,
    .rounds = "3",
    .parameters = {{.name = "segments",
                    .summary = "how many parts a block is cut into; the first one announces it",
                    .fallback = 64,
                    .least = 2,
                    .most = 4096,
                    .samples = {2}},
                   {.name = "window",
                    .summary = "from how many ranks the root takes blocks at a time",
                    .fallback = 2,
                    .least = 1,
                    .most = 1 << 20,
                    .samples = {1, 2}}},
    .generate = generate,
};

}  // namespace convene
