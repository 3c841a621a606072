// SPDX-License-Identifier: BSD-3-Clause
// Message models: what one message costs its two ends under a model of the LogP family, in one form for all
// of them.
#pragma once

#include <cstdint>
#include <memory>

#include "model/platform/cost_model.hpp"

namespace convene::model {

/// Seconds. A send that starts at time t occupies the sender's processor until t + send_busy and its port
/// until t + send_port; the message can be received from t + flight on. A receive that starts at time r
/// occupies the receiver's port from r − recv_port to r + recv_port_behind and its processor until
/// r + recv_busy; then it is complete.
struct MessageCost {
  double send_busy = 0;
  double send_port = 0;
  double send_done = 0;  ///< from the start until the sender may change the data
  double flight = 0;
  double recv_busy = 0;
  double recv_port = 0, recv_port_behind = 0;
  double burst_gap =
      0;  ///< message i of a burst (from 0) starts no earlier than (i + 1 − free)·gap after the first
  std::uint32_t free = 0;  ///< messages of a burst without gap
  bool operator==(const MessageCost&) const = default;
};

/// The number of messages that the sender sends, and the receiver receives, in one burst.
struct Burst {
  std::uint32_t sent = 1, received = 1;
  bool operator==(const Burst&) const = default;
};

struct MessageModel {
  /// The cost of a message of `bytes` bytes. The channel must have the model's parameters.
  MessageCost (*cost)(const ModelChannel& channel, double bytes, Burst burst);
  /// The sender of such a message waits for the receiver: a request and its answer, of one byte each, precede
  /// it. Null: never.
  bool (*is_synchronous)(const ModelChannel& channel, double bytes) = nullptr;
  bool depends_on_bursts = false;
};

/// CostModel::prepare of the LogP family: evaluate_logp_plan() for every size.
std::unique_ptr<PlanCost> prepare_logp(const CostModel& model, const PlanRequest& request);

}  // namespace convene::model
