// SPDX-License-Identifier: BSD-3-Clause
// LogGPS (Ino, Fujimoto, Hagihara 2001): LogGP with synchronous long messages. From S bytes on, a sender
// waits for its receiver: a request and an answer of one byte each precede the message.
#include "model/logp/loggp.hpp"

namespace convene::model {

namespace {

MessageCost loggps_message_cost(const ModelChannel& channel, double bytes, Burst) {
  const auto& p = channel.get<LogGP>();
  return loggp_cost(p, bytes, p.G);
}

bool is_synchronous(const ModelChannel& channel, double bytes) {
  return bytes >= *channel.get<LogGP>().synchronous_from;
}

bool covers(const ModelChannel& channel) {
  const LogGP* const parameters = channel.find<LogGP>();
  return parameters && parameters->synchronous_from;
}

constexpr MessageModel loggps_messages{.cost = loggps_message_cost, .is_synchronous = is_synchronous};

}  // namespace

constinit const CostModel loggps_model{
    .name = "loggps",
    .summary = "LogGP with a handshake before messages of S bytes or more",
    .source = "Ino, Fujimoto, Hagihara 2001",
    .message = "as loggp; from S bytes on, a request and an answer of one byte each come first",
    .parameters = &loggp_parameters,
    .requires_text = "loggp with S",
    .covers = covers,
    .prepare = prepare_logp,
    .messages = &loggps_messages,
};

}  // namespace convene::model
