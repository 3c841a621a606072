// SPDX-License-Identifier: BSD-3-Clause
// A rank's partial result of a reduction: where each place of it stands, and where the next contribution can
// come without a copy. Algorithms say from whom contributions come; this keeps left and right apart.
#pragma once

#include <span>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// Puts a place behind others, as a part of the last range where it goes on with it.
void append(std::vector<Range>& ranges, Buffer buffer, Place place);

/// Whether a contribution is one of ranks above all those that are combined already, or below.
enum class OperandOrder : std::uint8_t { below, above };

/// The places first, first + 1, … of the vector.
std::vector<Place> run_of_places(Place first, std::uint32_t count = 1);

/// Every place is at first the rank's own contribution, in the input (under MPI_IN_PLACE in the output).
/// Contributions are received into `home` or an inbox, both as long as the vector, and combined there.
///
/// Where the order is kept, what comes from above is the right operand, and the sum ends where it was
/// received; what comes from below is the left one. An own contribution that is still in the input is copied
/// before something is combined to its left. The places alternate so that the last sum ends at home, if it is
/// known how many come from above.
class Partial {
 public:
  struct Options {
    bool at_output = false;  ///< home is the output; else it is scratch
    bool keeps_order =
        false;  ///< the operator does not commute, or the brackets must be the same on all ranks
    std::uint32_t above = 0;    ///< contributions that come from above, to each place
    std::uint32_t inboxes = 1;  ///< how many contributions can be on their way to one place
  };

  Partial(const Call& call, Builder& builder, std::uint32_t places, const Options& options);

  /// For one place alone.
  void expect_above(Place place, std::uint32_t number) { states_[place].above = number; }

  /// Receives places from a rank and combines them.
  void take(Rank peer, std::span<const Place> places, OperandOrder side);
  /// Sends places as they are so far.
  void send(Rank peer, std::span<const Place> places);
  /// Sends places and holds nothing in them any more: what comes next replaces them.
  void give(Rank peer, std::span<const Place> places);
  /// Receives places that replace what is held.
  void replace(Rank peer, std::span<const Place> places);
  /// Brings places home, where they are not.
  void settle(std::span<const Place> places);
  /// Where places are now.
  std::vector<Range> at(std::span<const Place> places) const;

  void take(Rank peer, Place place, OperandOrder side) { take(peer, std::span(&place, 1), side); }
  void send(Rank peer, Place place) { send(peer, std::span(&place, 1)); }
  void give(Rank peer, Place place) { give(peer, std::span(&place, 1)); }
  void replace(Rank peer, Place place) { replace(peer, std::span(&place, 1)); }

 private:
  // Where a place stands; from first_inbox on, an inbox.
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
  std::vector<Buffer> buffers_;  // by location; Buffer::input where there is none yet
};

}  // namespace convene::collective
