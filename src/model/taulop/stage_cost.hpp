// SPDX-License-Identifier: BSD-3-Clause
// Stages of a plan in τ-Lop, and their costs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/platform/model_platform.hpp"
#include "model/platform/rational.hpp"
#include "model/taulop/cost_expression.hpp"
#include "model/taulop/transport_model.hpp"

namespace convene::model {

struct StageMessage {
  Rank from, to;
  std::uint32_t channel;
  Rational size;              ///< in units of the derivation
  bool is_exchanged = false;  ///< its receiver sends to its sender in the same stage, and the channel's
                              ///< parameters differ then
};

/// A stage: each rank sends at most one of its messages and receives at most one.
using Stage = std::vector<StageMessage>;

/// Assigns each message to the first stage in which its two ranks have none yet.
std::vector<Stage> stages_of(const std::vector<StageMessage>& messages, Rank procs,
                             std::span<const ModelChannel> channels);

/// The transfers that contend with each other: sizes, ascending, and the number of transfers of each.
struct Load {
  std::vector<std::pair<Rational, std::uint32_t>> transfers;
  bool has_exchanges = false;
};

class StageCost {
 public:
  /// `unit`: the symbol of sizes.
  StageCost(const ChannelMap& channels, const TransportModel& transport, std::string unit);

  Expression of(const Stage& stage) const;

 private:
  bool is_network(std::uint32_t channel) const { return channel >= transport_.network_channel; }
  Size size(Rational count) const { return {count, unit_}; }
  std::vector<std::uint32_t> transfers(std::uint32_t channel) const;
  Expression of_one_channel(const Stage& stage, std::uint32_t channel) const;
  std::map<std::uint32_t, std::vector<Load>> worst_loads(const Stage& stage, std::size_t j) const;
  Expression by_transfers(const Stage& stage) const;
  Expression overhead(const Stage& stage) const;
  Expression transfer(std::uint32_t channel, const Load& load) const;

  const ChannelMap& channels_;
  const TransportModel transport_;
  const std::string unit_;
  // By channel of the message: the channels of its transfers.
  std::vector<std::vector<std::uint32_t>> transfers_;
};

}  // namespace convene::model
