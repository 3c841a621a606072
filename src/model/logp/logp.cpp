// SPDX-License-Identifier: BSD-3-Clause
// LogP (Culler et al. 1993): every message is small, LogGP with G = 0.
#include "model/logp/loggp.hpp"

namespace convene::model {

namespace {

MessageCost logp_message_cost(const ModelChannel& channel, double bytes, Burst) {
  return loggp_cost(channel.get<LogGP>(), bytes, 0);
}

constexpr MessageModel logp_messages{.cost = logp_message_cost};

}  // namespace

constinit const CostModel logp_model{
    .name = "logp",
    .summary = "small messages: their size is ignored",
    .source = "Culler et al. 1993",
    .message = "o_s + L + o_r",
    .processor = "o_s, o_r",
    .port = "g",
    .parameters = &loggp_parameters,
    .covers = has_set<LogGP>,
    .prepare = prepare_logp,
    .messages = &logp_messages,
};

}  // namespace convene::model
