// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/logfp.hpp"

#include "model/logp/message_model.hpp"

namespace convene::model {

namespace {

/// Overheads fall to a least value: beyond their last point they are constant.
std::any read_logfp(const JsonField& field, const ParameterReader& reader) {
  field.object({"L", "g", "f", "o_s", "o_r"});
  return LogfP{.L = reader.time(field["L"]),
               .g = reader.time(field["g"]),
               .free = field["f"].whole(0),
               .send_overhead = reader.function(field["o_s"]).levelled(),
               .recv_overhead = reader.function(field["o_r"]).levelled()};
}

/// o_s(n), L, o_r(n′), whatever the size. The gap follows messages beyond the f-th of a burst.
MessageCost logfp_message_cost(const ModelChannel& channel, double, Burst burst) {
  const auto& p = channel.get<LogfP>();
  const double send = p.send_overhead(burst.sent);
  return {.send_busy = send,
          .send_done = send,
          .flight = send + p.L,
          .recv_busy = p.recv_overhead(burst.received),
          .burst_gap = p.g,
          .free = p.free};
}

constexpr ParameterSet logfp_parameters{.field = "logfp", .read = read_logfp};
constexpr MessageModel logfp_messages{.cost = logfp_message_cost, .depends_on_bursts = true};

}  // namespace

constinit const CostModel logfp_model{
    .name = "logfp",
    .summary = "small messages in bursts, as on InfiniBand",
    .source = "Hoefler et al. 2006",
    .message = "o_s(n) + L + o_r(n′)",
    .processor = "o_s(n), o_r(n′)",
    .port = "g, after the f-th message of a burst",
    .parameters = &logfp_parameters,
    .covers = has_set<LogfP>,
    .prepare = prepare_logp,
    .messages = &logfp_messages,
};

}  // namespace convene::model
