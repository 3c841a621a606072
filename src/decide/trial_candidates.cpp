// SPDX-License-Identifier: BSD-3-Clause
#include "decide/trial_candidates.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "collective/hierarchy/node_level.hpp"
#include "decide/selection.hpp"
#include "model/logp/loggp.hpp"
#include "model/prediction/prediction.hpp"
#include "topology/mapping.hpp"

namespace convene::decide {
namespace {

/// Parameters beside the defaults that are worth a trial. (Each candidate lengthens the trial.)
constexpr std::pair<std::string_view, std::string_view> variants[] = {{"chain", "segments=8"}};

/// Plans of more ranks are modelled by this number, which is even and a power of two: a model of thousands
/// takes too long inside a program.
constexpr Rank most_modelled = 16;

/// The smaller call that the model evaluates, with the nodes of its ranks.
Call modelled_call(const Spec& spec, const CallContext& context) {
  Call call{.collective = context.collective,
            .procs = context.procs,
            .parameters = spec.parameters,
            .parts = spec.parts,
            .nodes = context.node_of_rank,
            .domains = context.domains,
            .commutative = context.commutative};
  if (call.procs <= most_modelled) return call;
  call.procs = most_modelled;
  call.nodes.assign(most_modelled, 0);
  const Rank per_node = context.nodes <= 1 ? most_modelled : std::min<Rank>(4, context.ranks_per_node);
  for (Rank rank = 0; rank < most_modelled; ++rank) call.nodes[rank] = rank / std::max<Rank>(1, per_node);
  if (context.domains.empty()) return call;
  call.domains.resize(most_modelled);  // two domains on each node
  for (Rank rank = 0; rank < most_modelled; ++rank)
    call.domains[rank].fill(rank % std::max<Rank>(1, per_node) / std::max<Rank>(1, (per_node + 1) / 2));
  return call;
}

/// Seconds; infinite if the model cannot evaluate the algorithm.
double modelled_seconds(const Spec& spec, const CallContext& context, const ModelPlatform& platform) try {
  const Call call = modelled_call(spec, context);
  const Plan plan = build_plan(*spec.algorithm, call);
  std::string placement;
  for (const Rank node : call.nodes) placement += (placement.empty() ? "" : ",") + std::to_string(node);
  const Mapping mapping = Mapping::parse("", placement, call.procs);
  const auto cost = model::prepare_prediction(
      model::loggp_model, {.plan = plan,
                           .mapping = mapping,
                           .platform = platform,
                           .place = model::Rational(1, std::max(1u, segments(*spec.algorithm, call)))});
  return cost->seconds(static_cast<double>(context.block_bytes()));
} catch (const Error&) {
  return std::numeric_limits<double>::infinity();
}

/// Whether an algorithm needs no forecasts, no neighbours and no nodes where there is one.
bool is_general(const Algorithm& algorithm, const CallContext& context) {
  return !algorithm.is_native() && algorithm.arrival_source == ArrivalSource::none &&
         !algorithm.needs_whole_graph && (!algorithm.is_composed() || context.nodes > 1) &&
         (!algorithm.shared_places || context.nodes == 1);
}

/// Compositions that divide nodes into domains, where a level does so.
std::vector<std::string> divided(const Algorithm& hier, const CallContext& context) {
  if (!has_several_domains(context.node_of_rank, context.domains)) return {};
  const std::string between(hier.composition->parts.front().fallback);
  if (context.nodes == 1) return {"hier(" + between + ",linear;level=auto)", "hier(shared;level=auto)"};
  return {"hier(" + between + ",hier(linear;level=auto))", "hier(" + between + ",hier(shared;level=auto))"};
}

std::vector<Spec> runnable(const CallContext& context) {
  std::vector<Spec> found;
  const auto add = [&](Spec spec) {
    if (can_run(spec, context)) found.push_back(std::move(spec));
  };
  for (const Algorithm* algorithm : catalogue(context.collective)) {
    if (algorithm->is_composed() && algorithm->composition->divides_nodes)
      for (const std::string& text : divided(*algorithm, context)) add(parse_spec(context.collective, text));
    if (!is_general(*algorithm, context)) continue;
    add(default_spec(*algorithm));
    for (const auto& [name, parameters] : variants)
      if (algorithm->name == name)
        add(parse_spec(context.collective, std::string(name) + ";" + std::string(parameters)));
  }
  return found;
}

}  // namespace

ModelPlatform built_in_platform() {
  ModelPlatform platform = ModelPlatform::two_channels();
  platform.channels[0].add(
      LogGP{.L = 2e-7, .send_overhead = 1e-7, .recv_overhead = 1e-7, .g = 1e-7, .G = 1.5e-10});
  platform.channels[1].add(
      LogGP{.L = 1.5e-6, .send_overhead = 3e-7, .recv_overhead = 3e-7, .g = 3e-7, .G = 1e-10});
  platform.copy = {{1, model::Piecewise::line(2e-8, 1e-10)}};
  platform.computation = {{1, model::Piecewise::line(2e-8, 2e-10)}};
  return platform;
}

bool is_tried(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::allreduce:
    case Collective::alltoall:
    case Collective::barrier:
    case Collective::bcast:
    case Collective::gather:
    case Collective::reduce:
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
    case Collective::scatter:
      return true;
    default:
      return false;
  }
}

std::vector<Spec> trial_candidates(const CallContext& context, std::size_t most) {
  const ModelPlatform platform = built_in_platform();
  std::vector<std::pair<double, Spec>> ranked;
  for (Spec& spec : runnable(context)) {
    const double seconds =
        shares_memory(spec) && !spec.algorithm->is_composed() ? 0 : modelled_seconds(spec, context, platform);
    ranked.emplace_back(seconds, std::move(spec));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Spec> best;
  for (auto& [seconds, spec] : ranked)
    if (best.size() < most) best.push_back(std::move(spec));
  return best;
}

std::int64_t set_up_nanoseconds(const Spec& spec) {
  constexpr std::int64_t of_memory = 4'000'000, of_schedule = 200'000;
  return shares_memory(spec) ? of_memory : of_schedule;
}

std::int64_t identity_of(const std::vector<Spec>& specs) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const Spec& spec : specs)
    for (const char letter : spec_text(spec) + ",")
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return static_cast<std::int64_t>(hash >> 2);
}

}  // namespace convene::decide
