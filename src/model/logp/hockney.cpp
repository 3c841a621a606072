// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/hockney.hpp"

#include "model/logp/message_model.hpp"

namespace convene::model {

namespace {

std::any read_hockney(const JsonField& field, const ParameterReader& reader) {
  field.object({"alpha", "beta"});
  return Hockney{.alpha = reader.time(field["alpha"]), .beta = reader.time(field["beta"])};
}

/// Only the ports are busy: those of both ends, for the whole message.
MessageCost hockney_message_cost(const ModelChannel& channel, double bytes, Burst) {
  const auto& p = channel.get<Hockney>();
  const double time = p.alpha + p.beta * bytes;
  return {.send_port = time, .send_done = time, .flight = time, .recv_port = time};
}

constexpr ParameterSet hockney_parameters{.field = "hockney", .read = read_hockney};
constexpr MessageModel hockney_messages{.cost = hockney_message_cost};

}  // namespace

constinit const CostModel hockney_model{
    .name = "hockney",
    .summary = "latency and bandwidth; with the platform's computation the α-β-γ model",
    .source = "Hockney 1994",
    .message = "α + βm",
    .port = "α + βm, on both sides",
    .parameters = &hockney_parameters,
    .covers = has_set<Hockney>,
    .prepare = prepare_logp,
    .messages = &hockney_messages,
};

}  // namespace convene::model
