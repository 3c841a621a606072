// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/schedule_request.hpp"

#include "base/error.hpp"
#include "base/names.hpp"
#include "experiment/plan_extent.hpp"
#include "experiment/spec_requirements.hpp"
#include "schedule/print/svg/print_svg.hpp"
#include "topology/mapping.hpp"

namespace convene::experiment {

namespace {

constexpr std::uint64_t most_requested_steps = 1u << 24;  // of all ranks together: about half a gigabyte

/// A forecast has one arrival for each rank, and an algorithm that uses it.
void check_arrivals(const std::vector<std::int32_t>& arrivals, Collective collective, const Spec& spec,
                    Rank procs) {
  if (arrivals.empty()) return;
  const Algorithm& algorithm = *spec.algorithm;
  if (arrival_source(spec) == ArrivalSource::none) {
    std::vector<std::string_view> users;
    for (const Algorithm* each : catalogue(collective))
      if (each->arrival_source != ArrivalSource::none) users.push_back(each->name);
    throw Error(std::string(algorithm.name) + " uses no arrivals; of " + std::string(name(collective)) +
                " these use them: " + (users.empty() ? "none" : joined(users)));
  }
  if (arrivals.size() != procs)
    throw Error("a forecast needs one arrival for each of the " + std::to_string(procs) + " processes, not " +
                std::to_string(arrivals.size()));
  for (const std::int32_t arrival : arrivals)
    if (arrival < 0) throw Error("an arrival must be 0 or more, not " + std::to_string(arrival));
}

}  // namespace

void require_same_call(const GivenPlan& given, const std::string& collective, Rank procs, Rank root) {
  const PlanInfo& info = given.info();
  const auto require = [&](const char* what, const std::string& has, const std::string& wanted) {
    if (has != wanted)
      throw Error(given.file() + " is a schedule with " + what + " " + has + ", not " + wanted +
                  "; make them agree");
  };
  require("collective", info.collective, collective);
  require("procs", std::to_string(info.procs), std::to_string(procs));
  require("root", std::to_string(info.root), std::to_string(root));
}

RequestedPlan::RequestedPlan(const ScheduleRequest& request) : given_(request.given) {
  if (given_) {
    require_same_call(*given_, request.collective, request.procs, request.root);
    call_ = given_->call();
    return;
  }
  call_.collective = parse_collective(request.collective);
  call_.commutative = request.commutative;
  spec_ = parse_spec(call_.collective, request.spec);
  require_schedules(spec_, request.procs, "; choose one that convene list shows");
  require_root(request.root, request.procs);
  call_.procs = request.procs;
  call_.root = request.root;
  call_.in_place = request.in_place;
  call_.parameters = spec_.parameters;
  call_.parts = spec_.parts;
  call_.nodes = nodes_of(*spec_.algorithm, request.procs, request.machine, request.placement);
  call_.domains = domains_of(spec_, request.procs, request.machine, request.placement);
  require_met(spec_, call_);
  check_arrivals(request.arrivals, call_.collective, spec_, request.procs);
  call_.arrivals = request.arrivals;
  if (request.graph.empty()) return;
  if (!is_neighborhood(call_.collective))
    throw Error(request.collective + " has no neighbours; leave out the graph '" + request.graph + "'");
  graph_ = request.graph;
  call_.graph = std::make_shared<const Graph>(Graph::parse(request.graph, request.procs));
}

Plan RequestedPlan::plan() const {
  if (given_) return given_->plan();
  require_few_steps();
  return build_plan(*spec_.algorithm, call_);
}

Plan RequestedPlan::plan_with_contents() const {
  if (given_) return given_->plan();
  require_few_steps();
  require_few_places();
  return build_plan(*spec_.algorithm, call_);
}

void RequestedPlan::require_few_steps() const {
  const Extent extent = expected_extent(*spec_.algorithm, call_, most_requested_steps);
  if (const std::string refusal = extent.refusal("this plan", most_requested_steps); !refusal.empty())
    throw Error(refusal);
}

void RequestedPlan::require_few_places() const {
  const std::uint64_t places = std::uint64_t{call_.procs} * call_.procs * segments();
  if (places > most_checked_places)
    throw Error("this plan needs " + std::to_string(places) + " places, more than " +
                std::to_string(most_checked_places) + "; use fewer processes, or --format json");
}

PlanInfo RequestedPlan::info() const {
  if (given_) return given_->info();
  PlanInfo result{std::string(name(call_.collective)), std::string(spec_.algorithm->name), call_.procs,
                  call_.root};
  for (std::size_t i = 0; i < spec_.algorithm->parameters.size(); ++i) {
    const Parameter& parameter = spec_.algorithm->parameters[i];
    result.parameters.emplace_back(parameter.name, parameter_text(parameter, spec_.parameters[i]));
  }
  for (const auto& [name, text] : part_texts(spec_)) result.parameters.emplace_back(name, text);
  result.segments = segments();
  result.naming = naming(call_.collective);
  if (is_neighborhood(call_.collective)) result.peers = with_graph(call_).graph->most_targets();
  result.arrivals = call_.arrivals;
  result.in_place = call_.in_place;
  result.graph = graph_;
  return result;
}

Verdict check_requested(const ScheduleRequest& request) {
  if (request.given) {
    require_same_call(*request.given, request.collective, request.procs, request.root);
    return request.commutative ? request.given->verdict() : request.given->verdict_in_order();
  }
  const RequestedPlan requested(request);
  const Plan plan = requested.plan_with_contents();  // first: it refuses what would be too large
  return schedule::check(plan, requested.contract());
}

std::string draw_requested(const ScheduleRequest& request, bool rings,
                           const std::vector<std::uint32_t>& rounds, double width) {
  const RequestedPlan requested(request);
  SvgOptions options{.rings = rings, .node_of_rank = {}, .rounds = rounds, .width = width};
  if (!request.machine.empty() || !request.placement.empty())
    options.node_of_rank = Mapping::parse(request.machine, request.placement, request.procs).node_of_rank();
  const Plan plan = requested.plan_with_contents();  // first: it refuses what would be too large
  return to_svg(plan, requested.info(), requested.contract(), options);
}

}  // namespace convene::experiment
