// SPDX-License-Identifier: BSD-3-Clause
// Exchanges over negabinary distances: allgather, and reduce-scatter as its reverse.
#pragma once

#include "collective/parts/partial.hpp"
#include "patterns/negabinary.hpp"

namespace convene::collective {

using patterns::DistanceOrder;
using patterns::NegabinaryButterfly;

inline std::vector<Range> ranges_in(Buffer buffer, std::span<const Place> places) {
  std::vector<Range> ranges;
  for (const Place place : places) append(ranges, buffer, place);
  return ranges;
}

/// Allgather in the rounds of the exchange.
inline void negabinary_allgather(const NegabinaryButterfly& exchange, const Call& call, Builder& builder) {
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, call.rank));
  for (std::uint32_t round = 0; round < exchange.rounds(); ++round) {
    const Rank partner = exchange.partner(call.rank, round);
    const std::vector<Place> wanted = exchange.received(partner, round);
    builder.round(round);
    if (wanted == std::vector{call.rank})
      builder.send(partner, Range(Buffer::input, 0));
    else
      builder.send(partner, ranges_in(Buffer::output, wanted));
    builder.recv(partner, ranges_in(Buffer::output, exchange.received(call.rank, round)));
  }
}

/// Reduce-scatter: the rounds of the exchange in reverse. Leaves each rank with the sum of its own place.
inline void negabinary_reduce_scatter(const NegabinaryButterfly& exchange, const Call& call, Builder& builder,
                                      Partial& partial) {
  for (std::uint32_t round = exchange.rounds(); round-- > 0;) {
    const Rank partner = exchange.partner(call.rank, round);
    builder.round(exchange.rounds() - 1 - round);
    partial.send(partner, exchange.received(call.rank, round));
    partial.take(partner, exchange.received(partner, round), OperandOrder::above);
  }
}

/// Allreduce: the reduce-scatter, and the allgather of the sums.
inline void negabinary_allreduce(const NegabinaryButterfly& exchange, const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {.at_output = true});
  negabinary_reduce_scatter(exchange, call, builder, partial);
  for (std::uint32_t round = 0; round < exchange.rounds(); ++round) {
    const Rank partner = exchange.partner(call.rank, round);
    builder.round(exchange.rounds() + round);
    partial.send(partner, exchange.received(partner, round));
    partial.replace(partner, exchange.received(call.rank, round));
  }
  partial.settle(run_of_places(0, call.procs));
}

/// The result of a reduce-scatter in the output.
inline void keep_own_place(const Call& call, Builder& builder, const Partial& partial) {
  const Range own_block[] = {Range(Buffer::output, 0)};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

/// Order in which the bine algorithms exchange blocks.
inline constexpr Parameter bine_exchange_parameter = {
    .name = "exchange",
    .summary =
        "blocks of a message: scattered, most of them over the shortest distance; or consecutive ones, "
        "most of them over the farthest",
    .fallback = 0,
    .words = {"scattered", "consecutive"},
    .samples = {0, 1}};

inline NegabinaryButterfly bine_exchange(const Call& call) {
  const bool scattered = call.parameters[0] == Value{0};
  return {call.procs, scattered ? DistanceOrder::far_first : DistanceOrder::near_first};
}

}  // namespace convene::collective
