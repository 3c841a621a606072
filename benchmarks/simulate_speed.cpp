// SPDX-License-Identifier: BSD-3-Clause
// Speed of the simulator: messages per second, and the time and memory of a simulation of a million ranks.
// Its bound: the events of a message, and the cost of the event queue alone. (simulate_speed.py makes a table
// of the results.)
#include <benchmark/benchmark.h>

#include <string>

#include "base/error.hpp"
#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "simulate/engine/simulator.hpp"
#include "simulate/kernel/grid_time.hpp"

namespace convene::bench {
namespace {

/// Nodes of 16 cores on one switch, with costs of the order of InfiniBand's.
SimulatedPlatform cluster(Rank procs, Rank cores) {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:" + std::to_string((procs + cores - 1) / cores) +
                                    " core:" + std::to_string(cores));
  platform.within = {{.latency = 3e-7, .bandwidth = 1e10, .shared = Shared::both_ways}};
  platform.network.node = {.latency = 1e-6, .bandwidth = 1.2e10};
  platform.cpu = {.send = 2e-7, .recv = 2e-7, .copy = 1e-10};
  return platform;
}

struct Case {
  std::string spec;
  Rank procs, cores;
  double bytes;
  bool scattered_arrivals;
  Contention contention;
};

void report(benchmark::State& state, std::uint64_t messages, std::uint64_t events) {
  state.counters["messages"] = static_cast<double>(messages);
  state.counters["events_per_message"] = static_cast<double>(events) / static_cast<double>(messages);
  state.counters["messages_per_second"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsIterationInvariantRate);
}

std::vector<double> arrivals_of(const Case& c) {
  std::vector<double> arrivals(c.procs, 0);
  std::uint64_t random = 1;
  for (double& arrival : arrivals) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if (c.scattered_arrivals) arrival = static_cast<double>(random >> 40) * 1e-12;  // up to 17 µs
  }
  return arrivals;
}

void simulate_plan(benchmark::State& state, const Case& c) {
  const Spec spec = parse_spec(Collective::allgather, c.spec);
  const Plan plan = build_plan(*spec.algorithm, {.collective = Collective::allgather,
                                                 .procs = c.procs,
                                                 .parameters = spec.parameters,
                                                 .parts = spec.parts});
  Workload workload = Workload::of(plan);
  workload.set_bytes(c.bytes);
  const SimulatedPlatform platform = cluster(c.procs, c.cores);
  const Seating seating = seat(platform, "sequential", c.procs);
  const std::vector<double> arrivals = arrivals_of(c);
  SimulationResult result;
  for (auto _ : state)
    result = run_simulation(workload, platform, seating, arrivals, {.contention = c.contention});
  report(state, result.messages, result.events);
}

/// The schedule of rank 0, relabelled; building it is part of the time.
void simulate_symmetry(benchmark::State& state, const Case& c) {
  const Spec spec = parse_spec(Collective::allgather, c.spec);
  SimulationResult result;
  for (auto _ : state) {
    Builder builder;
    const Schedule schedule = build_schedule(*spec.algorithm,
                                             {.collective = Collective::allgather,
                                              .procs = c.procs,
                                              .parameters = spec.parameters,
                                              .parts = spec.parts},
                                             builder);
    Workload workload = Workload::relabelled(schedule, spec.algorithm->symmetry == Symmetry::exchange
                                                           ? Relabelling::exchange
                                                           : Relabelling::rotation);
    workload.set_bytes(c.bytes);
    const SimulatedPlatform platform = cluster(c.procs, c.cores);
    const Seating seating = seat(platform, "sequential", c.procs);
    result = run_simulation(workload, platform, seating, arrivals_of(c), {.contention = c.contention});
  }
  report(state, result.messages, result.events);
}

