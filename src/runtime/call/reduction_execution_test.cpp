// SPDX-License-Identifier: BSD-3-Clause
// Execution of every reduction's schedules with real data over an MPI in one process: with an operator that
// does not commute if the algorithm keeps the order, otherwise with a sum. (The binding provides
// MPI_Reduce_local as the operator.)
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <thread>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "execute/executor.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "runtime/call/contents_for_test.hpp"
#include "transport/fake_mpi_for_test.hpp"

namespace convene::runtime {
namespace {

constexpr std::uint32_t elements = 3;  // of one place

/// One rank's part of a run.
class Participant {
 public:
  Participant(const Algorithm& algorithm, const Call& call, const Contract& contract)
      : commutes_(call.commutative), mine_(contract[call.rank]), segments_(contract.reduction.segments) {
    Builder builder;
    schedule_ = build_schedule(algorithm, call, builder);
    input_ = values_of(mine_.input, segments_, false, commutes_, elements);
    output_ = values_of(mine_.output, segments_, false, commutes_, elements);
    constexpr std::size_t bytes = elements * sizeof(Element);
    binding_.schedule = &schedule_;
    binding_.point_to_point = PointToPoint(MPI_COMM_NULL);
    binding_.buffers.input = Memory::uniform(input_.data(), bytes);
    binding_.buffers.output = Memory::uniform(output_.data(), bytes);
    binding_.buffers.blocks = Memory::uniform(nullptr, bytes);
    binding_.op = {apply, &commutes_};
  }

  /// Has the ranks share memory.
  void share(const ThreadsMemory& memory, bool signals_carry) {
    share_.emplace(memory, schedule_.rank());
    signals_carry_ = signals_carry;
  }

  int run(bool compiled) {
    arena_.reset();
    if (share_) share_->begin(binding_, signals_carry_);
    bind_scratch(schedule_, binding_.buffers, arena_);
    if (!compiled) return run_dynamic(binding_, Limits{}, arena_);
    program_.bind(schedule_, compile_order(schedule_), binding_.buffers, 0, arena_, signals_carry_);
    return run_program(binding_, program_, arena_);
  }

  bool has_what_it_wants() const {
    const Values wanted = values_of(mine_.wanted, segments_, true, commutes_, elements);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (mine_.wanted[i / elements] != nothing && output_[i] != wanted[i]) return false;
    return true;
  }

 private:
  bool commutes_;
  const RankContract& mine_;
  std::uint32_t segments_;
  Values input_, output_;
  Schedule schedule_;
  Program program_;
  Binding binding_;
  Arena arena_;
  std::optional<ThreadsMemory::Share> share_;
  bool signals_carry_ = false;
};

void expect_result(const Algorithm& algorithm, Call call, bool compiled, unsigned seed) {
  SCOPED_TRACE(std::string(name(call.collective)) + "=" +
               spec_text({&algorithm, call.parameters, call.parts}) + ", P=" + std::to_string(call.procs) +
               (call.in_place ? ", in place" : "") + (call.commutative ? "" : ", in order") +
               (compiled ? ", compiled" : ", dynamic"));
  const Contract wanted = contract(call, segments(algorithm, call.procs, call.parameters));
  FakeMpi fake(static_cast<int>(call.procs), {.rendezvous = seed % 3 != 0, .seed = seed});
  std::vector<std::unique_ptr<Participant>> all;
  for (call.rank = 0; call.rank < call.procs; ++call.rank)
    all.push_back(std::make_unique<Participant>(algorithm, call, wanted));
  if (algorithm.shared_places) {
    const ThreadsMemory memory(call.procs, algorithm.shared_places(call.procs, call.parameters),
                               collective::shared_place_bytes(elements * sizeof(Element), 1, 1));
    const bool signals_carry =
        algorithm.signals_can_carry && algorithm.signals_can_carry(call.procs, call.parameters);
    for (const auto& one : all) one->share(memory, signals_carry);
  }
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < call.procs; ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      EXPECT_EQ(all[rank]->run(compiled), MPI_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
  for (Rank rank = 0; rank < call.procs; ++rank)
    EXPECT_TRUE(all[rank]->has_what_it_wants()) << "rank " << rank;
  EXPECT_EQ(fake.left_over(), 0u);
}

TEST(Execution, EveryReductionComputes) {
  unsigned seed = 1;
  for (const Collective collective : all_collectives)
    for (const Algorithm* algorithm : catalogue(collective)) {
      if (algorithm->is_native() || algorithm->is_composed() || !is_reduction(collective)) continue;
      const auto grid = algorithm->sample_parameters();
      for (const Rank procs : {1, 2, 3, 5, 8}) {
        if (!unmet_requirement(*algorithm, procs).empty()) continue;
        for (const auto& parameters : {algorithm->default_parameters(), grid[procs % grid.size()]})
          for (const bool compiled : {true, false}) {
            ++seed;
            expect_result(*algorithm,
                          {.collective = collective,
                           .procs = procs,
                           .root = is_rooted(collective) ? seed % procs : 0,
                           .in_place = seed % 4 == 0,
                           .parameters = parameters,
                           .commutative = algorithm->commutative_only},
                          compiled, seed);
          }
      }
    }
}

}  // namespace
}  // namespace convene::runtime
