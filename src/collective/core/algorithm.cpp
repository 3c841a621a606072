// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/algorithm.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "base/error.hpp"
#include "collective/core/forecast.hpp"
#include "schedule/online/online_simulation.hpp"

namespace convene::collective {

int Algorithm::find_parameter(std::string_view wanted) const {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == wanted) return static_cast<int>(i);
  return -1;
}

std::vector<Value> Algorithm::default_parameters() const {
  std::vector<Value> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.fallback);
  return values;
}

std::vector<std::vector<Value>> Algorithm::sample_parameters() const {
  std::vector<std::vector<Value>> grid{{}};
  for (const Parameter& parameter : parameters) {
    std::vector<std::vector<Value>> wider;
    for (const auto& values : grid) {
      const auto add = [&](const Value& value) {
        wider.push_back(values);
        wider.back().push_back(value);
      };
      if (parameter.samples.empty()) add(parameter.fallback);
      for (const Value& sample : parameter.samples) add(sample);
    }
    grid = std::move(wider);
  }
  return grid;
}

namespace {

Spec default_part(const PartSlot& slot) {
  for (const Algorithm* algorithm : catalogue(slot.collective))
    if (algorithm->name == slot.fallback) return default_spec(*algorithm);
  throw std::logic_error("a composed algorithm's part is not in the catalogue");
}

/// True if the checker's grid tests it as this part.
bool is_sample(const Algorithm& part, const Algorithm& composed, const PartSlot& slot) {
  if (!part.generate || part.is_composed()) return false;
  return slot.among != Among::all || std::all_of(composed.collectives.begin(), composed.collectives.end(),
                                                 [&](Collective each) { return part.serves(each); });
}

std::vector<Spec> sample_compositions(const Algorithm& composed) {
  std::vector<Spec> samples;
  const auto slots = composed.composition->parts;
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (const Algorithm* part : catalogue(slots[i].collective)) {
      if (!is_sample(*part, composed, slots[i])) continue;
      if (i > 0 && part->name == slots[i].fallback) continue;  // one of those of the first slot
      Spec spec = default_spec(composed);
      spec.parts[i] = default_spec(*part);
      for (std::size_t p = 0; p < spec.parameters.size(); ++p)
        if (const auto& values = composed.parameters[p].samples; !values.empty())
          spec.parameters[p] = values[samples.size() % values.size()];
      samples.push_back(std::move(spec));
    }
  return samples;
}

}  // namespace

Spec default_spec(const Algorithm& algorithm) {
  Spec spec{&algorithm, algorithm.default_parameters()};
  if (algorithm.is_composed())
    for (const PartSlot& slot : algorithm.composition->parts) spec.parts.push_back(default_part(slot));
  return spec;
}

std::vector<Spec> sample_specs(const Algorithm& algorithm) {
  if (algorithm.is_composed()) return sample_compositions(algorithm);
  std::vector<Spec> specs;
  for (auto& parameters : algorithm.sample_parameters()) specs.push_back({&algorithm, std::move(parameters)});
  return specs;
}

namespace {

/// Throws std::logic_error if a call of a composed algorithm does not name its parts.
void require_parts(const Algorithm& algorithm, const Call& call) {
  const std::size_t wanted = algorithm.is_composed() ? algorithm.composition->parts.size() : 0;
  if (call.parts.size() != wanted)
    throw std::logic_error("a call of " + std::string(algorithm.name) + " names " +
                           std::to_string(call.parts.size()) + " parts, not " + std::to_string(wanted));
}

/// True if all ranks are known to be on one node.
bool are_on_one_node(const Call& call) {
  return std::all_of(call.nodes.begin(), call.nodes.end(),
                     [&](Rank node) { return node == call.nodes.front(); });
}

/// Number of ranks on the fullest node.
Rank most_on_a_node(const Call& call) {
  if (call.nodes.empty()) return call.procs;
  std::map<Rank, Rank> ranks;
  Rank most = 0;
  for (const Rank node : call.nodes) most = std::max(most, ++ranks[node]);
  return most;
}

}  // namespace

std::string unmet_requirement(const Algorithm& algorithm, const Call& call) {
  if (algorithm.commutative_only && !call.commutative) return "needs a commutative operator";
  require_parts(algorithm, call);
  if (algorithm.is_composed()) return algorithm.composition->unmet(algorithm, call);
  if (algorithm.shared_places && !are_on_one_node(call)) return "needs all processes on one node";
  switch (algorithm.requirement) {
    case Requirement::none:
      return "";
    case Requirement::power_of_two:
      return std::has_single_bit(call.procs) ? "" : "needs a number of processes that is a power of two";
    case Requirement::even:
      return call.procs % 2 == 0 || call.procs == 1 ? "" : "needs an even number of processes";
  }
  return "";
}

