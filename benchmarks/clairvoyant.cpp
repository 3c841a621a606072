// SPDX-License-Identifier: BSD-3-Clause
// Time of Clairvoyant's search for its transfers (those of all ranks, which every rank computes), and time to
// build the rank's own schedule from them; with balanced arrivals, one late rank, and random arrivals. JSON
// with --benchmark_out=FILE --benchmark_out_format=json.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "collective/core/algorithm.hpp"
#include "patterns/clairvoyant_pattern.hpp"

namespace convene::bench {
namespace {

enum class Arrivals { balanced, one_late, random };

std::vector<std::int32_t> arrivals(Arrivals kind, std::uint32_t procs, std::uint32_t segments) {
  std::vector<std::int32_t> result;
  if (kind == Arrivals::balanced) return result;
  result.assign(procs, 0);
  if (kind == Arrivals::one_late) {
    result.back() = static_cast<std::int32_t>(segments);  // about the time of the whole reduction
    return result;
  }
  std::mt19937 random(1);
  for (std::int32_t& arrival : result) arrival = static_cast<std::int32_t>(random() % segments);
  return result;
}

void transfers(benchmark::State& state, Arrivals kind, std::uint32_t procs, std::uint32_t segments) {
  const std::vector<std::int32_t> pattern = arrivals(kind, procs, segments);
  for (auto _ : state) benchmark::DoNotOptimize(clairvoyant_transfers(procs, segments, 0, pattern));
  const auto found = clairvoyant_transfers(procs, segments, 0, pattern);
  state.counters["rounds"] = found.back().round + 1;
  state.counters["transfers"] = static_cast<double>(found.size());
  state.counters["procs"] = procs;
  state.counters["segments"] = segments;
}

void schedule(benchmark::State& state, Arrivals kind, std::uint32_t procs, std::uint32_t segments) {
  const Algorithm* algorithm = nullptr;
  for (const Algorithm* each : catalogue(Collective::reduce))
    if (each->name == "clairvoyant") algorithm = each;
  const Call call{.collective = Collective::reduce,
                  .procs = procs,
                  .rank = procs / 2,
                  .parameters = {segments},
                  .arrivals = arrivals(kind, procs, segments)};
  Builder builder;
  for (auto _ : state) benchmark::DoNotOptimize(build_schedule(*algorithm, call, builder));
}

void add_all() {
  const std::pair<Arrivals, const char*> kinds[] = {
      {Arrivals::balanced, "balanced"}, {Arrivals::one_late, "one_late"}, {Arrivals::random, "random"}};
  for (const auto& [kind, word] : kinds)
    for (const std::uint32_t procs : {8, 32, 128, 512})
      for (const std::uint32_t segments : {1, 4, 16, 64, 256, 512}) {
        const std::string name =
            std::string(word) + "/P:" + std::to_string(procs) + "/N:" + std::to_string(segments);
        benchmark::RegisterBenchmark(("transfers/" + name).c_str(), transfers, kind, procs, segments)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("schedule/" + name).c_str(), schedule, kind, procs, segments)
            ->Unit(benchmark::kMillisecond);
      }
}

}  // namespace
}  // namespace convene::bench

int main(int argc, char** argv) {
  convene::bench::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
