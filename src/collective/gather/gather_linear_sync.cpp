// SPDX-License-Identifier: BSD-3-Clause
// Linear gather with synchronisation: at most a window of ranks send their blocks to the root at a time. The
// root sends every rank a short message at its turn, and the rank answers with its block: no block arrives at
// the root before it is requested. With equal blocks that message is the first segment of the root's own
// block. Otherwise only the root knows its size: then each rank first announces itself with its own first
// segment, and receives that back. (If blocks are so small that their first segments are empty, there are no
// requests.)
//
// Source:   Viertel, section 5.1.2 (a signal before large data); Proficz (BSLS: a small first segment
//           announces the rest). The content of the signal and the order of ranks are this project's
//           choice.
// Requires: nothing. The smaller the first segment the better: a block is cut into `segments` of which it is
//           one.
// Cost:     2 rounds; from each rank a block, to each rank a segment; in scratch up to P − 1 − window
//           segments at the root, one elsewhere. gatherv: 3 rounds; from each rank one more segment; P − 1
//           segments at the root.
//
//            before        round 0       round 1     (root 1; a: first segment, b: the rest)
//   rank     0  1  2  3    0  1  2  3    0  1  2  3
//   block 0  ab .  .  .    ab .  .  .    ab ab .  .
//   block 1  .  ab .  .    a  ab a  a    a  ab a  a
//   block 2  .  .  ab .    .  .  ab .    .  ab ab .
//   block 3  .  .  .  ab   .  .  .  ab   .  ab .  ab
//
//   With window = 1 the root signals rank 3 after the block of rank 2, and rank 0 after that of rank 3.
#include "collective/parts/rooted.hpp"

namespace convene::collective {
namespace {

Range block_of(Rank rank, Rank segments) { return Range(Buffer::output, rank * segments, segments); }

// ---- gather: all first segments have the same size

void answer(const Call& call, Rank segments, Builder& builder) {
  const Place roots = call.root * segments;
  const Range asked(builder.scratch(std::span(&roots, 1)), 0), own(Buffer::input, 0, segments);
  builder.round(0);
  builder.recv(call.root, asked);
  builder.join({asked, own});
  builder.round(1);
  builder.send(call.root, own);
}

void request_blocks(const Call& call, Rank segments, Rank window, Builder& builder) {
  const Range signal(Buffer::input, 0);
  const Rank held_back = call.procs > window + 1 ? call.procs - window - 1 : 0;
  const std::vector<Place> sized_like(held_back, call.rank * segments);
  const Buffer signals = builder.scratch(sized_like);  // each is delayed until another block has arrived
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    builder.round(0);
    if (above <= window) {
      builder.send(rank, signal);
    } else {
      const Range copied(signals, above - window - 1);
      builder.copy(signal, copied);
      builder.join({copied, block_of(call.up(above - window), segments)});
      builder.send(rank, copied);
    }
    builder.round(1);
    builder.recv(rank, block_of(rank, segments));
  }
  builder.copy(Range(Buffer::input, 0, segments), block_of(call.rank, segments));
}

// ---- gatherv: each rank knows the size of its own block only

void announce(const Call& call, Rank segments, Builder& builder) {
  const Place own = call.rank * segments;
  const Range asked(builder.scratch(std::span(&own, 1)), 0);
  builder.round(0);
  builder.send(call.root, Range(Buffer::input, 0));
  builder.round(1);
  builder.recv(call.root, asked);
  builder.round(2);
  builder.send(call.root, {asked, Range(Buffer::input, 1, segments - 1)});
}

void return_segments(const Call& call, Rank segments, Rank window, Builder& builder) {
  std::vector<Place> sized_like;
  for (Rank above = 1; above < call.procs; ++above) sized_like.push_back(call.up(above) * segments);
  const Buffer announcements = builder.scratch(sized_like);
  builder.copy(Range(Buffer::input, 0, segments), block_of(call.rank, segments));
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    const Range segment(announcements, above - 1);
    builder.round(0);
    builder.recv(rank, segment);
    if (above > window) builder.join({segment, block_of(call.up(above - window), segments)});
    builder.round(1);
    builder.send(rank, segment);
    builder.round(2);
    builder.recv(rank, block_of(rank, segments));
  }
}

void generate_gather_linear_sync(const Call& call, Builder& builder) {
  const auto segments = static_cast<Rank>(call.parameters[0]);
  const auto window = static_cast<Rank>(call.parameters[1]);
  const bool is_requester = call.procs == 1 || call.is_root();
  if (call.collective == Collective::gather)
    is_requester ? request_blocks(call, segments, window, builder) : answer(call, segments, builder);
  else
    is_requester ? return_segments(call, segments, window, builder) : announce(call, segments, builder);
}

constexpr Parameter gather_linear_sync_parameters[] = {
    {.name = "segments",
     .summary = "number of segments of a block; the first one is the signal",
     .fallback = 64,
     .least = 2,
     .most = 4096,
     .samples = {2}},
    {.name = "window",
     .summary = "number of ranks from which the root receives at a time",
     .fallback = 2,
     .least = 1,
     .most = 1 << 20,
     .samples = {1, 2}}};

}  // namespace

extern constinit const Algorithm gather_linear_sync = {
    .name = "linear_sync",
    .summary = "The root requests the blocks, a window of ranks at a time.",
    .source = "after Viertel 2007, section 5.1.2, and Proficz 2018 (BSLS)",
    .collectives = gathers,
    .rounds = "2 (gatherv: 3)",
    .parameters = gather_linear_sync_parameters,
    .generate = generate_gather_linear_sync,
};

}  // namespace convene::collective
