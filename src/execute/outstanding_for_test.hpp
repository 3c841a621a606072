// SPDX-License-Identifier: BSD-3-Clause
// For tests only: ranks of one process with several operations outstanding in shared memory, mixed with
// blocking runs, as the runtime has them.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "execute/executor.hpp"
#include "execute/random_plan_for_test.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "transport/in_process.hpp"
#include "transport/shared_lanes.hpp"

namespace convene::execute {

/// One rank's program: starts operations in order, tests and waits in an order of its own, is late, and makes
/// a blocking call now and then.
class OutstandingRank {
 public:
  struct Options {
    std::uint32_t operations = 60;
    std::size_t most_open = 7;                 ///< more than lanes
    std::uint32_t starts_between_waits = 4;    ///< on average, at most
    bool waits_for_turns = true;               ///< false: an error
    bool progresses_in_blocking_calls = true;  ///< false: an error
  };

  OutstandingRank(const std::vector<RandomPlan>& plans, Rank rank, Transport& transport,
                  const ThreadsMemory& of_blocking, std::shared_ptr<SharedLanes> lanes,
                  const Options& options, std::uint64_t seed)
      : plans_(plans),
        rank_(rank),
        transport_(transport),
        of_blocking_(of_blocking, rank),
        lanes_(std::move(lanes)),
        options_(options),
        random_(seed * 1000 + rank) {}

  /// The next part of the program, without waiting. False after its end.
  bool step() {
    if (pause_ > 0) return --pause_, true;
    if (blocking_) return wait_in_blocking_call();
    if (awaited_) return wait();
    switch (below(8)) {
      case 0:
        pause_ = below(300);
        return true;
      case 1:
      case 2:
        progress();
        return true;
      default:
        break;
    }
    if (next_ < options_.operations && open_.size() < options_.most_open &&
        below(options_.starts_between_waits) > 0)
      return start(next_++), true;
    if (open_.empty()) return next_ < options_.operations;
    awaited_ = open_[below(static_cast<std::uint32_t>(open_.size()))].get();
    return true;
  }

  /// Completed so far; wrong results; the first error.
  std::uint32_t completed() const { return completed_; }
  std::uint32_t wrong() const { return wrong_; }
  int code() const { return code_; }

 private:
  struct Operation {
    const RandomPlan* plan = nullptr;
    RandomPlan::Block input, output;
    Binding binding;
    Arena arena;
    std::optional<LaneTurn> turn;
    std::unique_ptr<StepwiseRun> run;
    bool is_done = false;
  };

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  static bool is_blocking(std::uint32_t number) { return number % 5 == 3; }

  void start(std::uint32_t number) {
    auto operation = std::make_unique<Operation>();
    const RandomPlan& plan = plans_[number % plans_.size()];
    operation->plan = &plan;
    operation->input = plan.input(rank_);
    operation->output = plan.output_before(rank_);
    Binding& binding = operation->binding;
    binding.schedule = &plan.schedule(rank_);
    binding.transport = &transport_;
    binding.collective_number = number;
    binding.op = {RandomPlan::combine, nullptr};
    binding.buffers.input = Memory::uniform(operation->input.data(), plan.bytes());
    binding.buffers.output = Memory::uniform(operation->output.data(), plan.bytes());
    binding.buffers.blocks = Memory::uniform(nullptr, plan.bytes());
    bind_scratch(*binding.schedule, binding.buffers, operation->arena);
    if (is_blocking(number)) {
      of_blocking_.begin(binding);
      operation->run = std::make_unique<StepwiseRun>(binding, Limits{}, operation->arena);
      blocking_ = std::move(operation);
      return;
    }
    operation->turn.emplace(lanes_);
    if (!options_.waits_for_turns) begin(*operation);
    advance(*operation);
    open_.push_back(std::move(operation));
  }

