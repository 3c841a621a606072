// SPDX-License-Identifier: BSD-3-Clause
// Calls at the limits of MPI: corners WHAT, with WHAT one of
//   types        predefined types without a name, and types whose constructors take large counts
//   alternating  two alternating collectives
//   arrays       non-blocking calls of a program that frees counts and displacements at once
//   elsewhere    repeated calls with other buffers, of blocks that are small or empty
//   counts       repeated reductions with equal counts, until one differs; other buffers, and in place
//   exscan       rank 0 passes the same buffer twice: it has no result there
//   handles      a user-defined operator inspects its datatype argument
//   beside       blocking calls while a non-blocking one is pending, and again when none is
//   ahead        ranks that are many collectives ahead of a late one
//   failing      a call that fails, with errors returned, and calls after it
//   callback     a call in MPI_Finalize, from a callback of an attribute of MPI_COMM_SELF
//   destructor   MPI_Finalize in a static object's destructor
//   exhausted    a first call when the MPI has no communicator left
//   disagreeing  ranks with different algorithms: those in CONVENE_RANK_0 and CONVENE_RANK_1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0, size = 1, wrong = 0;
bool finalize_at_exit = false;

struct AtExit {
  ~AtExit() {
    if (finalize_at_exit) MPI_Finalize();
  }
} at_exit;

std::size_t ranks() { return static_cast<std::size_t>(size); }

/// Returns MPI's error code.
int gather(int count) {
  std::vector<int> mine(static_cast<std::size_t>(count), rank), all(ranks() * mine.size(), -1);
  const int code = MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < all.size() && code == MPI_SUCCESS; ++i)
    wrong += all[i] != static_cast<int>(i) / count;
  return code;
}

void gather_v() {
  std::vector<int> all(ranks(), -1), counts(ranks(), 1), places(ranks());
  for (int i = 0; i < size; ++i) places[static_cast<std::size_t>(i)] = i;
  MPI_Allgatherv(&rank, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) wrong += all[static_cast<std::size_t>(i)] != i;
}

/// One item of a type of `count` contiguous numbers. Often, so that a handle that is freed too often is
/// detected.
void gather_type(MPI_Datatype type, int count) {
  for (int call = 0; call < 10; ++call) {
    std::vector<int> mine(static_cast<std::size_t>(count), rank), all(ranks() * mine.size(), -1);
    MPI_Allgather(mine.data(), 1, type, all.data(), 1, type, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] != static_cast<int>(i) / count;
  }
}

void types() {
  MPI_Datatype number, run, again;
  MPI_Type_create_f90_integer(9, &number);
  MPI_Type_contiguous(3, number, &run);
  MPI_Type_commit(&run);
  MPI_Type_dup(run, &again);
  gather_type(number, 1);
  gather_type(run, 3);
  gather_type(again, 3);
  MPI_Type_free(&run);
  MPI_Type_free(&again);
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(5, MPI_INT, &run);
  MPI_Type_vector_c(2, 2, 2, MPI_INT, &again);
  MPI_Type_commit(&run);
  MPI_Type_commit(&again);
  gather_type(run, 5);
  gather_type(again, 4);
  MPI_Type_free(&run);
  MPI_Type_free(&again);
#endif
}

void alternating() {
  for (int i = 0; i < 5; ++i) {
    gather(1);
    gather_v();
    gather(1);
  }
}

