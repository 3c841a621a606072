// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/collective.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace convene::collective {

namespace {

/// The collectives by what they promise: forms with unequal blocks promise the same.
enum class Promise : std::uint8_t {
  allgather,
  gather,
  scatter,
  bcast,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  neighbor_allgather
};

Promise promise(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::barrier:
      return Promise::allgather;
    case Collective::gather:
    case Collective::gatherv:
      return Promise::gather;
    case Collective::scatter:
    case Collective::scatterv:
      return Promise::scatter;
    case Collective::bcast:
      return Promise::bcast;
    case Collective::alltoall:
    case Collective::alltoallv:
      return Promise::alltoall;
    case Collective::reduce:
      return Promise::reduce;
    case Collective::allreduce:
      return Promise::allreduce;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return Promise::reduce_scatter;
    case Collective::scan:
    case Collective::exscan:
      return Promise::scan;
    case Collective::neighbor_allgather:
    case Collective::neighbor_allgatherv:
      return Promise::neighbor_allgather;
  }
  return Promise::allgather;
}

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
  switch (promise(call.collective)) {
    case Promise::allgather:
      mine.input = run(rank, 1, segments);
      mine.wanted = run(0, procs, segments);
      break;
    case Promise::gather:
      mine.input = run(rank, 1, segments);
      if (call.is_root()) mine.wanted = run(0, procs, segments);
      break;
    case Promise::scatter:
      if (call.is_root()) mine.input = run(0, procs, segments);
      mine.wanted = run(rank, 1, segments);
      break;
    case Promise::bcast:
      mine.wanted = run(0, 1, segments);
      if (call.is_root()) mine.output = mine.wanted;
      break;
    case Promise::alltoall:
      mine.input = run(rank * procs, procs, segments);
      for (Rank source = 0; source < procs; ++source) {
        const auto block = run(source * procs + rank, 1, segments);
        mine.wanted.insert(mine.wanted.end(), block.begin(), block.end());
      }
      break;
    case Promise::reduce:
      mine.input = run(rank, 1, segments);
      if (call.is_root()) mine.wanted = run(procs - 1, 1, segments);
      break;
    case Promise::allreduce:
      mine.input = run(rank, 1, segments);
      mine.wanted = run(procs - 1, 1, segments);
      break;
    case Promise::reduce_scatter:
      mine.input = run(rank * procs, procs, segments);
      mine.wanted = run((procs - 1) * procs + rank, 1, segments);
      break;
    case Promise::scan:
      mine.input = run(rank, 1, segments);
      if (call.collective == Collective::scan)
        mine.wanted = run(rank, 1, segments);
      else  // rank 0's output is left as it is
        mine.wanted = rank > 0 ? run(rank - 1, 1, segments) : std::vector<Content>(segments, nothing);
      break;
    case Promise::neighbor_allgather:
      mine.input = run(rank, 1, segments);
      for (const Rank source : call.graph->sources[rank]) {
        const auto block =
            source == Graph::nobody ? std::vector<Content>(segments, nothing) : run(source, 1, segments);
        mine.wanted.insert(mine.wanted.end(), block.begin(), block.end());
      }
      break;
  }
  return mine;
}

Reduction reduction(const Call& call, std::uint32_t segments) {
  const Promise what = promise(call.collective);
  if (!is_reduction(call.collective)) return {};
  return {.segments = what == Promise::reduce_scatter ? call.procs * segments : segments,
          .in_order = !call.commutative,
          .same_expression = what == Promise::allreduce};
}

}  // namespace

