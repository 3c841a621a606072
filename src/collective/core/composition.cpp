// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/composition.hpp"

#include <algorithm>
#include <any>
#include <numeric>
#include <stdexcept>

namespace convene::collective {
namespace {

constexpr std::uint64_t most_segments = 4096;  // that equal portions are worth

Part read_part(std::span<const std::int64_t>& rest) {
  const auto all = catalogue();
  if (rest.empty() || rest[0] < 0 || static_cast<std::size_t>(rest[0]) >= all.size())
    throw std::logic_error("the parameters of a composed algorithm do not name its parts");
  Part part{all[static_cast<std::size_t>(rest[0])]};
  rest = rest.subspan(1);
  const auto take = [&](std::size_t count) {
    part.parameters.insert(part.parameters.end(), rest.begin(),
                           rest.begin() + static_cast<std::ptrdiff_t>(count));
    rest = rest.subspan(count);
  };
  take(part.algorithm->parameters.size());
  if (!part.algorithm->is_composed()) return part;
  std::vector<Part> inner;
  for (std::size_t i = 0; i < part.algorithm->composition->parts.size(); ++i)
    inner.push_back(read_part(rest));
  append_parts(part.parameters, inner);
  return part;
}

Part part_named(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : catalogue(collective))
    if (algorithm->name == name) return {algorithm, algorithm->default_parameters()};
  throw std::logic_error("a composed algorithm's part is not in the catalogue");
}

}  // namespace

std::vector<Part> parts_of(const Algorithm& composed, std::span<const std::int64_t> parameters) {
  std::vector<Part> parts;
  std::span<const std::int64_t> rest = parameters.subspan(composed.parameters.size());
  for (std::size_t i = 0; i < composed.composition->parts.size(); ++i) parts.push_back(read_part(rest));
  return parts;
}

std::vector<Part> default_parts(const Algorithm& composed) {
  std::vector<Part> parts;
  for (const PartSlot& slot : composed.composition->parts)
    parts.push_back(part_named(slot.collective, slot.fallback));
  return parts;
}

void append_parts(std::vector<std::int64_t>& parameters, const std::vector<Part>& parts) {
  const auto all = catalogue();
  for (const Part& part : parts) {
    parameters.push_back(std::find(all.begin(), all.end(), part.algorithm) - all.begin());
    parameters.insert(parameters.end(), part.parameters.begin(), part.parameters.end());
  }
}

std::vector<std::vector<std::int64_t>> sample_compositions(const Algorithm& composed) {
  std::vector<std::vector<std::int64_t>> samples;
  const auto& slots = composed.composition->parts;
  const auto add = [&](const std::vector<Part>& parts) {
    std::vector<std::int64_t> values;
    for (const Parameter& parameter : composed.parameters)
      values.push_back(parameter.samples.empty()
                           ? parameter.fallback
                           : parameter.samples[samples.size() % parameter.samples.size()]);
    append_parts(values, parts);
    samples.push_back(std::move(values));
  };
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (const Algorithm* algorithm : catalogue(slots[i].collective)) {
      if (!algorithm->generate || algorithm->is_composed()) continue;
      const bool serves = slots[i].among != Among::all ||
                          std::all_of(composed.collectives.begin(), composed.collectives.end(),
                                      [&](Collective each) { return algorithm->serves(each); });
      if (!serves) continue;
      if (i > 0 && algorithm->name == slots[i].fallback) continue;  // comes with the first slot's
      std::vector<Part> parts = default_parts(composed);
      parts[i] = {algorithm, algorithm->default_parameters()};
      add(parts);
    }
  return samples;
}

std::uint32_t rounds_of(const Part& part, Call call) {
  if (call.procs == 1) return 0;
  Builder builder;
  std::any kept;
  call.kept = &kept;
  std::uint32_t rounds = 0;
  const Rank last = part.algorithm->symmetry == Symmetry::none ? call.procs - 1 : 0;
  for (call.rank = 0; call.rank <= last; ++call.rank)
    rounds = std::max(rounds, build_schedule(*part.algorithm, call, builder).rounds());
  return rounds;
}

void run_phase(const Part& part, Phase phase, const Call& outer, std::uint32_t first_round,
               Builder& builder) {
  Call call{.collective = phase.collective,
            .procs = static_cast<Rank>(phase.ranks.size()),
            .rank = number_in(phase.ranks, outer.rank),
            .root = phase.root,
            .in_place = phase.in_place,
            .parameters = part.parameters,
            .arrivals = std::move(phase.arrivals),
            .commutative = outer.commutative};
  if (uses_nodes(*part.algorithm))
    for (const Rank rank : phase.ranks) call.nodes.push_back(outer.nodes[rank]);
  const std::uint32_t per_block = segments(*part.algorithm, call);
  const auto by_place = [&](const std::vector<Embedding::Places>& blocks) {
    std::vector<Embedding::Places> places;
    for (const Embedding::Places& block : blocks)
      for (Embedding::Places& portion : cut(block, per_block)) places.push_back(std::move(portion));
    return places;
  };
  Embedding view;
  view.rank = call.rank;
  view.ranks = std::move(phase.ranks);
  view.input = by_place(phase.input);
  view.output = by_place(phase.output);
  view.blocks = by_place(phase.blocks);
  view.first_round = first_round;
  view.has = std::move(phase.has);
  builder.enter(std::move(view));
  if (part.algorithm->shared_places)
    builder.share(part.algorithm->shared_places(call.procs, call.parameters));
  part.algorithm->generate(call, builder);
  builder.leave();
}

Rank number_in(const Ranks& ranks, Rank rank) {
  return static_cast<Rank>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

std::vector<Embedding::Places> cut(const Embedding::Places& whole, std::uint32_t portions) {
  if (portions == 1) return {whole};
  std::vector<Embedding::Places> result(portions);
  std::uint64_t total = 0, done = 0;
  for (const Range& range : whole) total += range.count();
  std::uint32_t portion = 0;
  for (const Range& range : whole)
    for (std::uint32_t taken = 0; taken < range.count();) {
      while (total * (portion + 1) / portions <= done) ++portion;
      const std::uint64_t end = total * (portion + 1) / portions;
      const auto here =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(end - done, range.count() - taken));
      result[portion].emplace_back(range.buffer(), range.first + taken * range.stride, here, range.stride);
      taken += here;
      done += here;
    }
  return result;
}

std::uint32_t common_segments(std::span<const std::uint32_t> segments) {
  std::uint64_t common = 1;
  for (const std::uint32_t each : segments) {
    common = std::lcm(common, std::uint64_t{each});
    if (common > most_segments) return *std::max_element(segments.begin(), segments.end());
  }
  return static_cast<std::uint32_t>(common);
}

}  // namespace convene::collective
