// SPDX-License-Identifier: BSD-3-Clause
// BDR (background disseminated ring): until the last rank is expected, the ranks that arrived earlier send
// their blocks directly to others, one rank further down in each pre-step. Then all ranks run the ring, in
// which a block stops where a pre-step has delivered it.
//
// Source:   Proficz 2021, section 3.1, Listing 2.
// Requires: nothing. Uses a forecast of arrivals; without one it is the ring.
// Cost:     P − 1 messages and blocks per rank, no extra memory. At most S = ⌊ω/τ⌋ pre-steps, then at most
//           P − 1 rounds of the ring. A wrong forecast costs, in lock step, at most the pre-steps more than
//           the ring: P − 1 rounds if the last rank was taken for the first (the source has P − 2). Building
//           costs O(S·P + P²) for the whole plan; pre-steps in which nothing is left to send cost nothing.
//
// With N segments every block is sent as N messages, each forwarded as it arrives (an extension of this
// project; it makes the ring faster, too, if a send depends on the previous receive).
//
// A pre-step is not marked. It is a step that does not access its receiver's input: a receive into a place of
// the output that no other step touches, so a rank can execute it in the background before it arrives. A rank
// sends its own block from its input, so its first send waits for the call.
//
// P = 4, rank 0 expected two rounds after the others: a = (2, 0, 0, 0).
//
//            before      round 0     round 1     round 2     round 3     round 4
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 * . .     0 0 * .     0 0 0 *
//   block 1  . 1 . .     * 1 . .     1 1 . *     1 1 * 1     1 1 1 1     1 1 1 1
//   block 2  . . 2 .     . * 2 .     * 2 2 .     2 2 2 *     2 2 2 2     2 2 2 2
//   block 3  . . . 3     . . * 3     . * 3 3     * 3 3 3     3 3 3 3     3 3 3 3    (* arrives in this round)
//
// In rounds 0 and 1, the pre-steps, each of ranks 1 to 3 sends its block to the two ranks below it, so the
// block has one hop left. For P = 5 and a = (2, 0, 0, 0, 0) there are again two pre-steps, the blocks 1 to 4
// have two hops left, and block 0 has four.
#include <algorithm>

#include "collective/allgather/allgather_blocks.hpp"
#include "collective/core/forecast.hpp"
#include "collective/parts/by_rank.hpp"

namespace convene::collective {
namespace {

struct Message {
  std::uint32_t round;
  Rank from, to;
};

/// Sends before the last rank is expected.
struct PreSteps {
  ByRank<Message> messages;      ///< by round
  std::vector<Rank> sent_ahead;  ///< by rank: the number of other ranks to which it sends its block (the
                                 ///< listing's prevSent)
  std::uint32_t rounds = 0;
};

/// The listing's lines 22 to 33. If two ranks send to the same one, the slower rank is first.
PreSteps schedule_pre_steps(const std::vector<std::uint32_t>& delays) {
  const auto procs = static_cast<Rank>(delays.size());
  const std::vector<Rank> order = in_expected_order(delays);
  const std::uint32_t steps = delays[order.back()];
  PreSteps result{.sent_ahead = std::vector<Rank>(procs, 0)};
  std::vector<Message> messages;
  std::vector<bool> receives(procs);
  std::vector<Rank> senders;  // ranks that have arrived and are not done, the slowest first
  Rank arrived = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (senders.empty())
      step = std::max(step, delays[order[arrived]]);  // no rank has anything to send until
                                                      // then
    if (step == steps) break;
    for (; delays[order[arrived]] <= step; ++arrived) senders.insert(senders.begin(), order[arrived]);
    receives.assign(procs, false);
    for (Rank sender : senders) {
      const Rank receiver = (sender + procs - 1 - result.sent_ahead[sender]) % procs;
      if (receives[receiver]) continue;
      receives[receiver] = true;
      ++result.sent_ahead[sender];
      messages.push_back({result.rounds, sender, receiver});
    }
    std::erase_if(senders, [&](Rank sender) { return result.sent_ahead[sender] == procs - 1; });
    ++result.rounds;
  }
  result.messages = ByRank(procs, std::move(messages));
  return result;
}

void generate_allgather_bdr(const Call& call, SharedWork& work, Builder& builder) {
  const CutBlocks blocks(call.parameters[0]);
  const Rank segments = blocks.segments();
  const auto pre_steps = work.get([&] { return schedule_pre_steps(expected_delays(call)); });
  blocks.place_own(call, builder);
  pre_steps->messages.for_each(call.rank, [&](const Message& message) {
    for (Rank segment = 0; segment < segments; ++segment) {
      builder.round(message.round * segments + segment);
      if (message.from == call.rank) builder.send(message.to, blocks.own(segment));
      if (message.to == call.rank) builder.recv(message.from, blocks.of(message.from, segment));
    }
  });
  // A block that was sent to the k ranks below its owner stops k hops earlier.
  const auto goes_on = [&](Rank block, Rank hop) {
    return pre_steps->sent_ahead[block] + hop < call.procs - 1;
  };
  for (Rank hop = 0; hop + 1 < call.procs; ++hop) {
    const Rank mine = call.down(hop), theirs = call.down(hop + 1);
    for (Rank segment = 0; segment < segments; ++segment) {
      builder.round((pre_steps->rounds + hop) * segments + segment);
      if (goes_on(mine, hop))
        builder.send(call.up(), hop == 0 ? blocks.own(segment) : blocks.of(mine, segment));
      if (goes_on(theirs, hop)) builder.recv(call.down(), blocks.of(theirs, segment));
    }
  }
}

constexpr Parameter allgather_bdr_parameters[] = {segments_of_blocks(1)};

}  // namespace

extern constinit const Algorithm allgather_bdr = {
    .name = "bdr",
    .summary =
        "A ring, before which early ranks send their blocks directly to others until the last rank arrives.",
    .source = "Proficz 2021, section 3.1, Listing 2",
    .collectives = allgathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "P − 1 after at most ⌊ω/τ⌋ in the background, N times as many of 1/N block each",
    .parameters = allgather_bdr_parameters,
    .generate = generate_allgather_bdr,
};

}  // namespace convene::collective