std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "allgather";
    case Collective::allgatherv:
      return "allgatherv";
    case Collective::gather:
      return "gather";
    case Collective::gatherv:
      return "gatherv";
    case Collective::scatter:
      return "scatter";
    case Collective::scatterv:
      return "scatterv";
    case Collective::bcast:
      return "bcast";
    case Collective::alltoall:
      return "alltoall";
    case Collective::alltoallv:
      return "alltoallv";
    case Collective::barrier:
      return "barrier";
    case Collective::reduce:
      return "reduce";
    case Collective::allreduce:
      return "allreduce";
    case Collective::reduce_scatter_block:
      return "reduce_scatter_block";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::scan:
      return "scan";
    case Collective::exscan:
      return "exscan";
    case Collective::neighbor_allgather:
      return "neighbor_allgather";
    case Collective::neighbor_allgatherv:
      return "neighbor_allgatherv";
  }
  return "?";
}

std::optional<Collective> find_collective(std::string_view wanted) {
  for (Collective collective : all_collectives)
    if (name(collective) == wanted) return collective;
  return std::nullopt;
}

bool is_rooted(Collective collective) {
  const Promise what = promise(collective);
  return what == Promise::gather || what == Promise::scatter || what == Promise::bcast ||
         what == Promise::reduce;
}

bool is_reduction(Collective collective) {
  const Promise what = promise(collective);
  return what == Promise::reduce || what == Promise::allreduce || what == Promise::reduce_scatter ||
         what == Promise::scan;
}

bool has_one_vector(Collective collective) {
  const Promise what = promise(collective);
  return what == Promise::bcast || what == Promise::reduce || what == Promise::allreduce ||
         what == Promise::scan;
}

bool is_neighborhood(Collective collective) { return promise(collective) == Promise::neighbor_allgather; }

Call with_graph(Call call) {
  if (is_neighborhood(call.collective) && !call.graph)
    call.graph = std::make_shared<const Graph>(Graph::moore(nearly_square(call.procs)));
  return call;
}

Places places(const Call& call, std::uint32_t segments) {
  // Of collectives with one vector that number means nothing.
  const std::uint64_t of_all = has_one_vector(call.collective) ? 0 : std::uint64_t{call.procs} * segments;
  if (std::max<std::uint64_t>(of_all, segments) > Range::max_count)
    throw Error("blocks of " + std::to_string(call.procs) + " processes in " + std::to_string(segments) +
                " segments each are more places than a schedule can have; take fewer segments or processes");
  const auto all = static_cast<std::uint32_t>(of_all);
  switch (promise(call.collective)) {
    case Promise::allgather:
      return {segments, all};
    case Promise::gather:
      return {segments, call.is_root() ? all : 0};
    case Promise::scatter:
      return {call.is_root() ? all : 0, segments};
    case Promise::bcast:
      return {0, segments};
    case Promise::alltoall:
      return {all, all};
    case Promise::reduce:
      return {segments, call.is_root() ? segments : 0};
    case Promise::allreduce:
    case Promise::scan:
      return {segments, segments};
    case Promise::reduce_scatter:
      return {all, segments};
    case Promise::neighbor_allgather:
      return {segments, static_cast<std::uint32_t>(call.graph->sources[call.rank].size()) * segments};
  }
  return {};
}

std::optional<Alias> in_place_alias(const Call& call, std::uint32_t segments) {
  const Place own = call.rank * segments;
  switch (promise(call.collective)) {
    case Promise::allgather:
      if (call.collective == Collective::barrier) return std::nullopt;
      return call.in_place ? std::optional<Alias>({Buffer::input, Buffer::output, own}) : std::nullopt;
    case Promise::gather:
      return call.in_place && call.is_root() ? std::optional<Alias>({Buffer::input, Buffer::output, own})
                                             : std::nullopt;
    case Promise::scatter:
      return call.in_place && call.is_root() ? std::optional<Alias>({Buffer::output, Buffer::input, own})
                                             : std::nullopt;
    case Promise::reduce:
    case Promise::allreduce:
    case Promise::scan:
      if (!call.in_place || (is_rooted(call.collective) && !call.is_root())) return std::nullopt;
      return Alias{Buffer::input, Buffer::output, 0};
    case Promise::bcast:
    case Promise::alltoall:
    case Promise::reduce_scatter:
    case Promise::neighbor_allgather:
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
      // What the alias names is on the other buffer alone.
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