  void begin(Operation& operation) {
    Binding& binding = operation.binding;
    binding.shared_memory = &operation.turn->memory();
    binding.shared_bytes = RandomPlan::shared_places * operation.plan->bytes();
    binding.buffers.shared = Memory::uniform(nullptr, operation.plan->bytes());
    binding.begin_shared();
    operation.run = std::make_unique<StepwiseRun>(binding, Limits{}, operation.arena);
  }

  void advance(Operation& operation) {
    if (operation.is_done) return;
    if (!operation.run) {
      if (operation.turn && !operation.turn->is_current()) return;
      begin(operation);
    }
    const int code = operation.run->advance(operation.is_done);
    if (code != MPI_SUCCESS) code_ = code;
    if (!operation.is_done) return;
    operation.run.reset();
    if (operation.turn) operation.turn->end();
  }

  void progress() {
    for (const auto& each : open_) advance(*each);
  }

  void finish(const Operation& operation) {
    ++completed_;
    wrong_ += operation.output != operation.plan->output(rank_);
  }

  bool wait_in_blocking_call() {
    advance(*blocking_);
    if (options_.progresses_in_blocking_calls) progress();
    if (!blocking_->is_done) return true;
    finish(*blocking_);
    blocking_.reset();
    return true;
  }

  bool wait() {
    progress();
    if (!awaited_->is_done) return true;
    finish(*awaited_);
    std::erase_if(open_, [&](const auto& each) { return each.get() == awaited_; });
    awaited_ = nullptr;
    return true;
  }

  const std::vector<RandomPlan>& plans_;
  const Rank rank_;
  Transport& transport_;
  ThreadsMemory::Share of_blocking_;
  const std::shared_ptr<SharedLanes> lanes_;
  const Options options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Operation>> open_;
  std::unique_ptr<Operation> blocking_;
  const Operation* awaited_ = nullptr;
  std::uint32_t next_ = 0, pause_ = 0, completed_ = 0, wrong_ = 0;
  int code_ = MPI_SUCCESS;
};

/// The ranks of one program.
class OutstandingProgram {
 public:
  OutstandingProgram(Rank procs, std::uint64_t seed, const OutstandingRank::Options& options)
      : network_(static_cast<int>(procs),
                 {.seed = seed, .eager_bytes = seed % 2 == 0 ? 0u : 64u, .most_delay = 20}),
        of_blocking_(procs, RandomPlan::shared_places, most_bytes) {
    for (std::uint64_t i = 0; i < 3; ++i)
      plans_.emplace_back(procs, seed * 10 + i,
                          RandomPlan::Options{.steps = procs * 8, .bytes = i == 2 ? most_bytes : 8 + i});
    std::vector<Rank> numbers(procs);
    std::iota(numbers.begin(), numbers.end(), 0);
    constexpr std::size_t data = RandomPlan::shared_places * most_bytes;
    const auto memory = zeroed_memory(SharedLanes::bytes(procs, data));
    for (Rank rank = 0; rank < procs; ++rank)
      ranks_.push_back(std::make_unique<OutstandingRank>(
          plans_, rank, network_.of(static_cast<int>(rank)), of_blocking_,
          std::make_shared<SharedLanes>(memory, numbers, rank, data), options, seed));
  }

  std::vector<std::unique_ptr<OutstandingRank>>& ranks() { return ranks_; }
  std::uint32_t completed() const { return sum(&OutstandingRank::completed); }
  std::uint32_t wrong() const { return sum(&OutstandingRank::wrong); }

 private:
  static constexpr std::size_t most_bytes = 3000;

  std::uint32_t sum(std::uint32_t (OutstandingRank::*count)() const) const {
    std::uint32_t result = 0;
    for (const auto& each : ranks_) result += (*each.*count)();
    return result;
  }

  InProcessNetwork network_;
  std::vector<RandomPlan> plans_;
  ThreadsMemory of_blocking_;
  std::vector<std::unique_ptr<OutstandingRank>> ranks_;
};

}  // namespace convene::execute
