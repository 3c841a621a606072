// SPDX-License-Identifier: BSD-3-Clause
// Calls whose blocks are relayed by ranks that do not know their sizes, over an MPI of threads.
#include "runtime/call/bound_call.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <numeric>
#include <optional>
#include <thread>

#include "collective/core/spec.hpp"
#include "execute/threads_memory_for_test.hpp"
#include "runtime/comm/communicator.hpp"
#include "transport/fake_mpi_for_test.hpp"

namespace convene::runtime {
namespace {

/// Predefined handles may be objects of the MPI's library: it must be loaded, although none of its functions
/// is called.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

constexpr std::size_t item = 4;

/// An agreement completes when all ranks have contributed.
class Agreement {
 public:
  explicit Agreement(Rank procs) : all_said_(static_cast<std::ptrdiff_t>(procs)) {
    current_ = this;
    pmpi.Iallreduce = [](const void*, void* own, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*) -> int {
      current_->agree(*static_cast<std::int64_t*>(own));
      return MPI_SUCCESS;
    };
    pmpi.Type_size_x = [](MPI_Datatype, MPI_Count* size) -> int {
      *size = item;
      return MPI_SUCCESS;
    };
    pmpi.Type_get_extent = [](MPI_Datatype, MPI_Aint* lower, MPI_Aint* extent) -> int {
      *lower = 0, *extent = item;
      return MPI_SUCCESS;
    };
    pmpi.Type_get_envelope = [](MPI_Datatype, int*, int*, int*, int* combiner) -> int {
      *combiner = MPI_COMBINER_NAMED;
      return MPI_SUCCESS;
    };
  }

 private:
  void agree(std::int64_t& own) {
    std::int64_t seen = largest_;
    while (seen < own && !largest_.compare_exchange_weak(seen, own)) {
    }
    all_said_.arrive_and_wait();
    own = largest_;
  }

  static Agreement* current_;
  std::barrier<> all_said_;
  std::atomic<std::int64_t> largest_{0};
};
Agreement* Agreement::current_ = nullptr;

using Table = std::vector<std::vector<int>>;  // items by source and target

int value(Rank source, Rank target, int i) { return static_cast<int>(source * 10000 + target * 100) + i; }

/// One rank's buffers, with a gap before each block.
struct Half {
  Half(const std::vector<int>& items) : counts(items), at(items.size()) {
    int next = 0;
    for (std::size_t block = 0; block < items.size(); ++block) {
      at[block] = ++next;
      next += items[block];
    }
    memory.assign(static_cast<std::size_t>(next) + 1, -1);
  }
  template <class Value>
  void fill(const Value& value) {
    for (Rank block = 0; block < counts.size(); ++block)
      for (int i = 0; i < counts[block]; ++i)
        memory[static_cast<std::size_t>(at[block] + i)] = value(block, i);
  }
  BufferArgument side() {
    return {memory.data(), Blocks(static_cast<Rank>(counts.size()), counts.data(), at.data()), MPI_INT};
  }

