// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/lognp.hpp"

#include "model/logp/message_model.hpp"

namespace convene::model {

namespace {

std::any read_lognp(const JsonField& field, const ParameterReader& reader) {
  field.object({"transfers"});
  LogNP result;
  const JsonField list = field["transfers"];
  if (list.list() < 2) list.refuse("needs at least two transfers, the sender's and the receiver's");
  for (std::size_t i = 0; i < list.list(); ++i) result.transfers.push_back(reader.non_decreasing(list[i]));
  return result;
}

MessageCost lognp_message_cost(const ModelChannel& channel, double bytes, Burst) {
  const auto& p = channel.get<LogNP>();
  double before_last = 0;
  for (std::size_t i = 0; i + 1 < p.transfers.size(); ++i) before_last += p.transfers[i](bytes);
  const double first = p.transfers.front()(bytes);
  return {.send_busy = first,
          .send_port = first,
          .send_done = first,
          .flight = before_last,
          .recv_busy = p.transfers.back()(bytes)};
}

constexpr ParameterSet lognp_parameters{.field = "lognp", .read = read_lognp};
constexpr MessageModel lognp_messages{.cost = lognp_message_cost};

}  // namespace

constinit const CostModel lognp_model{
    .name = "lognp",
    .summary = "log_nP: the transfers of a message; with parameters for each channel, mlog_nP",
    .source = "Cameron et al. 2007; mlog_nP: Tu et al. 2012",
    .message = "the sum of its transfers",
    .processor = "the first transfer, the last one",
    .port = "the first transfer",
    .parameters = &lognp_parameters,
    .covers = has_set<LogNP>,
    .prepare = prepare_logp,
    .messages = &lognp_messages,
};

}  // namespace convene::model
