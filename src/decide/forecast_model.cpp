// SPDX-License-Identifier: BSD-3-Clause
#include "decide/forecast_model.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "collective/hierarchy/by_arrival.hpp"
#include "decide/selection.hpp"
#include "decide/trial_candidates.hpp"
#include "model/logp/loggp.hpp"
#include "model/logp/logp_evaluation.hpp"

namespace convene::decide {
namespace {

Mapping mapping_on(std::span<const Rank> node_of_rank) {
  std::string nodes;
  for (const Rank node : node_of_rank) nodes += (nodes.empty() ? "" : ",") + std::to_string(node);
  return Mapping::parse("", nodes, static_cast<Rank>(node_of_rank.size()));
}

/// Sampled ranks whose schedules are compared, to see whether all ranks do the same.
constexpr std::size_t ranks_to_compare = 2;

/// Steps of one segment that are worth an estimate.
constexpr std::uint64_t most_first_steps = 1000;

/// The algorithm with one segment, where that is possible.
Spec of_one_segment(const Spec& spec) {
  const int at = spec.algorithm->find_parameter("segments");
  if (at < 0 || spec.algorithm->is_composed()) return spec;
  const Parameter& parameter = spec.algorithm->parameters[static_cast<std::size_t>(at)];
  Spec one = spec;
  if (parameter.least <= 1) one.parameters[static_cast<std::size_t>(at)] = Value{1};
  return one;
}

std::uint64_t take(std::uint64_t& budget, std::uint64_t steps) {
  const std::uint64_t taken = std::min(budget, steps);
  budget -= taken;
  return taken;
}

}  // namespace

ForecastModel::ForecastModel(const ForecastCall& call)
    : call_(call),
      platform_(built_in_platform()),
      nodes_(call.context.node_of_rank.empty() ? std::vector<Rank>(call.context.procs, 0)
                                               : call.context.node_of_rank),
      mapping_(mapping_on(nodes_)) {
  auto& measured = platform_.channels[call.context.nodes > 1 ? 1 : 0].get<model::LogGP>();
  const double built_in = measured.send_overhead + measured.L + measured.recv_overhead +
                          measured.G * std::max(call.round_bytes, 1.);
  const double round = call.round_seconds > 0 ? call.round_seconds : built_in;
  for (double* parameter :
       {&measured.L, &measured.send_overhead, &measured.recv_overhead, &measured.g, &measured.G})
    *parameter *= round / built_in;
  for (Rank rank = 0; rank < call.context.procs; ++rank)
    arrivals_.push_back(call.arrivals.empty() ? 0 : call.arrivals[rank] * round);
  latest_ = static_cast<Rank>(std::ranges::max_element(arrivals_) - arrivals_.begin());
  last_ = arrivals_[latest_];
}

Call ForecastModel::call_of(const Spec& spec) const {
  return {.collective = call_.context.collective,
          .procs = call_.context.procs,
          .root = call_.root,
          .parameters = spec.parameters,
          .parts = spec.parts,
          .arrivals = call_.arrivals,
          .nodes = depends_on_nodes(*spec.algorithm) ? call_.context.node_of_rank : std::vector<Rank>{},
          .domains = depends_on_domains(spec) ? call_.context.domains : std::vector<Domains>{},
          .commutative = call_.context.commutative};
}

model::MessageSizes ForecastModel::sizes_of(const Spec& spec) const {
  return model::MessageSizes::uniform(static_cast<double>(call_.context.block_bytes()) /
                                      std::max(1u, segments(*spec.algorithm, call_of(spec))));
}

/// The root, the latest one, and others at which trees differ.
std::vector<Rank> ForecastModel::sampled_ranks() const {
  const Rank procs = call_.context.procs;
  std::vector<Rank> ranks = {call_.root};
  for (const Rank rank : {latest_, procs - 1, procs / 2, Rank{0}})
    if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
  return ranks;
}

ForecastEstimate ForecastModel::estimate(const Spec& spec, std::uint64_t& budget) const try {
  Call call = call_of(spec);
  Builder builder;
  SharedWork work;
  Plan sample;
  const model::MessageSizes sizes = sizes_of(spec);
  const model::LogPSetting setting{mapping_, platform_, model::loggp_model, sizes};
  ForecastEstimate estimate{.seconds = last_};
  const std::uint32_t cuts = segments(*spec.algorithm, call);
  const bool is_regular = arrival_source(spec) == ArrivalSource::none;
  double others = 0;  // seconds for the other segments after the first
  for (const Rank rank : sampled_ranks()) {
    call.rank = rank;
    const Schedule& schedule = sample.emplace_back(build_schedule(*spec.algorithm, call, work, builder));
    take(budget, schedule.size());
    estimate.steps += schedule.size();
    const double busy = busy_seconds(schedule, setting);
    estimate.seconds = std::max(estimate.seconds, arrivals_[rank] + busy);
    // If the root is the latest one, the others do their work before it arrives.
    const double early = latest_ == call.root ? last_ - arrivals_[rank] : 0;
    others = std::max(others, busy * (cuts - 1) / cuts - early);
    if (sample.size() != ranks_to_compare || !is_regular) continue;
    if (const auto alike = alike_seconds(sample, setting)) {
      estimate.is_alike = true;
      estimate.seconds = std::max(estimate.seconds, last_ + (alike->least + alike->most) / 2);
      break;
    }
  }
  estimate.steps = estimate.steps * call.procs / sample.size();
  if (estimate.is_alike) return estimate;
  const Spec first = of_one_segment(spec);
  const bool is_whole = first == spec;
  estimate.is_bound = estimate.steps > (is_whole ? 1 : cuts) * most_first_steps;
  if (estimate.is_bound) return estimate;
  const Plan plan = this->plan(first, budget);
  if (plan.empty()) return {.seconds = unknown};
  if (is_whole) others = 0;
  estimate.seconds = std::max(estimate.seconds, evaluate(plan, mapping_, arrivals_, sizes, unknown) + others);
  if (is_regular)
    estimate.by_arrival =
        evaluate_by_arrival(first, call_.root == 0 ? plan : this->plan(first, budget, 0), sizes, unknown) +
        others;
  estimate.is_exact = is_whole;
  return estimate;
} catch (const Error&) {
  return {.seconds = unknown};
}

Plan ForecastModel::plan(const Spec& spec, std::uint64_t& budget) const {
  return plan(spec, budget, call_.root);
}

Plan ForecastModel::plan(const Spec& spec, std::uint64_t& budget, Rank root) const {
  Call call = call_of(spec);
  call.root = root;
  Builder builder;
  SharedWork work;
  Plan plan;
  for (call.rank = 0; call.rank < call.procs; ++call.rank) {
    plan.push_back(build_schedule(*spec.algorithm, call, work, builder));
    const std::uint64_t steps = std::max<std::uint64_t>(plan.back().size(), 1);
    if (take(budget, steps) < steps) return {};
  }
  return plan;
}

double ForecastModel::seconds(const Spec& spec, const Plan& plan, double limit) const {
  return evaluate(plan, mapping_, arrivals_, sizes_of(spec), limit);
}

double ForecastModel::seconds_by_arrival(const Spec& spec, const Plan& plan, double limit,
                                         std::uint64_t& budget) const {
  return evaluate_by_arrival(spec, call_.root == 0 ? plan : this->plan(spec, budget, 0), sizes_of(spec),
                             limit);
}

double ForecastModel::evaluate_by_arrival(const Spec& spec, const Plan& plan,
                                          const model::MessageSizes& sizes, double limit) const {
  const Spec ordered = by_arrival(spec, call_.context);
  if (ordered == spec || plan.empty()) return unknown;
  Call call = call_of(ordered);
  call.nodes = nodes_;
  std::vector<Rank> nodes;
  std::vector<double> arrivals;
  for (const Rank rank : ranks_by_arrival(call, plan)) {
    nodes.push_back(nodes_[rank]);
    arrivals.push_back(arrivals_[rank]);
  }
  return evaluate(plan, mapping_on(nodes), arrivals, sizes, limit);
}

double ForecastModel::evaluate(const Plan& plan, const Mapping& mapping, std::span<const double> arrivals,
                               const model::MessageSizes& sizes, double limit) const try {
  const std::vector<double> done =
      model::evaluate_logp_plan(plan, mapping, platform_, model::loggp_model, sizes, {arrivals, limit});
  return done.empty() ? unknown : std::ranges::max(done);
} catch (const Error&) {
  return unknown;
}

Spec by_arrival(const Spec& spec, const CallContext& context) {
  const auto known = catalogue(context.collective);
  if (spec.algorithm->symmetry != Symmetry::none || spec.algorithm->is_composed() ||
      arrival_source(spec) != ArrivalSource::none ||
      std::ranges::none_of(known, [](const Algorithm* each) { return each->name == "by_arrival"; }))
    return spec;
  Spec ordered = parse_spec(context.collective, "by_arrival(" + spec_text(spec) + ")");
  return can_run(ordered, context) ? ordered : spec;
}

}  // namespace convene::decide
