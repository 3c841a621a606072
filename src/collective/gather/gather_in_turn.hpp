// SPDX-License-Identifier: BSD-3-Clause
// Sorted linear synchronized gather: the root requests blocks in the order in which the ranks are expected.
//
// A schedule has no message without content, so the signal that requests a block carries data: the first
// segment that the root received last. The rank sends it back before its own first segment, so its answer
// cannot precede the signal. The first rank in the order needs no signal. Neither does a rank whose
// predecessor's first segment is empty (a block without bytes, or with fewer bytes than segments): it sends
// as soon as it arrives.
#pragma once

#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/rooted.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {

constexpr Parameter segments_of_block() {
  return {.name = "segments",
          .summary = "number of segments of a block; the first one signals that the rest is ready",
          .fallback = 64,
          .least = 2,
          .most = 4096,
          .samples = {2, 3}};
}

inline void answer_root(const Call& call, Rank segments, Rank turn, Rank before, Builder& builder) {
  const Range first(Buffer::input, 0), rest(Buffer::input, 1, segments - 1);
  builder.round(2 * turn);
  if (turn == 0) {
    builder.send(call.root, first);
  } else {
    const Place sized_like[] = {before * segments};
    const Range signal(builder.scratch(sized_like), 0);
    builder.round(2 * turn - 1);
    builder.recv(call.root, signal);
    builder.round(2 * turn);
    builder.send(call.root, {signal, first});
    builder.join({signal, rest});
  }
  builder.round(2 * turn + 1);
  builder.send(call.root, rest);
}

inline void ask_in_turn(const Call& call, Rank segments, const std::vector<Rank>& order, Begins begins,
                        Builder& builder) {
  const auto place = [&](Rank rank) { return rank * segments; };
  const Range own(Buffer::output, place(call.rank), segments);
  builder.copy(Range(Buffer::input, 0, segments), own);
  if (begins == Begins::at_call)  // others' blocks are received into the place of the own block
    builder.join({own, Range(Buffer::output, place(call.rank) + segments, place(call.procs - 1))});
  std::vector<Place> sized_like;
  for (std::size_t turn = 1; turn < order.size(); ++turn) sized_like.push_back(place(order[turn - 1]));
  const Buffer given_back = sized_like.empty() ? Buffer::input : builder.scratch(sized_like);
  for (Rank turn = 0; turn < order.size(); ++turn) {
    const Range first(Buffer::output, place(order[turn]));
    if (turn > 0) {
      builder.round(2 * turn - 1);
      builder.send(order[turn], Range(Buffer::output, place(order[turn - 1])));  // the signal
    }
    builder.round(2 * turn);
    if (turn > 0)
      builder.recv(order[turn], {Range(given_back, turn - 1), first});
    else
      builder.recv(order[turn], first);
    builder.round(2 * turn + 1);
    builder.recv(order[turn], Range(Buffer::output, place(order[turn]) + 1, segments - 1));
  }
}

inline void gather_in_turn(const Call& call, Builder& builder, Begins begins) {
  const auto segments = static_cast<Rank>(call.parameters[0]);
  const std::vector<Rank> order = others_in_expected_order(call);
  if (call.is_root()) return ask_in_turn(call, segments, order, begins, builder);
  const auto turn = static_cast<Rank>(std::find(order.begin(), order.end(), call.rank) - order.begin());
  answer_root(call, segments, turn, turn > 0 ? order[turn - 1] : call.rank, builder);
}

}  // namespace convene::collective
