// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/algorithm.hpp"

#include <algorithm>
#include <any>
#include <bit>
#include <map>

#include "base/error.hpp"
#include "collective/core/composition.hpp"
#include "collective/core/forecast.hpp"
#include "schedule/online/online_simulation.hpp"

namespace convene::collective {

std::vector<std::int64_t> list_of(std::int64_t value) {
  std::vector<std::int64_t> numbers;
  for (; value != 0; value >>= 11) numbers.push_back(value & 0x7ff);
  return numbers;
}

bool Algorithm::serves(Collective collective) const {
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

int Algorithm::find_parameter(std::string_view wanted) const {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == wanted) return static_cast<int>(i);
  return -1;
}

std::vector<std::int64_t> Algorithm::default_parameters() const {
  std::vector<std::int64_t> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.fallback);
  if (is_composed()) append_parts(values, default_parts(*this));
  return values;
}

std::vector<std::vector<std::int64_t>> Algorithm::sample_parameters() const {
  if (is_composed()) return sample_compositions(*this);
  std::vector<std::vector<std::int64_t>> grid{{}};
  for (const Parameter& parameter : parameters) {
    const auto samples = parameter.samples.empty() ? std::vector{parameter.fallback} : parameter.samples;
    std::vector<std::vector<std::int64_t>> wider;
    for (const auto& values : grid)
      for (std::int64_t sample : samples) {
        wider.push_back(values);
        wider.back().push_back(sample);
      }
    grid = std::move(wider);
  }
  return grid;
}

namespace {

/// As far as that is known.
bool are_on_one_node(const Call& call) {
  return std::all_of(call.nodes.begin(), call.nodes.end(),
                     [&](Rank node) { return node == call.nodes.front(); });
}

/// How many ranks the fullest node has.
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
  return unmet_requirement(algorithm, {.collective = algorithm.collectives.front(),
                                       .procs = procs,
                                       .parameters = algorithm.default_parameters(),
                                       .commutative = commutative});
}

bool relays(const Algorithm& algorithm, std::span<const std::int64_t> parameters) {
  if (algorithm.relays || !algorithm.is_composed()) return algorithm.relays;
  const auto parts = parts_of(algorithm, parameters);
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return relays(*part.algorithm, part.parameters); });
}

bool shares_memory(const Algorithm& algorithm, std::span<const std::int64_t> parameters) {
  if (algorithm.shared_places || !algorithm.is_composed()) return algorithm.shared_places != nullptr;
  const auto parts = parts_of(algorithm, parameters);
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return shares_memory(*part.algorithm, part.parameters); });
}

std::uint64_t shared_place_bytes(std::uint64_t block_bytes, std::uint64_t item_bytes,
                                 std::uint32_t segments) {
  constexpr std::uint64_t cache_line = 64;
  const std::uint64_t items = (block_bytes + item_bytes - 1) / item_bytes;
  const std::uint64_t bytes = (items + segments - 1) / segments * item_bytes;
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

namespace {

/// Places of the whole that an algorithm shares, where it cuts a block into so many.
std::uint64_t shared_places(const Algorithm& algorithm, std::span<const std::int64_t> parameters, Rank procs,
                            std::uint32_t whole_segments) {
  if (algorithm.shared_places) {
    const std::uint32_t own = segments(algorithm, procs, parameters);
    return algorithm.shared_places(procs, parameters) * std::max(whole_segments / own, 1u);
  }
  std::uint64_t total = 0;
  if (algorithm.is_composed())
    for (const Part& part : parts_of(algorithm, parameters))
      total += shared_places(*part.algorithm, part.parameters, procs, whole_segments);
  return total;
}

}  // namespace

std::uint64_t shared_places(const Algorithm& algorithm, const Call& call) {
  if (!shares_memory(algorithm, call.parameters)) return 0;
  return shared_places(algorithm, call.parameters, most_on_a_node(call), segments(algorithm, call));
}

std::uint64_t shared_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes,
                           std::uint64_t item_bytes) {
  return shared_places(algorithm, call) *
         shared_place_bytes(block_bytes, item_bytes, segments(algorithm, call));
}

bool uses_nodes(const Algorithm& algorithm) { return algorithm.is_composed() || algorithm.shared_places; }

bool depends_on_nodes(const Algorithm& algorithm) {
  return uses_nodes(algorithm) || algorithm.needs_whole_graph;
}

ArrivalSource arrival_source(const Algorithm& algorithm, std::span<const std::int64_t> parameters) {
  if (!algorithm.is_composed()) return algorithm.arrival_source;
  const auto parts = parts_of(algorithm, parameters);
  const bool from_forecast = std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return arrival_source(*part.algorithm, part.parameters) == ArrivalSource::forecast;
  });
  return from_forecast ? ArrivalSource::forecast : ArrivalSource::none;
}

bool depends_on_arrivals(const Algorithm& algorithm, std::span<const std::int64_t> parameters) {
  return arrival_source(algorithm, parameters) != ArrivalSource::none &&
         std::any_of(algorithm.collectives.begin(), algorithm.collectives.end(), is_reduction);
}

std::vector<const Algorithm*> catalogue(Collective collective) {
  std::vector<const Algorithm*> result;
  for (const Algorithm* algorithm : catalogue())
    if (algorithm->serves(collective)) result.push_back(algorithm);
  return result;
}

namespace {

/// As many as a schedule can name.
std::uint32_t countable(std::uint64_t number, const char* what) {
  if (number > Range::max_count)
    throw Error(std::to_string(number) + " " + what +
                " are more than a schedule can have; take fewer processes or segments");
  return static_cast<std::uint32_t>(number);
}

}  // namespace

std::uint32_t segments(const Algorithm& algorithm, Rank procs, std::span<const std::int64_t> parameters) {
  if (algorithm.pieces) return countable(algorithm.pieces(procs, parameters), "pieces of a block");
  if (algorithm.cuts_by_procs) return procs;
  if (algorithm.cut == Cut::tiny_first) return 2;
  const int i = algorithm.find_parameter("segments");
  return i < 0 ? 1 : static_cast<std::uint32_t>(parameters[static_cast<std::size_t>(i)]);
}

std::uint32_t segments(const Algorithm& algorithm, const Call& call) {
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
}

/// What the ranks do that decide as they run, if they come as the call says.
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
  for (const std::vector<Place>& like : online->scratch()) builder.scratch(like);
  return {builder.finish(), std::move(online)};
}

Schedule build_schedule(const Algorithm& algorithm, const Call& call, Builder& builder) {
  if (is_neighborhood(call.collective) && !call.graph)
    return build_schedule(algorithm, with_graph(call), builder);
  if (algorithm.is_online())
    return (*keep_work(call, [&] { return simulate_to_end(algorithm, call, builder); }))[call.rank];
  begin_schedule(algorithm, call, builder);
  algorithm.generate(call, builder);
  return builder.finish();
}

Plan build_plan(const Algorithm& algorithm, Call call, const std::stop_token& stop) {
  Builder builder;
  Plan plan;
  std::any kept;
  call = with_graph(std::move(call));
  if (call.kept == nullptr) call.kept = &kept;
  plan.reserve(call.procs);
  for (call.rank = 0; call.rank < call.procs && !stop.stop_requested(); ++call.rank)
    plan.push_back(build_schedule(algorithm, call, builder));
  return plan;
}

}  // namespace convene::collective
