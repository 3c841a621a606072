// SPDX-License-Identifier: BSD-3-Clause
// τ-Lop: the cost expression of a plan on a mapping.
//
// The rounds of a plan are its stages, in ascending order, all ranks in step. Where a rank sends or receives several
// messages in a round, they go one after the other (assumption A4): the round falls into stages in which each rank
// sends at most one message and receives at most one. In a stage
//   a message within a node is a sequence of transfers in memory, one between nodes a copy to the interface, a transfer
//   in the network and a copy from the interface (3.3);
//   the j-th transfers of all messages take place together; those in one node's memory contend with each other, those
//   in the network where they come to the same node (section 3.5);
//   the j-th transfers cost what the worst node costs, and the maximum over channels (section 5.2.2);
//   transfers of different sizes contend as long as the shorter ones last (A2);
//   the overhead is counted once;
//   two ranks of different nodes that send to each other in a stage have L_sr in the network, where the platform has one;
//   likewise L_c for what goes through shared places.
// A copy into or from shared places is a transfer in memory of its own, and signals cost nothing (section 4.6: collective
// transfers).
// Source: the τ-Lop thesis; where it is silent, docs/models.md says what was chosen.
#pragma once

#include "model/logp/message_sizes.hpp"
#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_expression.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

struct Derivation {
  Transport transport;  ///< its network_channel is set to what the platform has
  Rational place = 1;   ///< what part of m one place holds: 1/4 where blocks are sent in 4 segments
  /// The program's data does not lie in one piece: the rank that gives most packs it first, and the one that gets most
  /// unpacks it in the end, Θ = p + … + p (section 3.4).
  bool packed = false;
};

/// The cost of the plan: a sum over stages, equal ones in sequence as one with a factor. A stage whose messages are all
/// of one kind is written A ∥ T^c(size) (T_sr where ranks also receive), any other by its transfers. Copies that ranks
/// make in a round stand before its stages, reductions behind them. `sizes` other than uniform ones are written in bytes.
Expression derive(const Plan& plan, const Mapping& mapping, std::span<const Channel> channels,
                  const Derivation& how = {}, const MessageSizes& sizes = MessageSizes::uniform(1));

/// Several transfers of given sizes that start together in one channel: by A2, n ∥ L(shortest) + (n − 1) ∥ L(next −
/// shortest) + …
Expression concurrent_transfers(std::uint32_t channel, std::vector<Size> sizes, Sort sort = Sort::message);

}  // namespace convene::model
