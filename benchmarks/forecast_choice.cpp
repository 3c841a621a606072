// SPDX-License-Identifier: BSD-3-Clause
// Time to rank the candidates for a forecast, by collective and number of ranks: what `--arrivals auto` adds
// to the first call of a trial with a new forecast. One rank is late; four ranks are on a node.
#include "decide/forecast_choice.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

namespace convene::bench {
namespace {

using decide::ForecastCall;

ForecastCall call_of(Collective collective, Rank procs, std::uint64_t block, Rank late, std::int32_t rounds) {
  const bool is_vector = has_one_vector(collective);
  ForecastCall call{.context = {.collective = collective,
                                .procs = procs,
                                .total_bytes = is_vector ? block : block * procs,
                                .nodes = (procs + 3) / 4,
                                .ranks_per_node = 4,
                                .may_share = 0},
                    .arrivals = std::vector<std::int32_t>(procs, 0),
                    .round_bytes = static_cast<double>(block) / (is_vector ? 16 : 1)};
  for (Rank rank = 0; rank < procs; ++rank) call.context.node_of_rank.push_back(rank / 4);
  call.arrivals[late] = rounds;
  return call;
}

/// What a trial of `--arrivals auto` has in any case.
std::vector<std::string_view> tried(Collective collective) {
  if (collective == Collective::allgather || collective == Collective::reduce) return {"list_scheduled"};
  if (collective == Collective::allreduce) return {"slt", "prr"};
  return {};
}

void rank_candidates(benchmark::State& state, Collective collective, Rank procs, std::uint64_t block,
                     std::int32_t rounds) {
  ForecastCall call = call_of(collective, procs, block, procs / 3, rounds);
  call.besides = tried(collective);
  for (auto _ : state) benchmark::DoNotOptimize(decide::rank_by_forecast(call));
}

}  // namespace
}  // namespace convene::bench

int main(int argc, char** argv) {
  using convene::collective::Collective;
  benchmark::Initialize(&argc, argv);
  for (const auto collective : {Collective::allgather, Collective::reduce, Collective::allreduce,
                                Collective::bcast, Collective::gather, Collective::scatter})
    for (const unsigned procs : {16u, 64u, 256u})
      for (const std::uint64_t block : {std::uint64_t{1} << 13, std::uint64_t{1} << 21})
        for (const std::int32_t rounds : {3, 40}) {
          const std::string name = std::string(convene::collective::name(collective)) + "/" +
                                   std::to_string(procs) + " ranks/" + std::to_string(block) + " B/late by " +
                                   std::to_string(rounds);
          benchmark::RegisterBenchmark(name.c_str(), convene::bench::rank_candidates, collective, procs,
                                       block, rounds)
              ->Unit(benchmark::kMillisecond);
        }
  benchmark::RunSpecifiedBenchmarks();
}
