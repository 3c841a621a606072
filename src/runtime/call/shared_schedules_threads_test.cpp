// SPDX-License-Identifier: BSD-3-Clause
// Execution of every schedule in shared memory by ranks that are threads, many times in a row: a rank that is
// ahead must not overwrite what another one reads. The thread sanitizer runs these tests (./dev test all
// threads).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

#include "collective/core/served_for_test.hpp"
#include "collective/core/spec.hpp"
#include "execute/executor.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "runtime/call/contents_for_test.hpp"
#include "transport/fake_mpi_for_test.hpp"

namespace convene::runtime {
namespace {

/// One rank's part of repeated calls.
class SharingRank {
 public:
  SharingRank(const Algorithm& algorithm, const Call& call, const Contract& contract, std::uint32_t elements)
      : commutes_(call.commutative),
        mine_(contract[call.rank]),
        segments_(contract.reduction.segments),
        elements_(elements) {
    Builder builder;
    schedule_ = build_schedule(algorithm, call, builder);
    binding_.schedule = &schedule_;
    binding_.point_to_point = PointToPoint(MPI_COMM_NULL);
    binding_.op = {apply, &commutes_};
  }

  void share(const ThreadsMemory& memory, bool signals_carry, bool sleeps) {
    share_.emplace(memory, schedule_.rank());
    if (sleeps) share_->memory().use_bells();
    signals_carry_ = signals_carry;
  }

  /// True if the result is right. Every other run is dynamic.
  bool run(unsigned number) {
    input_ = values_of(mine_.input, segments_, false, commutes_, elements_);
    output_ = values_of(mine_.output, segments_, false, commutes_, elements_);
    const std::size_t bytes = elements_ * sizeof(Element);
    binding_.buffers.input = Memory::uniform(input_.data(), bytes);
    binding_.buffers.output = Memory::uniform(output_.data(), bytes);
    binding_.buffers.blocks = Memory::uniform(nullptr, bytes);
    arena_.reset();
    share_->begin(binding_, signals_carry_);
    bind_scratch(schedule_, binding_.buffers, arena_);
    if (number % 2 == 1) return run_dynamic(binding_, Limits{}, arena_) == MPI_SUCCESS && has_result();
    program_.bind(schedule_, compile_order(schedule_), binding_.buffers, 0, arena_, signals_carry_);
    return run_program(binding_, program_, arena_) == MPI_SUCCESS && has_result();
  }

 private:
  bool has_result() const {
    const Values wanted = values_of(mine_.wanted, segments_, true, commutes_, elements_);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (mine_.wanted[i / elements_] != nothing && output_[i] != wanted[i]) return false;
    return true;
  }

  bool commutes_;
  const RankContract& mine_;
  std::uint32_t segments_, elements_;
  Values input_, output_;
  Schedule schedule_;
  Program program_;
  Binding binding_;
  Arena arena_;
  std::optional<ThreadsMemory::Share> share_;
  bool signals_carry_ = false;
};

/// The number of wrong results of `runs` successive calls.
int wrong_results(const Algorithm& algorithm, Call call, std::uint32_t elements, unsigned runs, bool sleeps) {
  const std::uint32_t pieces = segments(algorithm, call.procs, call.parameters);
  const Contract wanted = contract(call, pieces);
  const std::size_t place = elements * sizeof(Element);
  const ThreadsMemory memory(call.procs, static_cast<std::uint32_t>(shared_places(algorithm, call)),
                             collective::shared_place_bytes(place, 1, 1));
  const bool signals_carry = algorithm.signals_can_carry &&
                             algorithm.signals_can_carry(call.procs, call.parameters) &&
                             place <= SharedMemory::carried_bytes;
  FakeMpi fake(static_cast<int>(call.procs), {.rendezvous = false, .seed = 1});
  std::vector<std::unique_ptr<SharingRank>> ranks;
  for (call.rank = 0; call.rank < call.procs; ++call.rank) {
    ranks.push_back(std::make_unique<SharingRank>(algorithm, call, wanted, elements));
    ranks.back()->share(memory, signals_carry, sleeps);
  }
  std::vector<int> wrong(call.procs);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < call.procs; ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      for (unsigned number = 0; number < runs; ++number) wrong[rank] += !ranks[rank]->run(number);
    });
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (const int each : wrong) sum += each;
  return sum;
}

class SharedSchedules : public testing::TestWithParam<Served> {};

INSTANTIATE_TEST_SUITE_P(All, SharedSchedules,
                         testing::ValuesIn(all_served([](Collective collective, const Algorithm& algorithm) {
                           return algorithm.shared_places && collective != Collective::barrier;
                         })),
                         test_name);

TEST_P(SharedSchedules, DeliverWhenCallsFollowEachOther) {
  const auto& [collective, algorithm] = GetParam();
  unsigned turn = 0;
  for (const Rank procs : {2u, 3u, 5u})
    for (const auto& parameters : algorithm->sample_parameters())
      for (const std::uint32_t elements : {3u, 40u}) {  // with their signals, and in places
        ++turn;
        const Call call{.collective = collective,
                        .procs = procs,
                        .root = is_rooted(collective) ? turn % procs : 0,
                        .in_place = turn % 3 == 0,
                        .parameters = parameters,
                        .commutative = !is_reduction(collective) || algorithm->commutative_only};
        const bool sleeps = turn % 2 == 0;
        EXPECT_EQ(wrong_results(*algorithm, call, elements, 12, sleeps), 0)
            << spec_text({algorithm, parameters}) << ", P=" << procs << ", " << elements << " elements"
            << (call.in_place ? ", in place" : "") << (sleeps ? ", ranks sleep" : "");
      }
}

}  // namespace
}  // namespace convene::runtime
