// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/plogp.hpp"

#include <algorithm>

#include "model/logp/message_model.hpp"

namespace convene::model {

namespace {

std::any read_plogp(const JsonField& field, const ParameterReader& reader) {
  field.object({"L", "o_s", "o_r", "g"});
  return PLogP{.L = reader.time(field["L"]),
               .send_overhead = reader.non_decreasing(field["o_s"]),
               .recv_overhead = reader.non_decreasing(field["o_r"]),
               .gap = reader.non_decreasing(field["g"])};
}

/// L + g(m), of which the last o_r(m) are the receiver's. Ports are busy for g(m).
MessageCost plogp_message_cost(const ModelChannel& channel, double bytes, Burst) {
  const auto& p = channel.get<PLogP>();
  const double gap = p.gap(bytes), recv = p.recv_overhead(bytes);
  return {.send_busy = p.send_overhead(bytes),
          .send_port = gap,
          .send_done = p.send_overhead(bytes),
          .flight = std::max(0.0, p.L + gap - recv),
          .recv_busy = recv,
          .recv_port = std::max(0.0, gap - recv),
          .recv_port_behind = recv};
}

constexpr ParameterSet plogp_parameters{.field = "plogp", .read = read_plogp};
constexpr MessageModel plogp_messages{.cost = plogp_message_cost};

}  // namespace

constinit const CostModel plogp_model{
    .name = "plogp",
    .summary = "LogP with overheads and gap as functions of the size",
    .source = "Kielmann, Bal, Verstoep 2000",
    .message = "L + g(m)",
    .processor = "o_s(m), o_r(m)",
    .port = "g(m)",
    .parameters = &plogp_parameters,
    .covers = has_set<PLogP>,
    .prepare = prepare_logp,
    .messages = &plogp_messages,
};

}  // namespace convene::model
