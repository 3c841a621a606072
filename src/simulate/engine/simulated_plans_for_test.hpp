// SPDX-License-Identifier: BSD-3-Clause
// For tests only: small plans and platforms, so that this layer can be tested without the algorithms.
#pragma once

#include <vector>

#include "schedule/core/builder.hpp"
#include "simulate/engine/simulator.hpp"

namespace convene::simulate {

/// Rank r's steps are those that write(r, builder) adds; buffers have 1 and `places` places.
template <class Write>
Plan make_plan(Rank procs, std::uint32_t places, Write&& write) {
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    builder.begin(procs, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, places);
    write(rank, builder);
    plan.push_back(builder.finish());
  }
  return plan;
}

/// Every rank in `senders` sends one place to rank `to`.
inline Plan all_to_one(Rank procs, const std::vector<Rank>& senders, Rank to) {
  return make_plan(procs, procs, [&](Rank rank, Builder& builder) {
    for (const Rank from : senders) {
      if (rank == from) builder.send(to, Range(Buffer::input, 0));
      if (rank == to) builder.recv(from, Range(Buffer::output, from));
    }
  });
}

/// Allgather: a ring.
inline Plan ring(Rank procs) {
  return make_plan(procs, procs, [&](Rank rank, Builder& builder) {
    for (Rank round = 0; round + 1 < procs; ++round) {
      const Rank mine = (rank + procs - round) % procs, theirs = (rank + procs - round - 1) % procs;
      builder.round(round);
      builder.send((rank + 1) % procs, round == 0 ? Range(Buffer::input, 0) : Range(Buffer::output, mine));
      builder.recv((rank + procs - 1) % procs, Range(Buffer::output, theirs));
    }
  });
}

/// Allgather: recursive doubling.
inline Plan doubling(Rank procs) {
  return make_plan(procs, procs, [&](Rank rank, Builder& builder) {
    for (Rank held = 1, round = 0; held < procs; held *= 2, ++round) {
      const Rank mine = rank & ~(held - 1);
      builder.round(round);
      builder.send(rank ^ held, held == 1 ? Range(Buffer::input, 0) : Range(Buffer::output, mine, held));
      builder.recv(rank ^ held, Range(Buffer::output, mine ^ held, held));
    }
  });
}

/// Nodes of `cores` cores on one switch; only the given links have costs.
inline SimulatedPlatform cluster(std::uint32_t nodes, std::uint32_t cores, const Link& link,
                                 const Link& memory) {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:" + std::to_string(nodes) + " core:" + std::to_string(cores));
  platform.within = {memory};
  platform.network.node = link;
  platform.eager = 1e18;
  return platform;
}

/// 1 µs from node to switch, 1 GB/s each way; within a node 0.1 µs, 10 GB/s for all.
inline SimulatedPlatform cluster(std::uint32_t nodes, std::uint32_t cores = 1) {
  return cluster(nodes, cores, {.latency = 1e-6, .bandwidth = 1e9},
                 {.latency = 1e-7, .bandwidth = 1e10, .shared = Shared::both_ways});
}

/// Simulates a plan with this many bytes in each place.
inline SimulationResult run_simulation(const Plan& plan, const SimulatedPlatform& platform, double bytes,
                                       std::vector<double> arrivals = {},
                                       const SimulationOptions& options = {},
                                       std::string_view placement = "sequential") {
  Workload workload = Workload::of(plan);
  workload.set_bytes(bytes);
  if (arrivals.empty()) arrivals.assign(plan.size(), 0);
  return convene::simulate::run_simulation(workload, platform, seat(platform, placement, workload.procs()),
                                           arrivals, options);
}

/// The order in which each rank waits.
inline std::vector<Order> orders_of(const Plan& plan) {
  std::vector<Order> orders;
  for (const Schedule& schedule : plan) orders.push_back(compile_order(schedule));
  return orders;
}

inline const SimulationOptions fast{.contention = Contention::equal_share},
    exact{.contention = Contention::max_min_fair};

}  // namespace convene::simulate
