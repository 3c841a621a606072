// SPDX-License-Identifier: BSD-3-Clause
// BSLB (background sorted linear synchronized tree with broadcast): rank 0 gathers all blocks, one rank after
// the other in the order in which they are expected, and broadcasts them, by default along a binomial tree. A
// rank that receives its signal answers with a tiny first part of its block, which announces that the rest is
// ready, and then sends the rest.
//
// Source:   Proficz 2021, section 3.2, Listing 3 (BSLS to rank 0, then a broadcast). The content of a signal
//           is this project's choice: see below.
// Requires: nothing. Uses the order of a forecast, no durations; without one, the order of ranks.
// Cost:     the root receives 2(P − 1) messages, sends P − 2 signals, and ⌈log₂P⌉ messages of the broadcast.
//           (The source's broadcast is the library's for that size. Here it is the parameter "bcast".)
//           If the forecast is wrong, the gather waits for the rank that it signalled too early.
//
// A block takes two places: its tiny first part t and the rest r, of unequal size (Cut::tiny_first). A
// schedule has no message without content, so a signal carries data that its receiver needs anyway: the tiny
// part that the root received last, which the broadcast then omits. The first rank in the order needs no
// signal. After an empty block there is none either: the next rank sends as soon as it arrives. A join over
// the places of both makes the answer depend on the signal.
//
// The root's receives and signals do not touch its input, so it does them in the background while it still
// computes.
//
// P = 4, a = (0, 0, 5, 1): the order is 1, 3, 2. Rounds 0 to 5 are the gather, 6 and 7 the broadcast.
//
//       before    round 0   round 1   round 2   round 3   round 4   round 5   round 6   round 7
//   rank 0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3
//   0t   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . * .   0 * 0 *
//   0r   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . . .   0 . * .   0 * 0 *
//   1t   . 1 . .   * 1 . .   1 1 . *   1 1 . 1   1 1 . 1   1 1 . 1   1 1 . 1   1 1 * 1   1 1 1 1
//   1r   . 1 . .   . 1 . .   * 1 . .   1 1 . .   1 1 . .   1 1 . .   1 1 . .   1 1 * .   1 1 1 *
//   2t   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   * . 2 .   2 . 2 .   2 . 2 .   2 * 2 *
//   2r   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   * . 2 .   2 . 2 .   2 * 2 *
//   3t   . . . 3   . . . 3   . . . 3   * . . 3   3 . * 3   3 . 3 3   3 . 3 3   3 . 3 3   3 * 3 3
//   3r   . . . 3   . . . 3   . . . 3   . . . 3   * . . 3   3 . . 3   3 . . 3   3 . * 3   3 * 3 3  (* arrives)
//
// For P = 5 rank 4 is signalled in its turn too, gets the broadcast from rank 0 in its first round, and the
// broadcast has three rounds.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "collective/allgather/allgather_blocks.hpp"
#include "collective/core/composition.hpp"
#include "collective/core/forecast.hpp"
#include "collective/core/spec.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

constexpr Rank root = 0;

// The places of a block in the output, and in the input.
constexpr Place tiny(Rank block) { return 2 * block; }
constexpr Place rest(Rank block) { return 2 * block + 1; }
constexpr Range at(Place place) { return Range(Buffer::output, place); }

/// The order in which the root signals the others.
std::vector<Rank> order_of_asking(const Call& call) {
  std::vector<Rank> order = in_expected_order(expected_delays(call));
  std::erase(order, root);
  return order;
}

void gather_at_root(const std::vector<Rank>& order, Builder& builder) {
  for (Rank turn = 0; turn < order.size(); ++turn) {
    if (turn > 0) {
      builder.round(2 * turn - 1);
      builder.send(order[turn], at(tiny(order[turn - 1])));  // the signal
    }
    builder.round(2 * turn);
    builder.recv(order[turn], at(tiny(order[turn])));
    builder.round(2 * turn + 1);
    builder.recv(order[turn], at(rest(order[turn])));
  }
}

/// `before`: the previous rank in the order; the rank itself if there is none, and then no signal.
void answer_root(Rank rank, Rank before, Rank turn, Builder& builder) {
  if (before != rank) {
    builder.round(2 * turn - 1);
    builder.recv(root, at(tiny(before)));
    // Joined with the signal, so that neither part of the own block is sent before it.
    builder.join({at(tiny(before)), Range(Buffer::output, tiny(rank), 2)});
  }
  builder.round(2 * turn);
  builder.send(root, at(tiny(rank)));
  builder.round(2 * turn + 1);
  builder.send(root, at(rest(rank)));
}

