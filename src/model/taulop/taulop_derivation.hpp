// SPDX-License-Identifier: BSD-3-Clause
// Derivation of τ-Lop's cost expression from a plan and a mapping.
//
// The rounds of a plan are its stages, in ascending order, on all ranks at a time. If a rank sends or
// receives several messages in a round, they follow each other (assumption A4): the round becomes several
// stages, in which each rank sends at most one message and receives at most one. In a stage
// - a message within a node is a sequence of transfers in memory, one between nodes a copy to the interface,
//   a transfer in the network and a copy from the interface (3.3);
// - the j-th transfers of all messages take place together; those in one node's memory contend with each
//   other, those in the network if they are sent to the same node (section 3.5);
// - the cost of the j-th transfers is that of the worst node, and the maximum over channels (section 5.2.2);
// - transfers of different sizes contend as long as the shorter ones last (A2);
// - the overhead is counted once;
// - two ranks of different nodes that send to each other in a stage have L_sr in the network, if the platform
//   has it;
// - transfers through shared places have L_c, if the platform has it.
// A copy into or from shared places is a separate transfer in memory, and signals cost nothing (section 4.6:
// collective transfers). Source: the τ-Lop thesis; docs/models.md states the choices that the thesis leaves
// open.
#pragma once

#include "model/platform/message_sizes.hpp"
#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_expression.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

struct Derivation {
  TransportModel transport;  ///< its network_channel is taken from the channels
  Rational place = 1;        ///< the part of m that one place holds: 1/4 if blocks are sent in 4 segments
  /// The program's data is noncontiguous: the rank that reads most packs it first, and the one that writes
  /// most unpacks it at the end, Θ = p + … + p (section 3.4).
  bool packed = false;
};

/// The cost of the plan: a sum over stages, in which consecutive equal stages are one with a factor. A stage
/// whose messages have one channel and size is A ∥ T^c(size) (T_sr if ranks also receive), any other the sum
/// of its transfers. The copies of a round precede its stages, its reductions follow them. Sizes that are not
/// uniform are written in bytes.
Expression derive(const Plan& plan, const Mapping& mapping, std::span<const ModelChannel> channels,
                  const Derivation& how = {}, const MessageSizes& sizes = MessageSizes::uniform(1));

}  // namespace convene::model
