// SPDX-License-Identifier: BSD-3-Clause
// What one message costs its two ends under each model of the LogP family, in one form that can be played.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/platform/model_platform.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::model {

enum class Model : std::uint8_t { hockney, logp, loggp, loggps, logfp, plogp, lognp };

inline constexpr Model all_models[] = {Model::hockney, Model::logp,  Model::loggp, Model::loggps,
                                       Model::logfp,   Model::plogp, Model::lognp};

std::string_view name(Model model);
/// Throws Error.
Model parse_model(std::string_view name);

/// Seconds. A send that starts at time t occupies the sender's processor until t + send_busy and its port until
/// t + send_port; the message can be received from t + flight on. A receive that starts at time r occupies the
/// receiver's port from r − recv_port to r + recv_port_behind and its processor until r + recv_busy; then the message
/// is there.
struct MessageCost {
  double send_busy = 0;
  double send_port = 0;
  double send_done = 0;  ///< from the start until the sender may change the data
  double flight = 0;
  double recv_busy = 0;
  double recv_port = 0, recv_port_behind = 0;
  double burst_gap =
      0;  ///< LogfP: message i of a burst (from 0) starts no earlier than (i + 1 − free)·gap after it
  std::uint32_t free = 0;  ///< LogfP: messages of a burst without gap
};

/// `burst`: how many messages the sender sends, and the receiver receives, in one go (LogfP only).
struct Burst {
  std::uint32_t sent = 1, received = 1;
};

/// The cost of a message of so many bytes. The channel must have the model's parameters: require_parameters().
///   hockney  the ports of both ends are busy for α + β·m, and nothing else is
///   logp     every message is one of LogP's small ones: LogGP with G = 0
///   loggp    o_s, then m − 1 gaps G, then L, then o_r; ports keep g + (m − 1)·G
///   loggps   as loggp; is_synchronous() says which messages are preceded by a question and an answer
///   logfp    o_s(n), L, o_r(n) without a size; the gap holds for messages beyond the f-th of a burst
///   plogp    L + g(m), of which the last o_r(m) are the receiver's; ports keep g(m)
///   lognp    the transfers one after the other, the first the sender's work, the last the receiver's
MessageCost cost(Model model, const Channel& channel, double bytes, Burst burst = {});

/// LogGPS: whether the sender asks first.
bool is_synchronous(Model model, const Channel& channel, double bytes);

/// What a step costs its rank that neither sends nor receives: a copy, or else the reduction of two vectors.
double local_cost(const Platform& platform, StepKind kind, double bytes);
/// γ, on τ ranks of a node at a time. Throws Error where the platform does not know.
double computation_cost(const Platform& platform, double bytes, std::uint32_t tau = 1);

/// Whether all channels have the model's parameters. require_parameters() throws Error where not.
bool has_parameters(Model model, const Platform& platform);
void require_parameters(Model model, const Platform& platform);

}  // namespace convene::model
