// SPDX-License-Identifier: BSD-3-Clause
// Exchange of forecasts: each rank's number reaches all ranks, by a schedule that progresses step by step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/arena.hpp"
#include "collective/core/spec.hpp"
#include "execute/executor.hpp"
#include "runtime/call/schedule_cache.hpp"

namespace convene::runtime {

/// Up to most_direct ranks send their own number directly to all others: then a busy rank need not forward
/// anything.
class ForecastExchange {
 public:
  static constexpr Rank most_direct = 64;

  ForecastExchange(Rank procs, Rank rank, const Channel& internal, std::uint32_t number) : procs_(procs) {
    const bool direct = procs <= most_direct;
    const Collective collective = direct ? Collective::alltoall : Collective::allgather;
    const Spec spec = parse_spec(collective, direct ? "linear" : "sparbit");
    prepared_ = process_schedules().get(*spec.algorithm, {.collective = collective,
                                                          .procs = procs,
                                                          .rank = rank,
                                                          .parameters = spec.parameters,
                                                          .parts = spec.parts});
    mine_.resize(direct ? procs : 1);
    all_.resize(procs);
    binding_.schedule = &prepared_->schedule;
    binding_.travel_on(internal);
    binding_.persistent_number = number;
    binding_.buffers.input = Memory::uniform(mine_.data(), sizeof(std::int64_t), prepared_->segments);
    binding_.buffers.output = Memory::uniform(all_.data(), sizeof(std::int64_t), prepared_->segments);
    binding_.buffers.blocks = binding_.buffers.output;
  }

  void begin(std::int64_t mine) {
    std::fill(mine_.begin(), mine_.end(), mine);
    run_.reset();
    arena_.reset();
    bind_scratch(*binding_.schedule, binding_.buffers, arena_);
    run_.emplace(binding_, Limits{}, arena_);
  }
  int advance(bool& done) { return run_->advance(done); }
  const std::vector<std::int64_t>& all() const { return all_; }

 private:
  Rank procs_;
  std::shared_ptr<const Prepared> prepared_;
  std::vector<std::int64_t> mine_, all_;
  Binding binding_;
  Arena arena_;
  std::optional<StepwiseRun> run_;
};

}  // namespace convene::runtime