  std::vector<int> counts, at, memory;
};

int run(BoundCall& call, Arena& arena) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = call.must_agree() ? call.begin_agreement(&request) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = call.prepare(arena);
  if (code == MPI_SUCCESS) code = run_dynamic(call.binding(), Limits{}, arena);
  return code == MPI_SUCCESS ? call.finish() : code;
}

/// `shared`: the memory of a schedule with shared places.
void exchange(const std::string& spec, Rank rank, const Table& items, bool in_place,
              const ThreadsMemory* shared) {
  const auto procs = static_cast<Rank>(items.size());
  const Spec algorithm = parse_spec(Collective::alltoallv, spec);
  ScheduleCache cache(1 << 20);
  const auto prepared = cache.get(*algorithm.algorithm, {.collective = Collective::alltoallv,
                                                         .procs = procs,
                                                         .rank = rank,
                                                         .in_place = in_place,
                                                         .parameters = algorithm.parameters,
                                                         .parts = algorithm.parts});
  std::vector<int> come(procs);
  for (Rank source = 0; source < procs; ++source) come[source] = items[source][rank];
  Half out(items[rank]), in(come);
  Half wanted = in;
  wanted.fill([&](Rank source, int i) { return value(source, rank, i); });
  (in_place ? in : out).fill([&](Rank target, int i) { return value(rank, target, i); });
  const Arguments arguments{.collective = Collective::alltoallv,
                            .procs = procs,
                            .rank = rank,
                            .in_place = in_place,
                            .send = in_place ? BufferArgument{} : out.side(),
                            .recv = in.side()};
  Arena arena;
  BoundCall call(arguments, *prepared, MPI_COMM_NULL, 0, arena);
  EXPECT_EQ(call.must_agree(), spec.starts_with("bruck"));
  std::optional<ThreadsMemory::Share> share;
  if (shared) {
    share.emplace(*shared, rank);
    call.share(share->memory(), procs * (procs - 1), arena);
  }
  EXPECT_EQ(run(call, arena), MPI_SUCCESS);
  EXPECT_FALSE(call.must_agree() && call.is_direct());
  EXPECT_EQ(in.memory, wanted.memory) << spec << ", rank " << rank << " of " << procs;
}

/// `place_bytes`: of a shared place, one for each pair of ranks.
void expect_exchange(const std::string& spec, const Table& items, bool in_place = false,
                     std::size_t place_bytes = 0) {
  const auto procs = static_cast<Rank>(items.size());
  FakeMpi fake(static_cast<int>(procs), {.rendezvous = true});
  Agreement agreement(procs);
  std::optional<ThreadsMemory> shared;
  if (place_bytes > 0) shared.emplace(procs, procs * (procs - 1), place_bytes);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < items.size(); ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      exchange(spec, rank, items, in_place, shared ? &*shared : nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.left_over(), 0u);
}

Table table(Rank procs, int (*items)(Rank source, Rank target)) {
  Table result(procs, std::vector<int>(procs));
  for (Rank source = 0; source < procs; ++source)
    for (Rank target = 0; target < procs; ++target) result[source][target] = items(source, target);
  return result;
}

TEST(BoundCall, BlocksOfUnknownSizesAreRelayed) {
  for (const char* spec : {"bruck", "bruck;radix=3", "pairwise"})
    for (const Rank procs : {1, 2, 3, 5, 8}) {
      expect_exchange(spec, table(procs, [](Rank a, Rank b) { return static_cast<int>((a * 3 + b) % 4); }));
      expect_exchange(spec, table(procs, [](Rank a, Rank b) { return static_cast<int>(a + b) % 3; }), true);
      expect_exchange(spec, table(procs, [](Rank a, Rank) { return a == 0 ? 40 : 0; }));
    }
}

/// Places of no bytes: no message is sent.
TEST(BoundCall, NothingIsRelayed) {
  expect_exchange("bruck", table(4, [](Rank, Rank) { return 0; }));
}

/// Of 0 bytes, below a head, as long as it, a byte and much longer; in places, and carried by signals.
TEST(BoundCall, HeadsOfBlocksAreShared) {
  for (const auto& [spec, place] : {std::pair{"shared_head;head=16", 64},
                                    {"shared_head;head=15", 64},
                                    {"shared_head;head=1", 64},
                                    {"shared_head;head=80", 128},
                                    {"shared_head", 16384}})
    for (const Rank procs : {1, 2, 3, 5, 8})
      for (const bool in_place : {false, true}) {
        const auto bytes = static_cast<std::size_t>(place);
        const auto expect = [&](int (*items)(Rank source, Rank target)) {
          expect_exchange(spec, table(procs, items), in_place, bytes);
        };
        expect([](Rank a, Rank b) { return static_cast<int>(a + b) * 5 % 8; });
        expect([](Rank a, Rank b) { return static_cast<int>(a + b) * 7 % 5 * 10; });
        expect([](Rank a, Rank b) { return a + b == 1 ? 9000 : 1; });
        expect([](Rank a, Rank b) { return a * b == 2 ? 500 : 0; });
        expect([](Rank, Rank) { return 0; });
      }
}

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// An allgatherv on one rank of threads that share memory.
class SharedGather {
 public:
  SharedGather(const std::string& spec, Rank rank, const std::vector<int>& items)
      : rank_(rank), own_({items[rank]}), all_(items), wanted_(items) {
    const auto procs = static_cast<Rank>(items.size());
    const Spec algorithm = parse_spec(Collective::allgatherv, spec);
    const Call call{.collective = Collective::allgatherv,
                    .procs = procs,
                    .rank = rank,
                    .parameters = algorithm.parameters};
    prepared_ = ScheduleCache(1 << 20).get(*algorithm.algorithm, call);
    places_ = shared_places(*algorithm.algorithm, call);
    own_.fill([&](Rank, int i) { return value(rank, 0, i); });
    wanted_.fill([](Rank source, int i) { return value(source, 0, i); });
    arguments_ = {.collective = Collective::allgatherv,
                  .procs = procs,
                  .rank = rank,
                  .send = {own_.memory.data() + 1, Blocks(1, MPI_Count{items[rank]}), MPI_INT},
                  .recv = all_.side()};
  }
  SharedGather(const SharedGather&) = delete;
  SharedGather& operator=(const SharedGather&) = delete;