/// All ranks' schedules of a tree; building them is part of the time.
void simulate_tree(benchmark::State& state, Collective collective, Rank procs, bool scattered) {
  const Spec spec = parse_spec(collective, "binomial");
  const Case c{"binomial", procs, 16, 8, scattered, Contention::equal_share};
  SimulationResult result;
  for (auto _ : state) {
    const Plan plan = build_plan(
        *spec.algorithm,
        {.collective = collective, .procs = procs, .parameters = spec.parameters, .parts = spec.parts});
    Workload workload = Workload::of(plan);
    workload.set_bytes(c.bytes);
    const SimulatedPlatform platform = cluster(procs, c.cores);
    result = run_simulation(workload, platform, seat(platform, "sequential", procs), arrivals_of(c), {});
  }
  report(state, result.messages, result.events);
}

/// The event queue alone: every event that is taken adds one, after one of four delays or a random one.
/// Events count as messages.
void simulate_queue(benchmark::State& state, std::uint32_t pending, bool random_delays) {
  constexpr std::uint64_t events = 100'000;
  constexpr double delays[] = {2e-7, 1.37e-6, 2.085e-6, 5e-8};
  GridEventQueue queue;
  queue.look_ahead(13);
  std::uint64_t random = 1;
  const auto any = [&random] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(random >> 40);
  };
  for (std::uint32_t number = 0; number < pending; ++number) queue.push(any() * 1e-13, number);
  for (auto _ : state)
    for (std::uint64_t i = 0; i < events; ++i) {
      const TimedEvent event = queue.pop();
      queue.push(event.seconds() + (random_delays ? any() * 1e-13 : delays[event.what % 4]), event.what);
    }
  report(state, events, events);
}

void add_all() {
  for (const bool random_delays : {false, true})
    for (const std::uint32_t pending : {128u, 512u, 4096u})
      benchmark::RegisterBenchmark(
          ("queue/" + std::to_string(pending) + (random_delays ? "/random" : "/constant")).c_str(),
          [=](benchmark::State& state) { simulate_queue(state, pending, random_delays); })
          ->Unit(benchmark::kMillisecond);
  for (const Contention contention : {Contention::equal_share, Contention::max_min_fair}) {
    const std::string mode = contention == Contention::equal_share ? "sharing" : "maxmin";
    for (const bool scattered : {false, true})
      for (const Rank cores : {1u, 16u})
        for (const bool large : {false, true})
          for (const std::string spec : {"ring", "recursive_doubling", "sparbit", "bruck"}) {
            const Rank procs = !large ? 128 : spec == "ring" || spec == "sparbit" ? 512 : 4096;
            const Case c{spec, procs, cores, 1024, scattered, contention};
            benchmark::RegisterBenchmark(
                (mode + "/" + spec + "/" + std::to_string(c.procs) + "/" + std::to_string(cores) + "/" +
                 (scattered ? "scattered" : "together"))
                    .c_str(),
                [c](benchmark::State& state) { simulate_plan(state, c); })
                ->Unit(benchmark::kMillisecond);
          }
  }
  for (const std::string spec : {"recursive_doubling", "bruck", "sparbit;send=packed"})
    for (const bool scattered : {false, true}) {
      const Case c{spec, 1u << 20, 16, 8, scattered, Contention::equal_share};
      benchmark::RegisterBenchmark(
          ("million/" + spec.substr(0, spec.find(';')) + "/" + (scattered ? "scattered" : "together"))
              .c_str(),
          [c](benchmark::State& state) { simulate_symmetry(state, c); })
          ->Unit(benchmark::kSecond)
          ->Iterations(1);
    }
  for (const Collective collective :
       {Collective::bcast, Collective::gather, Collective::scatter, Collective::reduce})
    for (const bool scattered : {false, true}) {
      const std::string which = std::string(name(collective)) + (scattered ? "/scattered" : "/together");
      benchmark::RegisterBenchmark(
          ("million/binomial-" + which).c_str(),
          [=](benchmark::State& state) { simulate_tree(state, collective, 1u << 20, scattered); })
          ->Unit(benchmark::kSecond)
          ->Iterations(1);
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
