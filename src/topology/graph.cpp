// SPDX-License-Identifier: BSD-3-Clause
#include "topology/graph.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "base/error.hpp"

namespace convene::topology {
namespace {

using Sizes = std::vector<std::uint32_t>;

constexpr std::uint32_t most_procs = 1u << 20;
constexpr std::uint32_t most_degree = 1u << 10;
constexpr std::size_t most_dims = 6;  // 3^6 is below the largest degree

std::uint32_t product(std::span<const std::uint32_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), 1u, std::multiplies<>());
}

Sizes coordinates(std::uint32_t rank, std::span<const std::uint32_t> dims) {
  Sizes result(dims.size());
  for (std::size_t i = dims.size(); i-- > 0; rank /= dims[i]) result[i] = rank % dims[i];
  return result;
}

std::uint32_t rank_at(const Sizes& coordinates, std::span<const std::uint32_t> dims) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) rank = rank * dims[i] + coordinates[i];
  return rank;
}

std::uint32_t number(std::string_view text, std::string_view whole, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw Error("numbers in a graph must be from 1 to " + std::to_string(most) + ", not '" +
                std::string(text) + "' as in '" + std::string(whole) + "'");
  return value;
}

Sizes parse_dims(std::string_view text, std::string_view whole, std::uint32_t procs) {
  Sizes dims;
  std::uint64_t size = 1;
  while (true) {
    const std::size_t x = text.find('x');
    dims.push_back(number(text.substr(0, x), whole, most_procs));
    size *= dims.back();
    if (dims.size() > most_dims)
      throw Error("the graph '" + std::string(whole) + "' has more than " + std::to_string(most_dims) +
                  " dimensions");
    if (size > most_procs || x == std::string_view::npos) break;
    text.remove_prefix(x + 1);
  }
  if (size != procs)
    throw Error("the graph '" + std::string(whole) + "' is not one of " + std::to_string(procs) +
                " processes; give sizes whose product is that number");
  return dims;
}

}  // namespace

std::vector<std::uint32_t> nearly_square(std::uint32_t procs) {
  std::uint32_t low = 1;
  for (std::uint32_t i = 1; std::uint64_t{i} * i <= procs; ++i)
    if (procs % i == 0) low = i;
  return {procs / low, low};
}

Graph Graph::cartesian(std::span<const std::uint32_t> dims, bool periodic) {
  Graph graph(product(dims));
  graph.is_grid = true;
  for (std::uint32_t rank = 0; rank < graph.procs(); ++rank)
    for (std::size_t i = 0; i < dims.size(); ++i)
      for (const bool above : {false, true}) {
        Sizes at = coordinates(rank, dims);
        const bool is_beyond = above ? at[i] + 1 == dims[i] : at[i] == 0;
        at[i] = (at[i] + (above ? 1 : dims[i] - 1)) % dims[i];
        const std::uint32_t neighbor = is_beyond && !periodic ? no_rank : rank_at(at, dims);
        graph.sources[rank].push_back(neighbor);
        graph.targets[rank].push_back(neighbor);
      }
  return graph;
}

Graph Graph::moore(std::span<const std::uint32_t> dims) {
  Graph graph(product(dims));
  const Sizes threes(dims.size(), 3);
  for (std::uint32_t rank = 0; rank < graph.procs(); ++rank)
    for (std::uint32_t code = 0; code < product(threes); ++code) {
      const Sizes step = coordinates(code, threes);  // in each dimension: 0 is one below, 1 the same, 2 one
                                                     // above
      if (std::all_of(step.begin(), step.end(), [](std::uint32_t s) { return s == 1; })) continue;
      Sizes to = coordinates(rank, dims), from = to;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        to[i] = (to[i] + dims[i] - 1 + step[i]) % dims[i];
        from[i] = (from[i] + dims[i] + 1 - step[i]) % dims[i];
      }
      graph.sources[rank].push_back(rank_at(from, dims));
      graph.targets[rank].push_back(rank_at(to, dims));
    }
  return graph;
}

Graph Graph::random(std::uint32_t procs, std::uint32_t degree, std::uint64_t seed) {
  Graph graph(procs);
  std::mt19937_64 source(seed);
  for (std::uint32_t rank = 0; rank < procs; ++rank)
    for (std::uint32_t i = 0; i < degree; ++i) {
      const auto target = static_cast<std::uint32_t>(source() % procs);
      graph.targets[rank].push_back(target);
      graph.sources[target].push_back(rank);
    }
  for (auto& sources : graph.sources) std::shuffle(sources.begin(), sources.end(), source);
  return graph;
}

Graph Graph::parse(std::string_view text, std::uint32_t procs) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (kind == "random") {
    const std::size_t second = rest.find(':');
    const std::uint32_t seed =
        second == std::string_view::npos ? 1 : number(rest.substr(second + 1), text, UINT32_MAX - 1);
    return random(procs, number(rest.substr(0, second), text, most_degree), seed);
  }
  if (kind != "cart" && kind != "torus" && kind != "moore")
    throw Error("a graph must be cart, torus or moore with sizes, as in torus:4x4, or random:DEGREE, not '" +
                std::string(text) + "'");
  const Sizes dims = colon == std::string_view::npos ? nearly_square(procs) : parse_dims(rest, text, procs);
  return kind == "moore" ? moore(dims) : cartesian(dims, kind == "torus");
}

bool Graph::is_consistent() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> surplus;
  for (std::uint32_t rank = 0; rank < procs(); ++rank) {
    for (const std::uint32_t target : targets[rank])
      if (target != no_rank) ++surplus[{rank, target}];
    for (const std::uint32_t from : sources[rank])
      if (from != no_rank) --surplus[{from, rank}];
  }
  return std::all_of(surplus.begin(), surplus.end(), [](const auto& each) { return each.second == 0; });
}

std::vector<std::uint32_t> Graph::receive_order(std::uint32_t rank) const {
  std::vector<std::uint32_t> order(sources[rank].size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = is_grid ? i ^ 1u : i;
  return order;
}

std::uint32_t Graph::sent_from(std::uint32_t rank, std::uint32_t place) const {
  const std::uint32_t source = sources[rank][place];
  std::uint32_t before = 0;  // blocks of that source that arrive earlier
  for (const std::uint32_t each : receive_order(rank)) {
    if (each == place) break;
    before += sources[rank][each] == source;
  }
  const auto& sent = targets[source];
  for (std::uint32_t i = 0; i < sent.size(); ++i)
    if (sent[i] == rank && before-- == 0) return i;
  throw std::logic_error("a source of a graph lacks a target");
}

std::uint32_t Graph::most_targets() const {
  std::size_t most = 0;
  for (const auto& each : targets) most = std::max(most, each.size());
  return static_cast<std::uint32_t>(most);
}

std::vector<std::uint32_t> Graph::distinct(std::span<const std::uint32_t> ranks) {
  std::vector<std::uint32_t> result(ranks.begin(), ranks.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  if (!result.empty() && result.back() == no_rank) result.pop_back();
  return result;
}

}  // namespace convene::topology
