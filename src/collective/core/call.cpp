// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/call.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace convene::collective {

namespace {

/// The contents of a run of blocks.
std::vector<Content> run(std::uint32_t first, std::uint32_t count, std::uint32_t segments) {
  std::vector<Content> contents(std::size_t{count} * segments);
  std::iota(contents.begin(), contents.end(), static_cast<Content>(first * segments));
  return contents;
}

RankContract without_in_place(const Call& call, std::uint32_t segments) {
  const std::uint32_t procs = call.procs, rank = call.rank;
  const Places size = places(call, segments);
  RankContract mine;
  mine.output.assign(size.output, nothing);
  switch (traits(call.collective).postcondition) {
    case Postcondition::allgather:
      mine.input = run(rank, 1, segments);
      mine.wanted = run(0, procs, segments);
      break;
    case Postcondition::gather:
      mine.input = run(rank, 1, segments);
      if (call.is_root()) mine.wanted = run(0, procs, segments);
      break;
    case Postcondition::scatter:
      if (call.is_root()) mine.input = run(0, procs, segments);
      mine.wanted = run(rank, 1, segments);
      break;
    case Postcondition::bcast:
      mine.wanted = run(0, 1, segments);
      if (call.is_root()) mine.output = mine.wanted;
      break;
    case Postcondition::alltoall:
      mine.input = run(rank * procs, procs, segments);
      for (Rank source = 0; source < procs; ++source) {
        const auto block = run(source * procs + rank, 1, segments);
        mine.wanted.insert(mine.wanted.end(), block.begin(), block.end());
      }
      break;
    case Postcondition::reduce:
      mine.input = run(rank, 1, segments);
      if (call.is_root()) mine.wanted = run(procs - 1, 1, segments);
      break;
    case Postcondition::allreduce:
      mine.input = run(rank, 1, segments);
      mine.wanted = run(procs - 1, 1, segments);
      break;
    case Postcondition::reduce_scatter:
      mine.input = run(rank * procs, procs, segments);
      mine.wanted = run((procs - 1) * procs + rank, 1, segments);
      break;
    case Postcondition::scan:
      mine.input = run(rank, 1, segments);
      mine.wanted = run(rank, 1, segments);
      break;
    case Postcondition::exscan:
      mine.input = run(rank, 1, segments);
      // Rank 0's output is left as it is.
      mine.wanted = rank > 0 ? run(rank - 1, 1, segments) : std::vector<Content>(segments, nothing);
      break;
    case Postcondition::neighbor_allgather:
      mine.input = run(rank, 1, segments);
      for (const Rank source : call.graph->sources[rank]) {
        const auto block =
            source == Graph::no_rank ? std::vector<Content>(segments, nothing) : run(source, 1, segments);
        mine.wanted.insert(mine.wanted.end(), block.begin(), block.end());
      }
      break;
    case Postcondition::neighbor_alltoall: {
      const Graph& graph = *call.graph;
      const std::uint32_t peers = graph.most_targets();
      mine.input = run(rank * peers, static_cast<std::uint32_t>(graph.targets[rank].size()), segments);
      for (Place place = 0; place < graph.sources[rank].size(); ++place) {
        const Rank source = graph.sources[rank][place];
        const auto block = source == Graph::no_rank
                               ? std::vector<Content>(segments, nothing)
                               : run(source * peers + graph.sent_from(rank, place), 1, segments);
        mine.wanted.insert(mine.wanted.end(), block.begin(), block.end());
      }
      break;
    }
  }
  return mine;
}

Reduction reduction(const Call& call, std::uint32_t segments) {
  const Postcondition what = traits(call.collective).postcondition;
  if (!is_reduction(call.collective)) return {};
  return {.segments = what == Postcondition::reduce_scatter ? call.procs * segments : segments,
          .in_order = !call.commutative,
          .same_expression = what == Postcondition::allreduce};
}

}  // namespace

Call with_graph(Call call) {
  if (is_neighborhood(call.collective) && !call.graph)
    call.graph = std::make_shared<const Graph>(Graph::moore(nearly_square(call.procs)));
  return call;
}

Places places(const Call& call, std::uint32_t segments) {
  // Collectives with one vector have no such number.
  const std::uint64_t of_all = has_one_vector(call.collective) ? 0 : std::uint64_t{call.procs} * segments;
  if (std::max<std::uint64_t>(of_all, segments) > Range::max_count)
    throw Error("blocks of " + std::to_string(call.procs) + " processes in " + std::to_string(segments) +
                " segments each exceed the size of a schedule; use fewer segments or processes");
  const auto all = static_cast<std::uint32_t>(of_all);
  switch (traits(call.collective).postcondition) {
    case Postcondition::allgather:
      return {segments, all};
    case Postcondition::gather:
      return {segments, call.is_root() ? all : 0};
    case Postcondition::scatter:
      return {call.is_root() ? all : 0, segments};
    case Postcondition::bcast:
      return {0, segments};
    case Postcondition::alltoall:
      return {all, all};
    case Postcondition::reduce:
      return {segments, call.is_root() ? segments : 0};
    case Postcondition::allreduce:
    case Postcondition::scan:
    case Postcondition::exscan:
      return {segments, segments};
    case Postcondition::reduce_scatter:
      return {all, segments};
    case Postcondition::neighbor_allgather:
      return {segments, static_cast<std::uint32_t>(call.graph->sources[call.rank].size()) * segments};
    case Postcondition::neighbor_alltoall:
      return {static_cast<std::uint32_t>(call.graph->targets[call.rank].size()) * segments,
              static_cast<std::uint32_t>(call.graph->sources[call.rank].size()) * segments};
  }
  return {};
}

std::optional<Alias> in_place_alias(const Call& call, std::uint32_t segments) {
  const CollectiveTraits& of = traits(call.collective);
  const bool may_be = of.in_place == On::all_ranks || (of.in_place == On::root && call.is_root());
  if (!call.in_place || !may_be) return std::nullopt;
  const Place own = call.rank * segments;
  switch (of.postcondition) {
    case Postcondition::allgather:
    case Postcondition::gather:
      return Alias{Buffer::input, Buffer::output, own};
    case Postcondition::scatter:
      return Alias{Buffer::output, Buffer::input, own};
    case Postcondition::reduce:
    case Postcondition::allreduce:
    case Postcondition::scan:
    case Postcondition::exscan:
      return Alias{Buffer::input, Buffer::output, 0};
    case Postcondition::bcast:
    case Postcondition::alltoall:
    case Postcondition::reduce_scatter:
    case Postcondition::neighbor_allgather:
    case Postcondition::neighbor_alltoall:
      return std::nullopt;
  }
  return std::nullopt;
}

Contract contract(Call call, std::uint32_t segments) {
  Contract result;
  call = with_graph(std::move(call));
  result.reduction = reduction(call, segments);
  for (call.rank = 0; call.rank < call.procs; ++call.rank) {
    RankContract mine = without_in_place(call, segments);
    if (const auto aliased = in_place_alias(call, segments)) {
      // The places named by the alias are in the other buffer only.
      auto& there = aliased->of == Buffer::output ? mine.output : mine.input;
      auto& here = aliased->alias == Buffer::input ? mine.input : mine.output;
      if (aliased->alias == Buffer::input)
        std::copy(here.begin(), here.end(), there.begin() + aliased->first);
      here.assign(here.size(), nothing);
      if (aliased->alias == Buffer::output) mine.wanted.assign(mine.wanted.size(), nothing);
    }
    result.push_back(std::move(mine));
  }
  return result;
}

}  // namespace convene::collective
