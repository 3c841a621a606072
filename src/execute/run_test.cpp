// SPDX-License-Identifier: BSD-3-Clause
// Runs of every kind over several ranks in one process: programs, dynamic, shuffled and stepwise runs of
// random plans, over the in-process transport, and over MPI messages of an MPI in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>
#include <thread>

#include "execute/executor.hpp"
#include "execute/random_plan_for_test.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "schedule/testing/ring_for_test.hpp"
#include "transport/fake_mpi_for_test.hpp"
#include "transport/in_process.hpp"

namespace convene::execute {
namespace {

/// Predefined handles may be objects of the MPI's library: it must be loaded, although none of its functions
/// is called.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

enum class Way { compiled, dynamic, shuffled, stepwise };
const char* name_of(Way way) {
  constexpr const char* names[] = {"compiled", "dynamic", "shuffled", "stepwise"};
  return names[static_cast<int>(way)];
}

/// One rank of a plan.
class Participant {
 public:
  Participant(const RandomPlan& plan, Rank rank)
      : plan_(plan), rank_(rank), input_(plan.input(rank)), output_(plan.output_before(rank)) {
    binding_.schedule = &plan.schedule(rank);
    binding_.buffers.input = Memory::uniform(input_.data(), plan.bytes());
    binding_.buffers.output = Memory::uniform(output_.data(), plan.bytes());
    binding_.buffers.blocks = Memory::uniform(nullptr, plan.bytes());
    binding_.op = {RandomPlan::combine, nullptr};
    binding_.point_to_point = PointToPoint(MPI_COMM_NULL);
  }

  void use(Transport& transport) { binding_.transport = &transport; }
  void share(const ThreadsMemory& memory) { share_.emplace(memory, rank_); }

  /// Call it before each run.
  void prepare(std::uint32_t number) {
    output_ = plan_.output_before(rank_);
    binding_.buffers.output.rebase(output_.data());
    binding_.collective_number = number;
    arena_.reset();
    if (share_) share_->begin(binding_);
    bind_scratch(*binding_.schedule, binding_.buffers, arena_);
  }

  int run(Way way, std::uint32_t number, const Limits& limits) {
    prepare(number);
    if (way == Way::compiled) {
      if (!program_.fits(binding_.buffers))
        program_.bind(*binding_.schedule, compile_order(*binding_.schedule, limits), binding_.buffers,
                      RandomPlan::places, arena_);
      return run_program(binding_, program_, arena_);
    }
    return run_dynamic(binding_, limits, arena_, way == Way::shuffled ? number + rank_ + 1 : 0);
  }

  std::unique_ptr<StepwiseRun> begin(const Limits& limits, std::optional<Buffer> held_back = std::nullopt) {
    return std::make_unique<StepwiseRun>(binding_, limits, arena_, held_back);
  }

  void expect_result() const { EXPECT_EQ(output_, plan_.output(rank_)) << "rank " << rank_; }