/// Each rank's number goes to every rank, four times. The arrays of a call are overwritten as soon as it has
/// been started, as in a program that frees them, although MPI forbids it.
void arrays() {
  const std::vector<int> mine(ranks(), rank);
  std::vector<int> all(ranks(), -1), collected(ranks(), -1), exchanged(ranks(), -1);
  int scattered = -1;
  std::vector<int> places(ranks()), numbers(ranks());
  for (int i = 0; i < size; ++i) numbers[static_cast<std::size_t>(i)] = i;
  const auto start = [&](auto call) {
    std::vector<int> ones(ranks(), 1);
    places = numbers;
    MPI_Request request = MPI_REQUEST_NULL;
    call(ones.data(), places.data(), &request);
    ones.assign(ranks(), -1000);
    places.assign(ranks(), 1 << 28);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  const MPI_Comm world = MPI_COMM_WORLD;
  start([&](const int* ones, const int* at, MPI_Request* request) {
    MPI_Iallgatherv(&rank, 1, MPI_INT, all.data(), ones, at, MPI_INT, world, request);
  });
  start([&](const int* ones, const int* at, MPI_Request* request) {
    MPI_Igatherv(&rank, 1, MPI_INT, collected.data(), ones, at, MPI_INT, 0, world, request);
  });
  start([&](const int* ones, const int* at, MPI_Request* request) {
    MPI_Iscatterv(numbers.data(), ones, at, MPI_INT, &scattered, 1, MPI_INT, 0, world, request);
  });
  start([&](const int* ones, const int* at, MPI_Request* request) {
    MPI_Ialltoallv(mine.data(), ones, at, MPI_INT, exchanged.data(), ones, at, MPI_INT, world, request);
  });
  wrong += all != numbers;
  wrong += collected != (rank == 0 ? numbers : std::vector<int>(ranks(), -1));
  wrong += scattered != rank;
  wrong += exchanged != numbers;
}

/// The distances between buffers differ in each call, and pieces of blocks are empty.
void elsewhere() {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> mine(100), all(ranks()), counts(ranks(), 1), places(ranks()), to(100, -1);
  for (int i = 0; i < 100; ++i) mine[at(i)] = 1000 * rank + i;
  if (size > 2) counts[at(size - 2)] = 0;
  for (int i = 1; i < size; ++i) places[at(i)] = places[at(i - 1)] + counts[at(i - 1)];
  for (int call = 0; call < 10; ++call) {
    const int from = 7 * call;
    MPI_Gather(&mine[at(from)], 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; ++i) wrong += all[at(i)] != 1000 * i + from;
    MPI_Scatterv(&mine[at(call)], counts.data(), places.data(), MPI_INT, &to[at(9 * call)], counts[at(rank)],
                 MPI_INT, 0, MPI_COMM_WORLD);
    wrong += to[at(9 * call)] != (counts[at(rank)] == 0 ? -1 : call + places[at(rank)]);
  }
}

/// True if a reduce_scatter with these counts computes the sums: each item is its index in the vector plus
/// the rank.
bool reduces_and_scatters(const std::vector<int>& counts, bool in_place, int call) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int items = std::accumulate(counts.begin(), counts.end(), 0);
  const int first = std::accumulate(counts.begin(), counts.begin() + rank, 0);
  std::vector<int> from(at(items + call)), to(at(items + 3 * call), -1);
  int* const given = in_place ? to.data() : from.data() + call;
  int* const result = in_place ? given : to.data() + 2 * call;
  for (int i = 0; i < items; ++i) given[i] = call + i + rank;
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : given, result, counts.data(), MPI_INT, MPI_SUM,
                     MPI_COMM_WORLD);
  for (int i = 0; i < counts[at(rank)]; ++i)
    if (result[i] != size * (call + first + i) + size * (size - 1) / 2) return false;
  return true;
}

void counts() {
  const std::vector<int> equal(ranks(), 3), none(ranks(), 0);
  std::vector<int> shifted = equal;
  --shifted.front();
  ++shifted.back();
  for (int call = 0; call < 12; ++call) {
    wrong += !reduces_and_scatters(equal, false, call);
    wrong += !reduces_and_scatters(call % 4 == 3 ? shifted : equal, false, call);
    wrong += !reduces_and_scatters(call % 4 == 1 ? none : equal, call % 4 == 2, call);
  }
}

