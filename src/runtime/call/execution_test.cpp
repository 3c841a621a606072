// SPDX-License-Identifier: BSD-3-Clause
// Execution of every algorithm's schedules, in all ways of the executor, over an MPI in one process. (In this
// layer, because the executor's layer does not know algorithms.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "execute/executor.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "execute/zero_byte_messages.hpp"
#include "transport/fake_mpi_for_test.hpp"

namespace convene::runtime {
namespace {

/// Predefined handles may be objects of the MPI's library: it must be loaded, although none of its functions
/// is called.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

enum class Way { compiled, dynamic, shuffled };
constexpr Way ways[] = {Way::compiled, Way::dynamic, Way::shuffled};

const char* name_of(Way way) {
  return way == Way::compiled ? "compiled" : way == Way::dynamic ? "dynamic" : "shuffled";
}

/// Sizes of blocks: equal; several, among them 0; one block much larger than the others; one rank's alone.
enum class Sizes { equal, several, one_large, one_only };
constexpr Sizes all_sizes[] = {Sizes::equal, Sizes::several, Sizes::one_large, Sizes::one_only};

const char* name_of(Sizes sizes) {
  constexpr const char* names[] = {"equal", "several", "one large", "one only"};
  return names[static_cast<int>(sizes)];
}

int block_of(Sizes sizes, Rank rank, Rank procs, int usual) {
  switch (sizes) {
    case Sizes::equal:
      return usual;
    case Sizes::several:
      return static_cast<int>(rank * 7 % 5) * usual / 4;
    case Sizes::one_large:
      return rank == procs / 2 ? 50 * usual : usual / 8;
    case Sizes::one_only:
      return rank == procs / 2 ? usual : 0;
  }
  return 0;
}

/// Block sizes and positions of one run, and whether the own block is in place.
struct Shape {
  std::vector<int> counts, places;
  bool in_place = false;

  int largest() const { return *std::max_element(counts.begin(), counts.end()); }
  std::size_t bytes() const {
    std::size_t most = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      most = std::max(most, static_cast<std::size_t>(places[i] + counts[i]));
    return most;
  }
};

Shape shape_of(Rank procs, Sizes sizes, bool in_place, int block = 24) {
  Shape shape;
  shape.in_place = in_place;
  int next = 0;
  for (Rank i = 0; i < procs; ++i) {
    shape.counts.push_back(block_of(sizes, i, procs, block));
    shape.places.push_back(next);
    next += shape.counts.back() + (sizes == Sizes::equal ? 0 : static_cast<int>(i % 3));
  }
  return shape;
}

std::byte value(Rank rank, int i) {
  return static_cast<std::byte>(rank * 37 + static_cast<unsigned>(i) * 11 + 1);
}

/// One rank's part of a run.
class Participant {
 public:
  Participant(const Algorithm& algorithm, const std::vector<Value>& parameters, Rank rank, const Shape& shape,
              bool irregular)
      : rank_(rank), shape_(shape), output_(shape.bytes() + 1, std::byte{0xee}) {
    const auto procs = static_cast<Rank>(shape.counts.size());
    Builder builder;
    const Collective collective = irregular ? Collective::allgatherv : Collective::allgather;
    schedule_ = build_schedule(algorithm,
                               {.collective = collective,
                                .procs = procs,
                                .rank = rank,
                                .in_place = shape.in_place,
                                .parameters = parameters},
                               builder);
    const std::uint32_t per_block = segments(algorithm, procs, parameters);
    const int own = shape.counts[rank];
    for (int i = 0; i < own; ++i) input_.push_back(value(rank, i));
    if (shape.in_place) std::copy(input_.begin(), input_.end(), output_.begin() + shape.places[rank]);
    binding_.schedule = &schedule_;
    binding_.point_to_point = PointToPoint(MPI_COMM_NULL);
    binding_.buffers.input = Memory::uniform(input_.data(), static_cast<std::size_t>(own), per_block);
    binding_.buffers.output =
        irregular
            ? Memory::irregular(output_.data(), shape.counts.data(), shape.places.data(), 1, 1, per_block)
            : Memory::uniform(output_.data(), static_cast<std::size_t>(own), per_block);
  }

  /// Has the ranks share memory.
  void share(const ThreadsMemory& memory, bool signals_carry) {
    share_.emplace(memory, rank_);
    signals_carry_ = signals_carry;
  }

  int run(Way way, std::uint32_t number) {
    binding_.collective_number = number;
    arena_.reset();
    if (share_) share_->begin(binding_, signals_carry_);
    if (way == Way::compiled) {
      if (!program_.fits(binding_.buffers, signals_carry_))
        program_.bind(schedule_, compile_order(schedule_), binding_.buffers, 0, arena_, signals_carry_);
      return run_program(binding_, program_, arena_);
    }
    if (way == Way::dynamic) return run_dynamic(binding_, Limits{}, arena_);
    return run_dynamic(binding_, {.receives = schedule_.size(), .sends = schedule_.size()}, arena_,
                       number + rank_ + 1);
  }

