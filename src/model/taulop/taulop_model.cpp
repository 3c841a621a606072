// SPDX-License-Identifier: BSD-3-Clause
// τ-Lop as a cost model: its parameters in platform files, and predictions from the cost expression of a
// plan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/platform/cost_model.hpp"
#include "model/platform/message_sizes.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/taulop_derivation.hpp"
#include "model/taulop/taulop_parameters.hpp"
#include "model/taulop/transport_model.hpp"

namespace convene::model {

namespace {

std::string read_transport(const JsonField& field) {
  const std::vector<std::string_view> known = transport_names();
  const std::string name = field.text();
  if (std::ranges::find(known, name) == known.end())
    field.refuse("is wrong: " + no_such("transport", name, known));
  return name;
}

std::any read_taulop(const JsonField& field, const ParameterReader& reader) {
  field.object({"o", "L", "L_sr", "L_c", "transport", "segment"});
  TauLop result{.overhead = reader.non_decreasing(field["o"])};
  if (field.has("transport")) result.transport = read_transport(field["transport"]);
  if (field.has("segment")) result.segment = field["segment"].whole(1);
  if (result.transport == "segments" && result.segment == 0)
    field.refuse("lacks 'segment', the bytes of a segment of the transport");
  result.transfer = reader.table_by_tau(field["L"]);
  if (field.has("L_sr")) result.exchange = reader.table_by_tau(field["L_sr"]);
  if (field.has("L_c")) result.shared = reader.table_by_tau(field["L_c"]);
  return result;
}

void check_kinds(const TauLop& parameters, bool is_memory, bool is_network, const JsonField& field) {
  if (!parameters.exchange.empty() && !is_network)
    field["L_sr"].refuse("is for a network, where ranks of different nodes send to each other");
  if (!parameters.shared.empty() && !is_memory)
    field["L_c"].refuse("is for the memory that all ranks of a node share");
}

void check_transport(const std::string& transport, bool is_network, const JsonField& field) {
  try {
    if (is_network)
      parse_network_transport(transport);
    else
      parse_memory_transport(transport);
  } catch (const Error& error) {
    field.refuse(std::string("is invalid here: ") + error.what());
  }
}

/// transport_of() reads the channel of all ranks of a node, and the last one: other channels must agree with
/// these.
void check(const ModelPlatform& platform, const JsonField& channels) {
  const std::size_t network = network_channel(platform.channels), memory = network - 1;
  for (std::size_t i = 0; i < platform.channels.size(); ++i) {
    const TauLop* const parameters = platform.channels[i].find<TauLop>();
    if (!parameters) continue;
    const bool is_network = i >= network;
    const JsonField field = channels[i]["taulop"];
    check_kinds(*parameters, i == memory, is_network, field);
    if (parameters->transport.empty() && parameters->segment == 0) continue;
    const ModelChannel& leading = is_network ? platform.channels.back() : platform.channels[memory];
    const TauLop* const lead = leading.find<TauLop>();
    if (lead && (lead->transport != parameters->transport || lead->segment != parameters->segment))
      field.refuse(fmt::format(
          "has another transport, or other segments, than the channel {}, from which these are taken",
          in_quotes(leading.name)));
    if (!parameters->transport.empty())
      check_transport(parameters->transport, is_network, field["transport"]);
  }
}

class TauLopPlanCost : public PlanCost {
 public:
  explicit TauLopPlanCost(const PlanRequest& request) : platform_(request.platform) {
    const TransportModel small = transport_of(platform_, 0), large = transport_of(platform_, INFINITY);
    short_ = derive(request, small);
    if (!is_segmented(large.memory)) return;
    segmented_ = derive(request, large);
    const MessageSizes sizes = MessageSizes::uniform(1);
    for (const Schedule& schedule : request.plan)
      for (StepId step = 0; step < schedule.size(); ++step)
        if (schedule[step].kind == StepKind::send)
          largest_ = std::max(largest_, sizes.bytes(schedule, step) * request.place.value());
  }

  /// The largest message decides whether messages are segmented; the cost of those of one segment is the same
  /// in both forms.
  double seconds(double bytes) const override {
    const TransportModel transport = transport_of(platform_, bytes * largest_);
    return evaluate(is_segmented(transport.memory) ? segmented_ : short_, platform_, bytes, transport,
                    segment_of(platform_));
  }

 private:
  static Expression derive(const PlanRequest& request, const TransportModel& transport) {
    return model::derive(request.plan, request.mapping, request.platform.channels,
                         {.transport = transport, .place = request.place, .packed = request.packed});
  }

  const ModelPlatform& platform_;
  Expression short_, segmented_;  // with messages as a whole, and in segments
  double largest_ = 0;            // message, in units of m; 0 if nothing is segmented
};

std::unique_ptr<PlanCost> prepare(const CostModel&, const PlanRequest& request) {
  return std::make_unique<TauLopPlanCost>(request);
}

constexpr ParameterSet taulop_parameters{.field = "taulop", .read = read_taulop, .check = check};

}  // namespace

constinit const CostModel taulop_model{
    .name = "taulop",
    .summary = "τ-Lop: transfers that contend in memory and in the network, as an expression and as a time",
    .source = "Rico-Gallego 2015",
    .message = "o(m) + its transfers L(m, τ), beside those of other messages",
    .processor = "c(m, τ), γ(m, τ)",
    .parameters = &taulop_parameters,
    .covers = has_set<TauLop>,
    .prepare = prepare,
    .has_packing = true,
};

}  // namespace convene::model
