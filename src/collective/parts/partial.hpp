// SPDX-License-Identifier: BSD-3-Clause
// Partial results of a reduction: the location of each place on a rank, and where the next contribution can
// be received without a copy. Algorithms state the source of contributions; this class orders the operands.
#pragma once

#include <span>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// Appends a place to ranges; extends the last range if the place continues it.
void append(std::vector<Range>& ranges, Buffer buffer, Place place);

/// Order of a contribution: from ranks above all those already combined, or below.
enum class OperandOrder : std::uint8_t { below, above };

/// The places first, first + 1, … of the vector.
std::vector<Place> run_of_places(Place first, std::uint32_t count = 1);

/// Every place is at first the rank's own contribution, in the input (under MPI_IN_PLACE in the output).
/// Contributions are received into `home` or an inbox, both as long as the vector, and combined there.
///
/// If the order is kept, a contribution from above is the right operand, and the sum ends where it was
/// received; one from below is the left operand. An own contribution that is still in the input is copied
/// before it is combined as the right operand. The locations alternate so that the last sum ends at home, if
/// the number of contributions from above is known.
class Partial {
 public:
  struct Options {
    bool at_output = false;  ///< home is the output; else it is scratch
    bool keeps_order =
        false;  ///< the operator does not commute, or all ranks must combine in the same expression
    std::uint32_t above = 0;    ///< contributions from above, per place
    std::uint32_t inboxes = 1;  ///< the number of contributions in flight to one place
  };

  Partial(const Call& call, Builder& builder, std::uint32_t places, const Options& options);

  /// The same for a single place.
  void expect_above(Place place, std::uint32_t number) { states_[place].above = number; }

  /// Receives places from a rank and combines them.
  void take(Rank peer, std::span<const Place> places, OperandOrder side);
  /// Sends the current partial results of places.
  void send(Rank peer, std::span<const Place> places);
  /// Sends places and discards their contents: the next contribution replaces them.
  void give(Rank peer, std::span<const Place> places);
  /// Receives places; they replace the current contents.
  void replace(Rank peer, std::span<const Place> places);
  /// Moves places home if they are elsewhere.
  void settle(std::span<const Place> places);
  /// The current location of places.
  std::vector<Range> at(std::span<const Place> places) const;

  void take(Rank peer, Place place, OperandOrder side) { take(peer, std::span(&place, 1), side); }
  void send(Rank peer, Place place) { send(peer, std::span(&place, 1)); }
  void give(Rank peer, Place place) { give(peer, std::span(&place, 1)); }
  void replace(Rank peer, Place place) { replace(peer, std::span(&place, 1)); }

 private:
  // Location of a place; from first_inbox on, an inbox.
  using Location = std::uint8_t;
  static constexpr Location in_input = 0, at_home = 1, first_inbox = 2, nowhere = 0xff;

  struct State {
    Location where = in_input;
    Location next_inbox = 0;
    std::uint32_t above = 0;
  };

  Location free_inbox(State& state) const;
  Location free_place(State& state, OperandOrder side);
  Buffer buffer(Location location);

  Builder& builder_;
  const Options options_;
  std::vector<State> states_;
  std::vector<Buffer> buffers_;  // by location; Buffer::input if not declared yet
};

}  // namespace convene::collective