  void forget() {
    if (!shape_.in_place) std::fill(output_.begin(), output_.end(), std::byte{0xee});
  }

  bool has_all() const {
    std::vector<std::byte> expected(output_.size(), std::byte{0xee});
    for (Rank rank = 0; rank < shape_.counts.size(); ++rank)
      for (int i = 0; i < shape_.counts[rank]; ++i)
        expected[static_cast<std::size_t>(shape_.places[rank] + i)] = value(rank, i);
    return output_ == expected;
  }

 private:
  Rank rank_;
  const Shape& shape_;
  std::vector<std::byte> input_, output_;
  Schedule schedule_;
  Program program_;
  Binding binding_;
  Arena arena_;
  std::optional<ThreadsMemory::Share> share_;
  bool signals_carry_ = false;
};

using Participants = std::vector<std::unique_ptr<Participant>>;

Participants participants_of(const Algorithm& algorithm, const std::vector<Value>& parameters,
                             const Shape& shape, bool irregular) {
  Participants all;
  for (Rank rank = 0; rank < shape.counts.size(); ++rank)
    all.push_back(std::make_unique<Participant>(algorithm, parameters, rank, shape, irregular));
  if (algorithm.shared_places) {
    const auto procs = static_cast<Rank>(shape.counts.size());
    const std::size_t place = shared_place_bytes(static_cast<std::size_t>(shape.largest()), 1,
                                                 segments(algorithm, procs, parameters));
    const ThreadsMemory memory(procs, algorithm.shared_places(procs, parameters), place);
    const bool signals_carry = algorithm.signals_can_carry &&
                               algorithm.signals_can_carry(procs, parameters) &&
                               shape.largest() <= static_cast<int>(SharedMemory::carried_bytes);
    for (const auto& one : all) one->share(memory, signals_carry);
  }
  return all;
}

/// Runs all ranks at once, `times` times; returns the codes of the last time.
std::vector<int> run_all(FakeMpi& fake, Participants& all, Way way, std::uint32_t times) {
  std::vector<int> codes(all.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      for (std::uint32_t number = 0; number < times && codes[rank] == MPI_SUCCESS; ++number) {
        if (number > 0) all[rank]->forget();
        codes[rank] = all[rank]->run(way, number);
      }
    });
  for (std::thread& thread : threads) thread.join();
  return codes;
}

void expect_delivery(const Algorithm& algorithm, const std::vector<Value>& parameters, Rank procs) {
  unsigned seed = 1;
  for (const Sizes sizes : all_sizes)
    for (const Way way : ways) {
      const bool irregular = sizes != Sizes::equal;
      if (irregular && !algorithm.serves(Collective::allgatherv)) continue;
      const bool in_place = seed % 2 == 0, rendezvous = seed % 3 != 0;
      SCOPED_TRACE(spec_text({&algorithm, parameters}) + ", P=" + std::to_string(procs) + ", " +
                   name_of(way) + ", " + name_of(sizes) + (in_place ? ", in place" : "") +
                   (rendezvous ? ", rendezvous" : ""));
      const Shape shape = shape_of(procs, sizes, in_place);
      FakeMpi fake(static_cast<int>(procs), {.rendezvous = rendezvous, .seed = ++seed});
      Participants all = participants_of(algorithm, parameters, shape, irregular);
      // Often enough that a fast rank would overwrite data that a slow one reads.
      for (const int code : run_all(fake, all, way, algorithm.shared_places ? 20 : 2))
        EXPECT_EQ(code, MPI_SUCCESS);
      for (const auto& one : all) EXPECT_TRUE(one->has_all());
      EXPECT_EQ(fake.left_over(), 0u);
    }
}

TEST(Execution, EveryAlgorithmDeliversInAllWays) {
  for (const Algorithm* algorithm : catalogue(Collective::allgather))
    for (const auto& parameters : algorithm->sample_parameters())
      for (const Rank procs : {1, 2, 3, 4, 5, 8})
        if (!algorithm->is_native() && !algorithm->is_composed() &&
            unmet_requirement(*algorithm, procs).empty())
          expect_delivery(*algorithm, parameters, procs);
}

TEST(Execution, ManyRanks) {
  for (const Algorithm* algorithm : catalogue(Collective::allgather))
    for (const Rank procs : {7, 13, 16})
      if (!algorithm->is_native() && !algorithm->is_composed() &&
          unmet_requirement(*algorithm, procs).empty())
        expect_delivery(*algorithm, algorithm->default_parameters(), procs);
}

TEST(Execution, LargeScatteredBlocks) {
  for (const Algorithm* algorithm : catalogue(Collective::allgather)) {
    if (algorithm->name != "sparbit" && algorithm->name != "bruck") continue;
    for (const Way way : ways) {
      const Shape shape = shape_of(5, Sizes::equal, false, 40000);
      FakeMpi fake(5, {.rendezvous = true, .seed = 5});
      Participants all = participants_of(*algorithm, algorithm->default_parameters(), shape, false);
      for (const int code : run_all(fake, all, way, 2)) EXPECT_EQ(code, MPI_SUCCESS);
      for (const auto& one : all) EXPECT_TRUE(one->has_all()) << algorithm->name << " " << name_of(way);
      EXPECT_EQ(fake.left_over(), 0u);
    }
  }
}

/// A rank's barrier: mostly zero-byte messages only.
struct BarrierRank {
  Schedule schedule;
  Program program;
  Binding binding;
  Arena arena;

