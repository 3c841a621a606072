// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/composition.hpp"

#include <algorithm>
#include <numeric>

namespace convene::collective {
namespace {

constexpr std::uint64_t most_segments = 4096;  // the limit on segments: more would not pay for equal portions

}  // namespace

std::uint32_t rounds_of(const Spec& part, Call call) {
  if (call.procs == 1) return 0;
  Builder builder;
  SharedWork work;
  std::uint32_t rounds = 0;
  const Rank last = part.algorithm->symmetry == Symmetry::none ? call.procs - 1 : 0;
  for (call.rank = 0; call.rank <= last; ++call.rank)
    rounds = std::max(rounds, build_schedule(*part.algorithm, call, work, builder).rounds());
  return rounds;
}

void run_phase(const Spec& part, Phase phase, const Call& outer, std::uint32_t first_round,
               Builder& builder) {
  Call call{.collective = phase.collective,
            .procs = static_cast<Rank>(phase.ranks.size()),
            .rank = number_in(phase.ranks, outer.rank),
            .root = phase.root,
            .in_place = phase.in_place,
            .parameters = part.parameters,
            .parts = part.parts,
            .arrivals = std::move(phase.arrivals),
            .commutative = outer.commutative};
  if (uses_nodes(*part.algorithm))
    for (const Rank rank : phase.ranks) call.nodes.push_back(outer.nodes[rank]);
  if (depends_on_domains(part) && !outer.domains.empty())
    for (const Rank rank : phase.ranks) call.domains.push_back(outer.domains[rank]);
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