 private:
  const RandomPlan& plan_;
  const Rank rank_;
  RandomPlan::Block input_, output_;
  Program program_;
  Binding binding_;
  Arena arena_;
  std::optional<ThreadsMemory::Share> share_;
};

using Participants = std::vector<std::unique_ptr<Participant>>;

Participants participants_of(const RandomPlan& plan, Rank procs, bool shared) {
  Participants all;
  for (Rank rank = 0; rank < procs; ++rank) all.push_back(std::make_unique<Participant>(plan, rank));
  if (!shared) return all;
  const ThreadsMemory memory(procs, RandomPlan::shared_places, plan.bytes());
  for (const auto& each : all) each->share(memory);
  return all;
}

/// Calls act(rank) in one thread for each rank; returns their codes.
std::vector<int> in_threads(std::size_t procs, const std::function<int(Rank)>& act) {
  std::vector<int> codes(procs, -1);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < procs; ++rank) threads.emplace_back([&, rank] { codes[rank] = act(rank); });
  for (std::thread& thread : threads) thread.join();
  return codes;
}

/// Advances all runs in random order, in this thread, until all are done.
int step_all(std::vector<std::unique_ptr<StepwiseRun>>& runs, std::mt19937_64& random) {
  std::vector<std::size_t> open(runs.size());
  std::iota(open.begin(), open.end(), 0);
  for (std::uint64_t steps = 0; !open.empty(); ++steps) {
    if (steps > 10'000'000) return InProcessNetwork::stalled;
    const std::size_t which = random() % open.size();
    bool done = false;
    if (const int code = runs[open[which]]->advance(done); code != MPI_SUCCESS) return code;
    if (done) open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
  }
  return MPI_SUCCESS;
}

constexpr std::uint32_t runs_of_each = 3;
constexpr std::uint32_t first_number = collective_range - 2;  // so that the numbers wrap around

void run_in_process(const RandomPlan& plan, Rank procs, bool shared, Way way, const Limits& limits,
                    const InProcessNetwork::Options& options) {
  InProcessNetwork network(static_cast<int>(procs), options);
  Participants all = participants_of(plan, procs, shared);
  for (Rank rank = 0; rank < procs; ++rank) all[rank]->use(network.of(static_cast<int>(rank)));
  std::mt19937_64 random(options.seed);
  for (std::uint32_t number = first_number; number < first_number + runs_of_each; ++number) {
    if (way == Way::stepwise) {
      std::vector<std::unique_ptr<StepwiseRun>> runs;
      for (const auto& each : all) {
        each->prepare(number);
        runs.push_back(each->begin(limits));
      }
      ASSERT_EQ(step_all(runs, random), MPI_SUCCESS);
    } else {
      const auto codes = in_threads(procs, [&](Rank rank) { return all[rank]->run(way, number, limits); });
      ASSERT_THAT(codes, testing::Each(MPI_SUCCESS));
    }
    for (const auto& each : all) each->expect_result();
  }
  EXPECT_EQ(network.left_over(), 0u);
  EXPECT_EQ(network.registered(), 0u);
}

void run_over_messages(const RandomPlan& plan, Rank procs, bool shared, Way way, const Limits& limits,
                       const FakeMpi::Options& options) {
  FakeMpi fake(static_cast<int>(procs), options);
  Participants all = participants_of(plan, procs, shared);
  for (std::uint32_t number = first_number; number < first_number + runs_of_each; ++number) {
    const auto codes = in_threads(procs, [&](Rank rank) {
      fake.enter(static_cast<int>(rank));
      return all[rank]->run(way, number, limits);
    });
    ASSERT_THAT(codes, testing::Each(MPI_SUCCESS));
    for (const auto& each : all) each->expect_result();
  }
  EXPECT_EQ(fake.left_over(), 0u);
}

constexpr Limits all_limits[] = {{.receives = 1, .sends = 1}, {.receives = 2, .sends = 3}, {}};

TEST(Run, RandomPlansInProcess) {
  for (Rank procs = 2; procs <= 8; ++procs)
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const bool shared = seed % 2 == 0;
      const RandomPlan plan(procs, seed * 100 + procs,
                            {.steps = procs * 15, .bytes = 1 + seed * 13 % 40, .shared = shared});
      for (const Way way : {Way::compiled, Way::dynamic, Way::shuffled, Way::stepwise}) {
        SCOPED_TRACE(std::to_string(procs) + " ranks, seed " + std::to_string(seed) + ", " + name_of(way));
        run_in_process(plan, procs, shared, way, all_limits[seed % 3],
                       {.seed = seed,
                        .eager_bytes = seed % 3 == 0   ? 0
                                       : seed % 3 == 1 ? 32u
                                                       : 1u << 20,
                        .most_delay = seed % 2 == 0 ? 0u : 30u,
                        .pack_below = seed % 4 < 2 ? 0u : 1u << 20});
      }
    }
}

TEST(Run, RandomPlansOverMessages) {
  for (const Rank procs : {2, 3, 5, 8})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const bool shared = seed % 2 == 0;
      const RandomPlan plan(procs, seed * 100 + procs,
                            {.steps = procs * 15, .bytes = 1 + seed * 13 % 40, .shared = shared});
      for (const Way way : {Way::compiled, Way::dynamic, Way::shuffled}) {
        SCOPED_TRACE(std::to_string(procs) + " ranks, seed " + std::to_string(seed) + ", " + name_of(way));
        run_over_messages(plan, procs, shared, way, all_limits[seed % 3],
                          {.rendezvous = seed > 2, .seed = static_cast<unsigned>(seed)});
      }
    }
}