  BarrierRank(const Spec& spec, Rank procs, Rank rank) {
    Builder builder;
    schedule = build_schedule(*spec.algorithm,
                              {.collective = Collective::barrier,
                               .procs = procs,
                               .rank = rank,
                               .parameters = spec.parameters,
                               .parts = spec.parts},
                              builder);
    binding.schedule = &schedule;
    binding.point_to_point = PointToPoint(MPI_COMM_NULL);
    binding.buffers.input = binding.buffers.output = Memory::uniform(nullptr, 0);
    program.bind(schedule, compile_order(schedule), binding.buffers, 0, arena);
    // An inner rank of a tree receives from several ranks at a time.
    EXPECT_TRUE(program.has_only_empty_messages() || (spec.algorithm->name == "tree" && procs > 2));
  }
  int run(std::uint32_t number) {
    binding.collective_number = number;
    arena.reset();
    return program.has_only_empty_messages()
               ? run_zero_byte_messages(program, binding.point_to_point, binding.tags())
               : run_program(binding, program, arena);
  }
  BarrierRank(const BarrierRank&) = delete;
  BarrierRank& operator=(const BarrierRank&) = delete;
};

/// Each rank's code of the last barrier of `times`; `early` counts ranks that left one before all had entered
/// it.
std::vector<int> run_barriers(FakeMpi& fake, const Spec& spec, Rank procs, std::uint32_t times,
                              std::atomic<unsigned>& early) {
  std::vector<int> codes(procs, MPI_SUCCESS);
  std::vector<std::thread> threads;
  std::atomic<unsigned> come = 0;
  for (Rank rank = 0; rank < procs; ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      BarrierRank mine(spec, procs, rank);
      for (std::uint32_t time = 0; time < times && codes[rank] == MPI_SUCCESS; ++time) {
        ++come;
        codes[rank] = mine.run(time);
        if (codes[rank] == MPI_SUCCESS && come < procs * (time + 1)) ++early;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return codes;
}

constexpr std::string_view barrier_names[] = {"dissemination", "recursive_doubling", "tree", "tournament",
                                              "adaptive_tree"};

TEST(Execution, Barriers) {
  for (const std::string_view name : barrier_names)
    for (Rank procs = 2; procs <= 9; ++procs)
      for (const bool rendezvous : {false, true}) {
        SCOPED_TRACE(std::string(name) + ", P=" + std::to_string(procs));
        FakeMpi fake(static_cast<int>(procs), {.rendezvous = rendezvous, .seed = procs});
        std::atomic<unsigned> early = 0;
        const auto codes = run_barriers(fake, parse_spec(Collective::barrier, name), procs, 5, early);
        EXPECT_THAT(codes, testing::Each(MPI_SUCCESS));
        EXPECT_EQ(early, 0u);
        EXPECT_EQ(fake.left_over(), 0u);
      }
}

TEST(Execution, AnErrorOfTheMpiEndsABarrier) {
  for (const std::string_view name : barrier_names) {
    const Spec spec = parse_spec(Collective::barrier, name);
    FakeMpi fake(4, {.rendezvous = true, .failing_rank = 1, .failing_call = 2});
    std::atomic<unsigned> early = 0;
    EXPECT_EQ(run_barriers(fake, spec, 4, 1, early)[1], FakeMpi::failure) << name;
    EXPECT_EQ(fake.open_requests(), 0u) << name;
  }
}

/// Wherever the MPI fails, the run ends with its error, and no request remains that could still touch the
/// buffers.
TEST(Execution, AnErrorOfTheMpiEndsTheRun) {
  for (const Algorithm* algorithm : catalogue(Collective::allgather)) {
    if (algorithm->is_native() || algorithm->is_composed() || algorithm->shared_places) continue;
    for (const Way way : {Way::compiled, Way::dynamic})
      for (int call = 1; call <= 12; ++call) {
        const Shape shape = shape_of(4, Sizes::equal, false);
        FakeMpi fake(4, {.rendezvous = true, .failing_rank = 1, .failing_call = call});
        Participants all = participants_of(*algorithm, algorithm->default_parameters(), shape, false);
        const std::vector<int> codes = run_all(fake, all, way, 1);
        const bool has_failed = codes[1] != MPI_SUCCESS;
        EXPECT_TRUE(has_failed || call > 3) << algorithm->name << " " << name_of(way) << " call " << call;
        if (has_failed)
          EXPECT_EQ(codes[1], FakeMpi::failure);
        else
          EXPECT_TRUE(all[1]->has_all());
        EXPECT_EQ(fake.open_requests(), 0u) << algorithm->name << " " << name_of(way) << " call " << call;
      }
  }
}

}  // namespace
}  // namespace convene::runtime
