// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/given_plan.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "collective/core/spec.hpp"
#include "schedule/read/plan_reader.hpp"

namespace convene::experiment {

namespace {

/// The call that a file describes. Throws Error.
Call call_of(const PlanInfo& info) {
  Call call;
  call.collective = parse_collective(info.collective);
  call.procs = info.procs;
  call.root = info.root;
  call.in_place = info.in_place;
  call.arrivals = info.arrivals;
  if (!is_rooted(call.collective) && info.root != 0)
    throw Error(fmt::format("\"root\" is {}, but {} has no root; leave it out", info.root, info.collective));
  if (!info.graph.empty() && !is_neighborhood(call.collective))
    throw Error(info.collective + " is between all ranks; leave out \"graph\"");
  if (!info.graph.empty()) call.graph = std::make_shared<const Graph>(Graph::parse(info.graph, call.procs));
  return with_graph(std::move(call));
}

std::vector<CallBuffers> buffers_of(Call call, std::uint32_t segments) {
  std::vector<CallBuffers> buffers;
  std::uint64_t total = 0;
  for (call.rank = 0; call.rank < call.procs; ++call.rank) {
    const Places size = places(call, segments);
    buffers.push_back({size.input, size.output});
    total += std::uint64_t{size.input} + size.output;
  }
  if (total > most_checked_places)
    throw Error(fmt::format("the call has {} places, more than {}; use fewer processes or segments", total,
                            most_checked_places));
  return buffers;
}

}  // namespace

Naming naming(Collective collective) {
  if (collective == Collective::barrier) return Naming::empty;
  switch (traits(collective).postcondition) {
    case Postcondition::scatter:
      return Naming::target;
    case Postcondition::bcast:
      return Naming::segment;
    case Postcondition::alltoall:
    case Postcondition::neighbor_alltoall:
      return Naming::pair;
    case Postcondition::neighbor_allgather:
      return Naming::neighbor;
    default:
      return Naming::source;
  }
}

GivenPlan::GivenPlan(std::string_view text, const std::string& file) : file_(file) {
  const PlanReader reader(text, file);
  info_ = reader.info();
  std::vector<CallBuffers> buffers;
  try {
    call_ = call_of(info_);
    buffers = buffers_of(call_, info_.segments);
  } catch (const Error& error) {
    throw Error(file + ": " + error.what());
  }
  info_.naming = naming(call_.collective);
  if (is_neighborhood(call_.collective)) info_.peers = call_.graph->most_targets();
  plan_ = reader.read(buffers, call_.collective == Collective::barrier);
  verdict_ = schedule::check(plan_, contract());
}

Verdict GivenPlan::verdict_in_order() const {
  Call call = call_;
  call.commutative = false;
  return schedule::check(plan_, collective::contract(call, info_.segments));
}

const Plan& GivenPlan::plan() const {
  if (!verdict_.ok())
    throw Error(fmt::format("{} is no correct {}: {}", file_, info_.collective, verdict_.why));
  return plan_;
}

}  // namespace convene::experiment