/// A plan of 600 messages from rank 0 to rank 1: their numbers repeat after 255.
TEST(Run, TagsWrapAround) {
  constexpr Place messages = 600;
  Builder builder;
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < 2; ++rank) {
    builder.begin(2, rank);
    builder.buffer(Buffer::input, messages);
    builder.buffer(Buffer::output, messages);
    for (Place place = 0; place < messages; ++place) {
      if (rank == 0)
        builder.send(1, Range(Buffer::input, place));
      else
        builder.recv(0, Range(Buffer::output, place));
    }
    schedules.push_back(builder.finish());
  }
  std::vector<std::uint32_t> sent(messages), received(messages), unused(messages);
  std::iota(sent.begin(), sent.end(), 7u);
  for (const bool stepwise : {true, false}) {
    InProcessNetwork network(2, {.seed = 3, .eager_bytes = 1 << 20, .most_delay = 50});
    std::fill(received.begin(), received.end(), 0u);
    Binding bindings[2];
    Arena arenas[2];
    for (int rank = 0; rank < 2; ++rank) {
      bindings[rank].schedule = &schedules[static_cast<std::size_t>(rank)];
      bindings[rank].transport = &network.of(rank);
      bindings[rank].buffers.input = Memory::uniform(rank == 0 ? sent.data() : unused.data(), 4);
      bindings[rank].buffers.output = Memory::uniform(rank == 0 ? unused.data() : received.data(), 4);
    }
    const Limits wide{.receives = 1000, .sends = 1000};
    if (stepwise) {
      std::vector<std::unique_ptr<StepwiseRun>> runs;
      for (int rank = 0; rank < 2; ++rank)
        runs.push_back(std::make_unique<StepwiseRun>(bindings[rank], wide, arenas[rank]));
      std::mt19937_64 random(1);
      EXPECT_EQ(step_all(runs, random), MPI_SUCCESS);
      EXPECT_EQ(runs[1]->messages(), messages);
    } else {
      EXPECT_THAT(
          in_threads(2, [&](Rank rank) { return run_dynamic(bindings[rank], wide, arenas[rank], 5); }),
          testing::Each(MPI_SUCCESS));
    }
    EXPECT_EQ(received, sent);
    EXPECT_EQ(network.left_over(), 0u);
  }
}

TEST(StepwiseRun, HoldsBackStepsOfABuffer) {
  const RandomPlan plan(4, 9, {.steps = 80, .shared = false});
  InProcessNetwork network(4, {.seed = 9, .eager_bytes = 1 << 20});
  Participants all = participants_of(plan, 4, false);
  std::vector<std::unique_ptr<StepwiseRun>> runs;
  for (Rank rank = 0; rank < 4; ++rank) {
    all[rank]->use(network.of(static_cast<int>(rank)));
    all[rank]->prepare(1);
    runs.push_back(all[rank]->begin({}, rank == 0 ? std::optional(Buffer::input) : std::nullopt));
  }
  for (int i = 0; i < 1000; ++i)
    for (const auto& run : runs) {
      bool done = false;
      ASSERT_EQ(run->advance(done), MPI_SUCCESS);
      ASSERT_FALSE(done && run == runs[0]);
    }
  runs[0]->input_arrived();
  const std::uint64_t early = runs[0]->early_messages();
  EXPECT_EQ(early, runs[0]->messages());
  std::mt19937_64 random(1);
  EXPECT_EQ(step_all(runs, random), MPI_SUCCESS);
  EXPECT_GT(runs[0]->messages(), early);
  for (const auto& each : all) each->expect_result();
}

/// Ranks whose neighbours never take part: their receives are cancelled.
TEST(StepwiseRun, CancelsARunOfOneRank) {
  Plan ring = schedule::ring_plan(3);
  InProcessNetwork network(3, {.eager_bytes = 0});
  std::byte input[8] = {}, output[24] = {};
  Binding binding;
  binding.schedule = &ring[0];
  binding.transport = &network.of(0);
  binding.buffers.input = Memory::uniform(input, 8);
  binding.buffers.output = Memory::uniform(output, 8);
  Arena arena;
  {
    StepwiseRun run(binding, {}, arena, Buffer::input);
    bool done = false;
    for (int i = 0; i < 10; ++i) ASSERT_EQ(run.advance(done), MPI_SUCCESS);
    EXPECT_FALSE(done);
    EXPECT_GT(network.left_over(), 0u);
    run.cancel();
  }
  EXPECT_EQ(network.left_over(), 0u);
  EXPECT_EQ(network.registered(), 0u);
}

/// Wherever a transport fails, every run ends with an error and leaves no operation that could touch its
/// buffers.
TEST(Run, AnErrorEndsTheRun) {
  const RandomPlan plan(4, 21, {.steps = 60, .shared = false});
  for (const Way way : {Way::compiled, Way::dynamic})
    for (int call = 1; call <= 12; ++call) {
      SCOPED_TRACE(std::string(name_of(way)) + ", call " + std::to_string(call));
      InProcessNetwork network(4, {.failing_rank = 1, .failing_call = call});
      Participants all = participants_of(plan, 4, false);
      for (Rank rank = 0; rank < 4; ++rank) all[rank]->use(network.of(static_cast<int>(rank)));
      const auto codes = in_threads(4, [&](Rank rank) { return all[rank]->run(way, 1, {}); });
      EXPECT_EQ(codes[1], InProcessNetwork::failure);
      EXPECT_EQ(network.registered(), 0u);
    }
}