std::string unmet_requirement(const Algorithm& algorithm, Rank procs, bool commutative) {
  Spec spec = default_spec(algorithm);
  return unmet_requirement(algorithm, {.collective = algorithm.collectives.front(),
                                       .procs = procs,
                                       .parameters = std::move(spec.parameters),
                                       .parts = std::move(spec.parts),
                                       .commutative = commutative});
}

bool relays(const Spec& spec) {
  return spec.algorithm->relays || std::any_of(spec.parts.begin(), spec.parts.end(), relays);
}

bool shares_memory(const Spec& spec) {
  return spec.algorithm->shared_places || std::any_of(spec.parts.begin(), spec.parts.end(), shares_memory);
}

std::uint64_t shared_place_bytes(std::uint64_t block_bytes, std::uint64_t item_bytes,
                                 std::uint32_t segments) {
  constexpr std::uint64_t cache_line = 64;
  const std::uint64_t items = (block_bytes + item_bytes - 1) / item_bytes;
  const std::uint64_t bytes = (items + segments - 1) / segments * item_bytes;
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

namespace {

/// Places of the whole, which cuts a block into `segments` places, that an algorithm shares. A block of the
/// algorithm is `blocks` of the whole's.
std::uint64_t shared_places(const Algorithm& algorithm, std::span<const Value> parameters,
                            std::span<const Spec> parts, Rank blocks, std::uint32_t whole_segments,
                            const Call& whole) {
  if (algorithm.shared_places) {
    const Rank procs = most_on_a_node(whole);
    const std::uint32_t own = segments(algorithm, procs, parameters);
    return algorithm.shared_places(procs, parameters) * blocks * std::max(whole_segments / own, 1u);
  }
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Spec& part = parts[i];
    const Rank of_part = algorithm.composition->parts[i].moves_all ? blocks * whole.procs : blocks;
    total += shared_places(*part.algorithm, part.parameters, part.parts, of_part, whole_segments, whole);
  }
  return total;
}

}  // namespace

std::uint64_t shared_places(const Algorithm& algorithm, const Call& call) {
  if (depends_on_domains(algorithm, call.parameters, call.parts))
    return algorithm.composition->shared_places ? algorithm.composition->shared_places(algorithm, call) : 0;
  if (!algorithm.shared_places && std::none_of(call.parts.begin(), call.parts.end(), shares_memory)) return 0;
  return shared_places(algorithm, call.parameters, call.parts, 1, segments(algorithm, call), call);
}

std::uint64_t shared_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes,
                           std::uint64_t item_bytes) {
  const std::uint64_t head = head_bytes(algorithm, call.parameters);
  const std::uint64_t place = head > 0
                                  ? shared_place_bytes(head, 1, 1)
                                  : shared_place_bytes(block_bytes, item_bytes, segments(algorithm, call));
  return shared_places(algorithm, call) * place;
}

std::uint64_t head_bytes(const Algorithm& algorithm, std::span<const Value> parameters) {
  if (algorithm.cut != Cut::head_first) return 0;
  return static_cast<std::uint64_t>(parameters[static_cast<std::size_t>(algorithm.find_parameter("head"))]);
}

bool uses_nodes(const Algorithm& algorithm) { return algorithm.is_composed() || algorithm.shared_places; }

bool depends_on_nodes(const Algorithm& algorithm) {
  return uses_nodes(algorithm) || algorithm.needs_whole_graph || algorithm.prefers_nodes;
}

bool depends_on_domains(const Algorithm& algorithm, std::span<const Value> parameters,
                        std::span<const Spec> parts) {
  if (!algorithm.is_composed()) return false;
  const auto divides = algorithm.composition->divides_nodes;
  return (divides && divides(parameters)) ||
         std::any_of(parts.begin(), parts.end(), [](const Spec& part) { return depends_on_domains(part); });
}

bool depends_on_domains(const Spec& spec) {
  return depends_on_domains(*spec.algorithm, spec.parameters, spec.parts);
}

ArrivalSource arrival_source(const Spec& spec) {
  if (!spec.algorithm->is_composed() || spec.algorithm->arrival_source != ArrivalSource::none)
    return spec.algorithm->arrival_source;
  const bool from_forecast = std::any_of(spec.parts.begin(), spec.parts.end(), [](const Spec& part) {
    return arrival_source(part) == ArrivalSource::forecast;
  });
  return from_forecast ? ArrivalSource::forecast : ArrivalSource::none;
}

bool depends_on_arrivals(const Spec& spec) {
  return arrival_source(spec) != ArrivalSource::none && is_reduction(spec.algorithm->collectives.front());
}