  std::uint64_t bytes() const { return shared_bytes(arguments_, *prepared_, places_); }

  void run_on(const ThreadsMemory& memory) {
    ThreadsMemory::Share share(memory, rank_);
    Arena arena;
    BoundCall call(arguments_, *prepared_, MPI_COMM_NULL, 0, arena);
    call.share(share.memory(), places_, arena);
    EXPECT_EQ(run(call, arena), MPI_SUCCESS);
    EXPECT_EQ(all_.memory, wanted_.memory) << "rank " << rank_ << " of " << arguments_.procs;
  }

 private:
  Rank rank_;
  Half own_, all_, wanted_;
  std::shared_ptr<const Prepared> prepared_;
  std::uint64_t places_ = 0;
  Arguments arguments_;
};

/// Returns the bytes of shared memory.
std::uint64_t expect_gather(const std::string& spec, const std::vector<int>& items) {
  SCOPED_TRACE(spec);
  const auto procs = static_cast<Rank>(items.size());
  FakeMpi fake(static_cast<int>(procs), {.rendezvous = true});
  const Agreement agreement(procs);
  std::vector<std::unique_ptr<SharedGather>> ranks;
  for (Rank rank = 0; rank < procs; ++rank)
    ranks.push_back(std::make_unique<SharedGather>(spec, rank, items));
  const std::uint64_t bytes = ranks.front()->bytes();
  for (const auto& rank : ranks) EXPECT_EQ(rank->bytes(), bytes);
  const ThreadsMemory memory(procs, 1, bytes);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < procs; ++rank)
    threads.emplace_back([&, rank] {
      fake.enter(static_cast<int>(rank));
      ranks[rank]->run_on(memory);
    });
  for (std::thread& thread : threads) thread.join();
  return bytes;
}

TEST(BoundCall, SharedPlacesHaveTheSizesOfTheirBlocks) {
  for (const std::string spec :
       {"shared", "shared;segments=3", "shared;direct=1", "shared;segments=2;direct=1"})
    for (const std::vector<int>& items : {std::vector{0, 0, 0},
                                          {5, 0, 3, 14},
                                          {0, 16, 0},
                                          {1, 7000, 2, 0, 40},
                                          {15},
                                          {0, 300},
                                          {3, 1, 4, 1, 5, 9, 2, 6, 50}})
      expect_gather(spec, items);
  EXPECT_EQ(expect_gather("shared", {1, 7000, 0, 40}), 2 * (64 + padded(28000) + 0 + padded(160)));
  EXPECT_EQ(expect_gather("shared;segments=3", {1, 7000, 0, 40}), 2 * (64 + padded(9334) + 0 + padded(54)));
  EXPECT_EQ(expect_gather("shared", {1, 14, 0, 4}), 8 * 64u);  // carried by the signals
}

TEST(TagWindow, AgreementsBeginInTheOrderOfCalls) {
  TagWindow tag_window;
  EXPECT_TRUE(tag_window.may_agree());
  for (const std::uint32_t number : {7u, 9u}) tag_window.begin(number), tag_window.queue_agreement(number);
  EXPECT_TRUE(tag_window.may_agree(7));
  EXPECT_FALSE(tag_window.may_agree(9));
  EXPECT_FALSE(tag_window.may_agree());
  tag_window.note_agreement(7);
  EXPECT_TRUE(tag_window.may_agree(9));
  tag_window.end(9);  // failed before that
  EXPECT_TRUE(tag_window.may_agree());
}

}  // namespace
}  // namespace convene::runtime