/// A gather in the order of arrival: ranks send a notice to the root, which grants their sends one by one.
class GrantedGather final : public OnlineAlgorithm {
 public:
  GrantedGather(Rank procs, Rank rank) : procs_(procs), rank_(rank) {}

  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<GrantedGather>(*this); }

  void on(const Event& event, OnlineSteps& steps) override {
    constexpr std::uint32_t here = 0, granted = 1;
    if (event.kind == Event::Kind::begun) {
      steps.copy(Range(Buffer::input, 0), Range(Buffer::output, rank_));
      if (rank_ != 0) steps.tell(0, {.what = here, .rank = rank_});
    } else if (event.kind == Event::Kind::noticed) {
      ++notices_;
      if (rank_ != 0) return steps.send(0, Range(Buffer::input, 0));
      steps.tell(event.peer, {.what = granted, .rank = event.peer});
      steps.recv(event.peer, Range(Buffer::output, event.peer));
    }
  }
  bool is_listening() const override { return notices_ < (rank_ == 0 ? procs_ - 1 : 1); }

 private:
  Rank procs_, rank_, notices_ = 0;
};

/// Runs it `times` times without a barrier in between: notices may be early.
void run_online(Rank procs, std::uint64_t seed, bool in_threads_) {
  InProcessNetwork network(static_cast<int>(procs), {.seed = seed, .eager_bytes = 64, .most_delay = 40});
  constexpr std::uint32_t times = 20;
  struct Rank_ {
    Schedule frame;
    std::unique_ptr<OnlineAlgorithm> algorithm;
    std::uint64_t input = 0;
    std::vector<std::uint64_t> output;
    Binding binding;
    Arena arena;
  };
  std::vector<Rank_> ranks(procs);
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    Rank_& mine = ranks[rank];
    builder.begin(procs, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, procs);
    mine.frame = builder.finish();
    mine.algorithm = std::make_unique<GrantedGather>(procs, rank);
    mine.output.assign(procs, 0);
    mine.binding.schedule = &mine.frame;
    mine.binding.online = mine.algorithm.get();
    mine.binding.transport = &network.of(static_cast<int>(rank));
    mine.binding.buffers.input = Memory::uniform(&mine.input, 8);
    mine.binding.buffers.output = Memory::uniform(mine.output.data(), 8);
  }
  const auto expect_gathered = [&](std::uint32_t number) {
    for (Rank rank = 0; rank < procs; ++rank) EXPECT_EQ(ranks[0].output[rank], number * 1000 + rank);
  };
  if (in_threads_) {
    const auto codes = in_threads(procs, [&](Rank rank) {
      int code = MPI_SUCCESS;
      for (std::uint32_t number = 0; number < times && code == MPI_SUCCESS; ++number) {
        ranks[rank].input = number * 1000 + rank;
        ranks[rank].binding.collective_number = number;
        ranks[rank].arena.reset();
        code = run_dynamic(ranks[rank].binding, {}, ranks[rank].arena);
        if (rank == 0) expect_gathered(number);
      }
      return code;
    });
    EXPECT_THAT(codes, testing::Each(MPI_SUCCESS));
  } else {
    std::mt19937_64 random(seed);
    for (std::uint32_t number = 0; number < times; ++number) {
      std::vector<std::unique_ptr<StepwiseRun>> runs;
      for (Rank rank = 0; rank < procs; ++rank) {
        ranks[rank].input = number * 1000 + rank;
        ranks[rank].binding.collective_number = number;
        ranks[rank].arena.reset();
        const bool late = (rank + number) % 3 == 0;
        runs.push_back(std::make_unique<StepwiseRun>(ranks[rank].binding, Limits{}, ranks[rank].arena,
                                                     late ? std::optional(Buffer::input) : std::nullopt));
        bool done = false;
        if (late) {
          EXPECT_EQ(runs.back()->advance(done), MPI_SUCCESS);
          EXPECT_FALSE(done);
          runs.back()->input_arrived();
        }
      }
      EXPECT_EQ(step_all(runs, random), MPI_SUCCESS);
      expect_gathered(number);
    }
  }
  EXPECT_EQ(network.left_over(), 0u);
  EXPECT_EQ(network.registered(), 0u);
}

TEST(OnlineRun, GathersInTheOrderOfArrival) {
  for (Rank procs = 2; procs <= 6; ++procs)
    for (const bool threads : {false, true}) {
      SCOPED_TRACE(std::to_string(procs) + (threads ? " threads" : " stepped"));
      run_online(procs, procs, threads);
    }
}

}  // namespace
}  // namespace convene::execute
