// SPDX-License-Identifier: BSD-3-Clause
#include "collective/parts/partial.hpp"

#include <numeric>

namespace convene::collective {

void append(std::vector<Range>& ranges, Buffer buffer, Place place) {
  if (!ranges.empty() && ranges.back().buffer() == buffer) {
    Range& last = ranges.back();
    if (last.count() == 1 && place > last.first) {
      last = Range(buffer, last.first, 2, place - last.first);
      return;
    }
    if (last.count() > 1 && place == last.first + last.count() * last.stride) {
      last = Range(buffer, last.first, last.count() + 1, last.stride);
      return;
    }
  }
  ranges.emplace_back(buffer, place);
}

std::vector<Place> run_of_places(Place first, std::uint32_t count) {
  std::vector<Place> places(count);
  std::iota(places.begin(), places.end(), first);
  return places;
}

Partial::Partial(const Call& call, Builder& builder, std::uint32_t places, const Options& options)
    : builder_(builder), options_(options), states_(places) {
  const bool in_place = call.in_place && (!is_rooted(call.collective) || call.is_root());
  for (State& state : states_) {
    state.where = in_place && options.at_output ? at_home : in_input;
    state.above = options.above;
  }
  buffers_.assign(first_inbox + options.inboxes, Buffer::input);
  if (options.at_output) buffers_[at_home] = Buffer::output;
}

/// The buffer of a location; scratch is declared at its first use.
Buffer Partial::buffer(Location location) {
  Buffer& buffer = buffers_[location];
  if (location != in_input && buffer == Buffer::input)
    buffer = builder_.scratch(run_of_places(0, static_cast<std::uint32_t>(states_.size())));
  return buffer;
}

/// The next inbox that does not hold the sum so far; home if there is none.
Partial::Location Partial::free_inbox(State& state) const {
  for (std::uint32_t tries = 0; tries < options_.inboxes; ++tries) {
    const auto inbox = static_cast<Location>(first_inbox + state.next_inbox);
    state.next_inbox = static_cast<Location>((state.next_inbox + 1u) % options_.inboxes);
    if (inbox != state.where) return inbox;
  }
  return at_home;
}

/// The place to receive a contribution.
Partial::Location Partial::free_place(State& state, OperandOrder side) {
  if (!options_.keeps_order) return state.where == in_input ? at_home : free_inbox(state);
  if (side == OperandOrder::below) return free_inbox(state);
  // Location of the sum afterwards. With n more contributions from above, it alternates so that the last sum
  // is at home.
  const bool home = state.above % 2 == 1 && state.where != at_home;
  if (state.above > 0) --state.above;
  return home ? at_home : free_inbox(state);
}

void Partial::take(Rank peer, std::span<const Place> places, OperandOrder side) {
  std::vector<Range> incoming, left, right, own, own_copy;
  for (const Place place : places) {
    State& state = states_[place];
    if (state.where == nowhere) {
      state.where = at_home;
      append(incoming, buffer(at_home), place);
      continue;
    }
    const bool is_left = side == OperandOrder::below || !options_.keeps_order;  // the contribution
    if (options_.keeps_order && side == OperandOrder::below && state.where == in_input) {
      append(own, Buffer::input, place);
      state.where = state.above % 2 == 0 ? at_home : free_inbox(state);
      append(own_copy, buffer(state.where), place);
    }
    const Location arrives = free_place(state, side);
    append(incoming, buffer(arrives), place);
    const bool stays = is_left && state.where != in_input;  // the sum keeps its location
    append(left, buffer(stays ? arrives : state.where), place);
    append(right, buffer(stays ? state.where : arrives), place);
    if (!stays) state.where = arrives;
  }
  builder_.copy(own, own_copy);
  builder_.recv(peer, incoming);
  builder_.combine(left, right);
}

std::vector<Range> Partial::at(std::span<const Place> places) const {
  std::vector<Range> ranges;
  for (const Place place : places) append(ranges, buffers_[states_[place].where], place);
  return ranges;
}

void Partial::send(Rank peer, std::span<const Place> places) { builder_.send(peer, at(places)); }

void Partial::give(Rank peer, std::span<const Place> places) {
  send(peer, places);
  for (const Place place : places) states_[place].where = nowhere;
}

void Partial::replace(Rank peer, std::span<const Place> places) {
  std::vector<Range> incoming;
  for (const Place place : places) {
    states_[place].where = at_home;
    append(incoming, buffer(at_home), place);
  }
  builder_.recv(peer, incoming);
}

void Partial::settle(std::span<const Place> places) {
  std::vector<Range> from, to;
  for (const Place place : places) {
    State& state = states_[place];
    if (state.where == at_home || state.where == nowhere) continue;
    append(from, buffers_[state.where], place);
    append(to, buffer(at_home), place);
    state.where = at_home;
  }
  builder_.copy(from, to);
}

}  // namespace convene::collective