/// Blocks that a rank lacks after the gather, upwards from its own block: all others, except the tiny part
/// that was its signal.
std::vector<Range> lacking(Rank rank, Rank before, Rank places) {
  const Place first = tiny(rank) + 2;
  if (before == rank) return {Range(Buffer::output, first, places - 2)};
  const Place until =
      (tiny(before) + 2 * places - first) % places;  // number of places before those of the signal
  return {Range(Buffer::output, first, until),
          Range(Buffer::output, tiny(before) + 1, places - 2 - until - 1)};
}

/// Another broadcast of all places, in which no rank receives what it has.
void broadcast_by(std::string_view algorithm, const Call& call, const std::function<Rank(Rank)>& before,
                  Rank first_round, Builder& builder) {
  Ranks ranks(call.procs);
  std::iota(ranks.begin(), ranks.end(), 0);
  Embedding::Places all;
  for (Place place = 0; place < 2 * call.procs; ++place) all.push_back(at(place));
  run_phase(parse_spec(Collective::bcast, std::string(algorithm)),
            {.collective = Collective::bcast,
             .ranks = ranks,
             .root = root,
             .output = {all},
             .blocks = {all},
             .has =
                 [&](Rank rank, const Range& place) {
                   const bool is_signal = before(rank) != rank && place.first == tiny(before(rank));
                   return rank != root && (place.first / 2 == rank || is_signal);
                 }},
            call, first_round, builder);
}

/// By the value of the parameter "bcast".
constexpr std::string_view bslb_broadcasts[] = {"binomial", "scatter_allgather", "chain;segments=16"};

void generate_allgather_bslb(const Call& call, Builder& builder) {
  const std::vector<Rank> order = order_of_asking(call);
  const Rank places = 2 * call.procs;
  const auto turn_of = [&](Rank rank) {
    return static_cast<Rank>(std::find(order.begin(), order.end(), rank) - order.begin());
  };
  const auto before = [&](Rank rank) {
    const Rank turn = turn_of(rank);
    return turn == 0 ? rank : order[turn - 1];
  };

  builder.copy(Range(Buffer::input, 0, 2), Range(Buffer::output, tiny(call.rank), 2));
  if (call.rank == root)
    gather_at_root(order, builder);
  else
    answer_root(call.rank, before(call.rank), turn_of(call.rank), builder);

  const Rank gathered = 2 * static_cast<Rank>(order.size());  // rounds
  if (const auto which = static_cast<std::size_t>(call.parameters[0]); which > 0) {
    builder.join(Range(Buffer::output, 0, places));
    return broadcast_by(bslb_broadcasts[which], call, before, gathered, builder);
  }
  const TreeNode node = binomial_node(call.rank, call.procs);
  if (call.rank != root) {
    builder.round(gathered + node.round);
    builder.recv(node.parent, lacking(call.rank, before(call.rank), places));
  }
  if (!node.children.empty()) builder.join(Range(Buffer::output, 0, places));
  for (const TreeNode::Child& child : node.children) {
    builder.round(gathered + child.round);
    builder.send(child.rank, lacking(child.rank, before(child.rank), places));
  }
}

constexpr Parameter allgather_bslb_parameters[] = {
    {.name = "bcast",
     .summary = "the broadcast: binomial for short blocks, scatter_allgather or a chain of 16 segments for "
                "long ones",
     .fallback = 0,
     .words = {"binomial", "scatter_allgather", "chain"},
     .samples = {0, 1, 2}}};

}  // namespace

extern constinit const Algorithm allgather_bslb = {
    .name = "bslb",
    .summary = "Rank 0 requests the blocks in the order of expected arrival and broadcasts them.",
    .source = "Proficz 2021, section 3.2, Listing 3",
    .collectives = allgathers,
    .arrival_source = ArrivalSource::forecast,
    .cut = Cut::tiny_first,
    .rounds = "2(P − 1) + ⌈log₂P⌉, or those of the broadcast",
    .parameters = allgather_bslb_parameters,
    .generate = generate_allgather_bslb,
};

}  // namespace convene::collective