std::vector<const Algorithm*> catalogue(Collective collective) {
  std::vector<const Algorithm*> result;
  for (const Algorithm* algorithm : catalogue())
    if (algorithm->serves(collective)) result.push_back(algorithm);
  return result;
}

namespace {

/// Throws if a schedule cannot name this many places.
std::uint32_t countable(std::uint64_t number, const char* what) {
  if (number > Range::max_count)
    throw Error(std::to_string(number) + " " + what +
                " exceed the size of a schedule; use fewer processes or segments");
  return static_cast<std::uint32_t>(number);
}

}  // namespace

std::uint32_t segments(const Algorithm& algorithm, Rank procs, std::span<const Value> parameters) {
  if (algorithm.pieces) return countable(algorithm.pieces(procs, parameters), "pieces of a block");
  if (algorithm.cuts_by_procs) return procs;
  if (algorithm.cut != Cut::evenly) return 2;
  const int i = algorithm.find_parameter("segments");
  return i < 0 ? 1 : static_cast<std::uint32_t>(parameters[static_cast<std::size_t>(i)]);
}

std::uint32_t segments(const Algorithm& algorithm, const Call& call) {
  require_parts(algorithm, call);
  return algorithm.is_composed() ? algorithm.composition->pieces(algorithm, call)
                                 : segments(algorithm, call.procs, call.parameters);
}

namespace {

void begin_schedule(const Algorithm& algorithm, const Call& call, Builder& builder) {
  const std::uint32_t per_block = segments(algorithm, call);
  const Places size = places(call, per_block);
  builder.begin(call.procs, call.rank);
  builder.buffer(Buffer::input, size.input);
  builder.buffer(Buffer::output, size.output);
  if (const auto same = in_place_alias(call, per_block)) builder.alias(same->alias, same->of, same->first);
  if (call.collective == Collective::barrier) builder.sends_empty_messages();
  if (algorithm.shared_places)
    builder.share(countable(algorithm.shared_places(call.procs, call.parameters), "shared places"));
  if (!depends_on_domains(algorithm, call.parameters, call.parts)) return;
  const auto on_node = std::find(call.nodes.begin(), call.nodes.end(), call.nodes[call.rank]);
  if (const std::uint64_t all = shared_places(algorithm, call); all > 0)
    builder.share_on_node(static_cast<Rank>(on_node - call.nodes.begin()), countable(all, "shared places"));
}

/// Steps of an online algorithm, if the ranks arrive as in the call.
Plan simulate_to_end(const Algorithm& algorithm, Call call, Builder& builder) {
  std::vector<Runnable> ranks;
  for (call.rank = 0; call.rank < call.procs; ++call.rank)
    ranks.push_back(build_runnable(algorithm, call, builder));
  return simulate_to_end(OnlineSimulation(std::move(ranks), {.arrivals = expected_delays(call)}));
}

}  // namespace

Runnable build_runnable(const Algorithm& algorithm, const Call& call, Builder& builder) {
  if (!algorithm.is_online()) return {build_schedule(algorithm, call, builder), nullptr};
  std::unique_ptr<OnlineAlgorithm> online = algorithm.make_online(call);
  begin_schedule(algorithm, call, builder);
  for (const std::vector<Place>& sized_like : online->scratch()) builder.scratch(sized_like);
  return {builder.finish(), std::move(online)};
}

Schedule build_schedule(const Algorithm& algorithm, const Call& call, Builder& builder) {
  SharedWork work;
  return build_schedule(algorithm, call, work, builder);
}

Schedule build_schedule(const Algorithm& algorithm, const Call& call, SharedWork& work, Builder& builder) {
  if (is_neighborhood(call.collective) && !call.graph)
    return build_schedule(algorithm, with_graph(call), work, builder);
  if (algorithm.is_online())
    return (*work.get([&] { return simulate_to_end(algorithm, call, builder); }))[call.rank];
  begin_schedule(algorithm, call, builder);
  algorithm.generate(call, work, builder);
  return builder.finish();
}

Plan build_plan(const Algorithm& algorithm, Call call, const std::stop_token& stop) {
  SharedWork work;
  return build_plan(algorithm, std::move(call), work, stop);
}

Plan build_plan(const Algorithm& algorithm, Call call, SharedWork& work, const std::stop_token& stop) {
  Builder builder;
  Plan plan;
  call = with_graph(std::move(call));
  plan.reserve(call.procs);
  for (call.rank = 0; call.rank < call.procs && !stop.stop_requested(); ++call.rank)
    plan.push_back(build_schedule(algorithm, call, work, builder));
  return plan;
}

}  // namespace convene::collective
