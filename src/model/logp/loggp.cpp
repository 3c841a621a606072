// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/loggp.hpp"

#include <algorithm>

namespace convene::model {

namespace {

std::any read_loggp(const JsonField& field, const ParameterReader& reader) {
  field.object({"L", "o", "o_s", "o_r", "g", "G", "S"});
  if (field.has("o") == (field.has("o_s") || field.has("o_r")))
    field.refuse("needs either o, or o_s and o_r");
  LogGP result{.L = reader.time(field["L"]),
               .send_overhead = reader.time(field[field.has("o") ? "o" : "o_s"]),
               .recv_overhead = reader.time(field[field.has("o") ? "o" : "o_r"]),
               .g = reader.time(field["g"]),
               .G = field.has("G") ? reader.time(field["G"]) : 0};
  if (field.has("S")) result.synchronous_from = field["S"].size();
  return result;
}

MessageCost loggp_message_cost(const ModelChannel& channel, double bytes, Burst) {
  const auto& p = channel.get<LogGP>();
  return loggp_cost(p, bytes, p.G);
}

constexpr MessageModel loggp_messages{.cost = loggp_message_cost};

}  // namespace

/// o_s, then m − 1 gaps G, then L, then o_r. Ports are busy for g + (m − 1)·G.
MessageCost loggp_cost(const LogGP& p, double bytes, double G) {
  const double stream = std::max(0.0, bytes - 1) * G;
  return {.send_busy = p.send_overhead,
          .send_port = p.g + stream,
          .send_done = p.send_overhead + stream,
          .flight = p.send_overhead + stream + p.L,
          .recv_busy = p.recv_overhead,
          .recv_port = p.g + stream};
}

constinit const ParameterSet loggp_parameters{.field = "loggp", .read = read_loggp};

constinit const CostModel loggp_model{
    .name = "loggp",
    .summary = "LogP for long messages; with parameters for each channel, LogGPH",
    .source = "Alexandrov et al. 1997; LogGPH: Yuan et al. 2010",
    .message = "o_s + (m − 1)G + L + o_r",
    .processor = "o_s, o_r",
    .port = "g + (m − 1)G",
    .parameters = &loggp_parameters,
    .covers = has_set<LogGP>,
    .prepare = prepare_logp,
    .messages = &loggp_messages,
};

}  // namespace convene::model
