// SPDX-License-Identifier: BSD-3-Clause
// Time and memory to build one rank's schedule of each algorithm and to compile its order: the cost of a
// first call on a communicator before it is cached. (schedule_build.py makes a table of it.)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "schedule/core/order.hpp"

namespace convene::bench {
namespace {

constexpr Rank procs = 1024, rank = 317;

Call call_of(const Spec& spec, Rank of_procs, Rank of_rank) {
  return {.collective = Collective::allgather,
          .procs = of_procs,
          .rank = of_rank,
          .parameters = spec.parameters,
          .parts = spec.parts};
}

void build(benchmark::State& state, const Spec& spec) {
  const Call call = call_of(spec, procs, rank);
  Builder builder;
  for (auto _ : state) benchmark::DoNotOptimize(build_schedule(*spec.algorithm, call, builder));
  state.counters["steps"] = build_schedule(*spec.algorithm, call, builder).size();
}

void order(benchmark::State& state, const Spec& spec) {
  Builder builder;
  const Schedule schedule = build_schedule(*spec.algorithm, call_of(spec, procs, rank), builder);
  for (auto _ : state) benchmark::DoNotOptimize(compile_order(schedule));
}

/// Bytes of a cached schedule and its order.
double memory_of(const Schedule& schedule) {
  Order order;
  if (!has_independent_arrivals(schedule)) order = compile_order(schedule);
  return static_cast<double>(schedule.memory() + sizeof(Order) + order.size() * sizeof(Op));
}

/// The largest number of bytes per step, edges and order included, over all samples of the parameters and
/// P = 2 … 1024; the fixed part of every schedule is counted separately.
void memory(benchmark::State& state, const Spec& spec) {
  const Algorithm& algorithm = *spec.algorithm;
  Builder builder;
  const double fixed = sizeof(Schedule) + sizeof(Order);
  double most = 0;
  for (auto _ : state) {
    for (Rank p = 2; p <= procs; p += std::max<Rank>(1, p / 4)) {
      if (!unmet_requirement(algorithm, p).empty()) continue;
      for (const Spec& sample : sample_specs(algorithm)) {
        const Call call = call_of(sample, p, p / 3);
        const Schedule schedule = build_schedule(algorithm, call, builder);
        most = std::max(most, (memory_of(schedule) - fixed) / schedule.size());
      }
    }
  }
  state.counters["bytes_per_step"] = most;
  const Schedule usual = build_schedule(algorithm, call_of(spec, procs, rank), builder);
  state.counters["fixed"] = fixed;
  state.counters["bytes"] = memory_of(usual);
}

void add(const Spec& spec) {
  const std::string name = spec_text(spec);
  benchmark::RegisterBenchmark(("build/" + name).c_str(), build, spec);
  benchmark::RegisterBenchmark(("order/" + name).c_str(), order, spec);
  benchmark::RegisterBenchmark(("memory/" + name).c_str(), memory, spec)->Iterations(1);
}

/// Every algorithm with its defaults, and Sparbit with joined messages, too.
void add_all() {
  for (const Algorithm* algorithm : catalogue(Collective::allgather))
    if (!algorithm->is_native() && !algorithm->is_composed()) add(default_spec(*algorithm));
  add(parse_spec(Collective::allgather, "sparbit;send=joined"));
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