void exscan() {
  int mine = rank + 1, sum = -1;
  if (rank == 0) sum = mine;
  MPI_Exscan(rank == 0 ? &sum : &mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  wrong += rank > 0 && sum != rank * (rank + 1) / 2;
}

MPI_Datatype given = MPI_DATATYPE_NULL;

void add_pairs(void* left, void* right, int* count, MPI_Datatype* type) {
  wrong += *type != given;
  for (int i = 0; i < 2 * *count; ++i) static_cast<int*>(right)[i] += static_cast<int*>(left)[i];
}

void handles() {
  MPI_Type_contiguous(2, MPI_INT, &given);
  MPI_Type_commit(&given);
  MPI_Op add;
  MPI_Op_create(add_pairs, 1, &add);
  const std::vector<int> mine(20, rank);
  std::vector<int> sums(20);
  MPI_Allreduce(mine.data(), sums.data(), 10, given, add, MPI_COMM_WORLD);
  wrong += sums[19] != size * (size - 1) / 2;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine.data(), sums.data(), 10, given, add, MPI_COMM_WORLD, &request);
  MPI_Datatype freed = given;
  MPI_Type_free(&freed);
  MPI_Op_free(&add);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += sums[19] != size * (size - 1) / 2;
}

/// A blocking call during a pending one, and the same again when none is pending.
void beside() {
  const auto number = [](int from, int call) { return 1000 * from + call; };
  std::vector<int> mine(200), all(200 * ranks()), others(ranks());
  int call = 0;
  const auto gather_of = [&](int count) {
    std::fill(mine.begin(), mine.end(), number(rank, ++call));
    std::fill(all.begin(), all.end(), -1);
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * count; ++i)
      wrong += all[static_cast<std::size_t>(i)] != number(i / count, call);
  };
  for (const int count : {100, 200}) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&rank, 1, MPI_INT, others.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
    gather_of(count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    gather_of(count);
    gather_of(count);
  }
}

/// Other ranks may be so many collectives ahead of a late rank that tags are reused.
void ahead() {
  int value = 7;
  std::vector<int> all(ranks());
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    if (rank == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (int call = 0; call <= 128; ++call) {
      const int expected = 1000 * round + call;
      if (call % 128 == 0) {
        value = rank == 0 ? expected : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        wrong += value != expected;
      } else {
        MPI_Gather(&expected, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
        wrong += rank == 0 && all != std::vector<int>(ranks(), expected);
      }
    }
  }
}

/// In the second call rank 0 sends more than the others receive.
void failing() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  gather(1);
  const int blocks = rank == 0 ? 4 : 2;
  const bool fails = gather(blocks) != MPI_SUCCESS;
  wrong = fails != (rank != 0);
  for (int i = 0; i < 3; ++i) wrong += gather(1) != MPI_SUCCESS;
}

int at_end(MPI_Comm, int, void*, void*) {
  gather(2);
  gather_v();
  if (rank == 0) std::printf("in the callback %d wrong\n", wrong);
  return MPI_SUCCESS;
}

void callback() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  gather(2);
  gather(2);
}

void destructor() {
  gather(1);
  finalize_at_exit = true;
}

void exhausted() {
  MPI_Comm from, taken;
  MPI_Comm_dup(MPI_COMM_WORLD, &from);
  MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN);
  for (int i = 0; i < 100000 && MPI_Comm_dup(from, &taken) == MPI_SUCCESS; ++i) continue;
  gather(1);
}

void disagreeing() { gather(1); }

/// Before MPI_Init, which reads the choice: the launcher says which rank this will be.
void choose_by_rank() {
  const char* first = std::getenv("CONVENE_RANK_0");
  const char* second = std::getenv("CONVENE_RANK_1");
  if (!first || !second) return;
  const char* here = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!here) here = std::getenv("PMI_RANK");
  setenv("CONVENE_USE", here && std::strcmp(here, "0") == 0 ? first : second, 1);
}

struct Corner {
  const char* name;
  void (*run)();
};

constexpr Corner corners[] = {
    {"types", types},         {"alternating", alternating}, {"arrays", arrays},
    {"elsewhere", elsewhere}, {"counts", counts},           {"exscan", exscan},
    {"handles", handles},     {"beside", beside},           {"ahead", ahead},
    {"failing", failing},     {"callback", callback},       {"destructor", destructor},
    {"exhausted", exhausted}, {"disagreeing", disagreeing}};

}  // namespace

int main(int argc, char** argv) {
  choose_by_rank();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool known = false;
  for (const Corner& corner : corners)
    if (argc == 2 && std::strcmp(argv[1], corner.name) == 0) {
      known = true;
      corner.run();
    }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  if (!finalize_at_exit) MPI_Finalize();
  return all != 0 || !known;
}
