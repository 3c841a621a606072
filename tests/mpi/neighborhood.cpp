// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood allgathers and alltoalls on all kinds of process topologies, with blocks of equal and of
// different sizes, contiguous and not, blocking, non-blocking and (if the MPI has it) persistent:
//
//   neighborhood [calls [seed]]
//
// Received data is compared with the topology, so the program tests native collectives as well as Convene's.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

int world_rank, world_procs;
std::mt19937 common;  // the same on all ranks

int any(int least, int most) {
  return least + static_cast<int>(common() % static_cast<unsigned>(most - least + 1));
}

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s on rank %d\n", what.c_str(), world_rank);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// A communicator with a topology, and this rank's neighbours.
struct Topology {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> sources, targets;  // MPI_PROC_NULL if there is none
  int rank = 0, procs = 0;
  bool is_grid = false;
  std::vector<std::vector<int>> all_targets;  // by rank
};

/// Every rank's targets.
void find_all_targets(Topology& on) {
  std::vector<int> sizes(static_cast<std::size_t>(on.procs)), at(sizes.size());
  const int own = static_cast<int>(on.targets.size());
  MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, on.comm);
  int total = 0;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) at[rank] = total, total += sizes[rank];
  std::vector<int> all(static_cast<std::size_t>(total) + 1);
  MPI_Allgatherv(on.targets.data(), own, MPI_INT, all.data(), sizes.data(), at.data(), MPI_INT, on.comm);
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    on.all_targets.emplace_back(all.begin() + at[rank], all.begin() + at[rank] + sizes[rank]);
}

/// Which of its blocks a source sends to place `place` of this rank: blocks between two ranks match in their
/// order; on a grid what is sent down arrives from above, and the other way round (MPI 4.1, 8.6).
int sent_as(const Topology& on, std::size_t place) {
  const int source = on.sources[place];
  if (on.is_grid) return static_cast<int>(place ^ 1u);
  long before = std::count(on.sources.begin(), on.sources.begin() + static_cast<long>(place), source);
  const std::vector<int>& sent = on.all_targets[static_cast<std::size_t>(source)];
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (sent[i] == on.rank && before-- == 0) return static_cast<int>(i);
  fail("a source without a target");
}

Topology grid(bool periodic) {
  Topology made;
  made.name = periodic ? "torus" : "grid";
  made.is_grid = true;
  int dims[2] = {0, 0}, periods[2] = {periodic, periodic};
  MPI_Dims_create(world_procs, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, any(0, 1), &made.comm);
  for (int i = 0; i < 2; ++i) {
    int below, above;
    MPI_Cart_shift(made.comm, i, 1, &below, &above);
    made.sources.insert(made.sources.end(), {below, above});
  }
  made.targets = made.sources;
  return made;
}

/// Every rank with its neighbours, both ways; the first one also with itself.
Topology old_graph() {
  Topology made;
  made.name = "graph";
  std::vector<int> index, edges;
  for (int rank = 0; rank < world_procs; ++rank) {
    if (rank > 0) edges.push_back(rank - 1);
    if (rank + 1 < world_procs) edges.push_back(rank + 1);
    if (rank == 0) edges.push_back(0);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Graph_create(MPI_COMM_WORLD, world_procs, index.data(), edges.data(), 0, &made.comm);
  const int begin = world_rank > 0 ? index[static_cast<std::size_t>(world_rank - 1)] : 0;
  made.sources.assign(edges.begin() + begin, edges.begin() + index[static_cast<std::size_t>(world_rank)]);
  made.targets = made.sources;
  return made;
}

/// Any targets for each rank; or all adjacent ranks of a plane. Some lists are empty, some contain a rank
/// twice.
Topology distributed_graph(bool plane) {
  Topology made;
  made.name = plane ? "plane" : "random graph";
  const int degree = any(0, 4);
  for (int rank = 0; rank < world_procs; ++rank) {
    std::vector<int> targets;
    if (plane) {
      const int width = world_procs % 3 == 0 ? 3 : world_procs % 2 == 0 ? 2 : world_procs;
      const int height = world_procs / width, x = rank % width, y = rank / width;
      for (const int dy : {height - 1, 0, 1})
        for (const int dx : {width - 1, 0, 1})
          if (dx != 0 || dy != 0) targets.push_back((y + dy) % height * width + (x + dx) % width);
    } else {
      for (int i = any(0, degree); i > 0; --i) targets.push_back(any(0, world_procs - 1));
    }
    for (const int target : targets) {
      if (target == world_rank) made.sources.push_back(rank);
      if (rank == world_rank) made.targets.push_back(target);
    }
  }
  const auto size = [](const std::vector<int>& list) { return static_cast<int>(list.size()); };
  // Some MPIs require non-null addresses even for empty lists.
  std::vector<int> from = made.sources, to = made.targets;
  from.push_back(0), to.push_back(0);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size(made.sources), from.data(), MPI_UNWEIGHTED,
                                 size(made.targets), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made.comm);
  return made;
}

Topology make_topology() {
  Topology made;
  switch (any(0, 4)) {
    case 0:
      made = grid(false);
      break;
    case 1:
      made = grid(true);
      break;
    case 2:
      made = old_graph();
      break;
    case 3:
      made = distributed_graph(true);
      break;
    default:
      made = distributed_graph(false);
  }
  MPI_Comm_rank(made.comm, &made.rank);
  MPI_Comm_size(made.comm, &made.procs);
  find_all_targets(made);
  return made;
}

constexpr int untouched = -1;

int value(int from, int item, int call) { return (from * 97 + item) * 31 + call % 31; }

/// The MPI's function for a persistent call, if it has one.
template <class... Arguments>
bool make_persistent(const char* name, MPI_Request* request, Arguments... arguments) {
  using Init = int (*)(Arguments..., MPI_Info, MPI_Request*);
  const auto init = reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, name));
  return init && init(arguments..., MPI_INFO_NULL, request) == MPI_SUCCESS;
}

void call(const Topology& on, int number, bool may_be_persistent, MPI_Datatype spaced) {
  const bool is_irregular = any(0, 1), is_spaced_in = any(0, 1), is_spaced_out = any(0, 1);
  const int form = any(0, may_be_persistent ? 2 : 1), base = any(0, 3) == 0 ? any(0, 3000) : any(0, 5);
  const auto count_of = [&](int rank) { return is_irregular ? (base + 3 * rank) % 7 : base; };
  const int in_step = is_spaced_in ? 2 : 1, out_step = is_spaced_out ? 2 : 1, own = count_of(on.rank);
  std::vector<int> in(static_cast<std::size_t>(own * in_step) + 1, untouched), counts, at;
  for (int i = 0; i < own; ++i) in[static_cast<std::size_t>(i * in_step)] = value(on.rank, i, number);
  int end = 0;
  for (const int source : on.sources) {
    counts.push_back(source == MPI_PROC_NULL ? 2 : count_of(source));
    if (!is_irregular) counts.back() = base;
    at.push_back(end + (is_irregular ? 1 : 0));  // with a gap before each
    end = at.back() + counts.back();
  }
  counts.push_back(0), at.push_back(0);  // some MPIs require non-null addresses even for empty lists
  std::vector<int> out(static_cast<std::size_t>(end * out_step) + 2, untouched), wanted = out;
  for (std::size_t i = 0; i < on.sources.size(); ++i)
    for (int item = 0; on.sources[i] != MPI_PROC_NULL && item < counts[i]; ++item)
      wanted[static_cast<std::size_t>((at[i] + item) * out_step)] = value(on.sources[i], item, number);

  const MPI_Datatype in_type = is_spaced_in ? spaced : MPI_INT, out_type = is_spaced_out ? spaced : MPI_INT;
  const void* sendbuf = in.data();
  void* recvbuf = out.data();
  MPI_Request request = MPI_REQUEST_NULL;
  const int rounds = form == 2 ? 2 : 1;
  if (form == 2) {
    const int *const_counts = counts.data(), *const_at = at.data();
    const bool made = is_irregular
                          ? make_persistent("MPI_Neighbor_allgatherv_init", &request, sendbuf, own, in_type,
                                            recvbuf, const_counts, const_at, out_type, on.comm)
                          : make_persistent("MPI_Neighbor_allgather_init", &request, sendbuf, own, in_type,
                                            recvbuf, base, out_type, on.comm);
    if (!made) fail("making a persistent one");
  }
  for (int round = 0; round < rounds; ++round) {
    int code = MPI_SUCCESS;
    if (form == 2)
      code = MPI_Start(&request);
    else if (form == 1 && is_irregular)
      code = MPI_Ineighbor_allgatherv(sendbuf, own, in_type, recvbuf, counts.data(), at.data(), out_type,
                                      on.comm, &request);
    else if (form == 1)
      code = MPI_Ineighbor_allgather(sendbuf, own, in_type, recvbuf, base, out_type, on.comm, &request);
    else if (is_irregular)
      code = MPI_Neighbor_allgatherv(sendbuf, own, in_type, recvbuf, counts.data(), at.data(), out_type,
                                     on.comm);
    else
      code = MPI_Neighbor_allgather(sendbuf, own, in_type, recvbuf, base, out_type, on.comm);
    if (code != MPI_SUCCESS || MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("the call");
    if (out != wanted)
      fail("wrong data on a " + on.name + (is_irregular ? ", irregular" : ", regular") + ", form " +
           std::to_string(form) + ", call " + std::to_string(number));
    if (round + 1 < rounds) std::fill(out.begin(), out.end(), untouched);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/// One side of an exchange.
struct Blocks {
  std::vector<int> counts, at, items;
  int step = 1;  // ints from one item to the next

  /// Behind a gap each if they are irregular.
  void add(int count, bool is_irregular) {
    at.push_back(end_ + (is_irregular ? 1 : 0));
    counts.push_back(count);
    end_ = at.back() + count;
  }
  void make() {
    items.assign(static_cast<std::size_t>(end_ * step) + 2, untouched);
    counts.push_back(0), at.push_back(0);  // some MPIs want addresses even of empty lists
  }
  int& item(std::size_t block, int i) { return items[static_cast<std::size_t>((at[block] + i) * step)]; }

 private:
  int end_ = 0;
};

int value_between(int from, int place, int item, int call) { return value(from, item * 11 + place, call); }

void exchange(const Topology& on, int number, bool may_be_persistent, bool is_first, MPI_Datatype spaced) {
  const bool is_irregular = any(0, 1);
  Blocks in, out;
  in.step = any(1, 2), out.step = any(1, 2);
  const int drawn = any(0, may_be_persistent ? 2 : 1), base = any(0, 3) == 0 ? any(0, 3000) : any(0, 5);
  const int form = is_first ? 0 : drawn;  // native non-blocking ones mix up blocks between the same two ranks
  const auto count_of = [&](int from, int place) {
    return is_irregular ? (base + 3 * from + 5 * place) % 7 : base;
  };
  for (std::size_t i = 0; i < on.targets.size(); ++i)
    in.add(count_of(on.rank, static_cast<int>(i)), is_irregular);
  for (std::size_t i = 0; i < on.sources.size(); ++i)
    out.add(!is_irregular                    ? base
            : on.sources[i] == MPI_PROC_NULL ? 2
                                             : count_of(on.sources[i], sent_as(on, i)),
            is_irregular);
  in.make(), out.make();
  for (std::size_t i = 0; i < on.targets.size(); ++i)
    for (int item = 0; item < in.counts[i]; ++item)
      in.item(i, item) = value_between(on.rank, static_cast<int>(i), item, number);
  Blocks wanted = out;
  for (std::size_t i = 0; i < on.sources.size(); ++i)
    for (int item = 0; on.sources[i] != MPI_PROC_NULL && item < out.counts[i]; ++item)
      wanted.item(i, item) = value_between(on.sources[i], sent_as(on, i), item, number);
  const MPI_Datatype types[] = {MPI_INT, spaced}, in_type = types[in.step - 1],
                     out_type = types[out.step - 1];
  const void* sendbuf = in.items.data();
  void* recvbuf = out.items.data();
  const int *scounts = in.counts.data(), *sat = in.at.data(), *rcounts = out.counts.data(),
            *rat = out.at.data();
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == 2) {
    const bool made = is_irregular
                          ? make_persistent("MPI_Neighbor_alltoallv_init", &request, sendbuf, scounts, sat,
                                            in_type, recvbuf, rcounts, rat, out_type, on.comm)
                          : make_persistent("MPI_Neighbor_alltoall_init", &request, sendbuf, base, in_type,
                                            recvbuf, base, out_type, on.comm);
    if (!made) fail("making a persistent exchange");
  }
  for (int left = form == 2 ? 2 : 1; left > 0; --left) {
    std::fill(out.items.begin(), out.items.end(), untouched);
    int code = MPI_SUCCESS;
    if (form == 2)
      code = MPI_Start(&request);
    else if (form == 1 && is_irregular)
      code = MPI_Ineighbor_alltoallv(sendbuf, scounts, sat, in_type, recvbuf, rcounts, rat, out_type, on.comm,
                                     &request);
    else if (form == 1)
      code = MPI_Ineighbor_alltoall(sendbuf, base, in_type, recvbuf, base, out_type, on.comm, &request);
    else if (is_irregular)
      code = MPI_Neighbor_alltoallv(sendbuf, scounts, sat, in_type, recvbuf, rcounts, rat, out_type, on.comm);
    else
      code = MPI_Neighbor_alltoall(sendbuf, base, in_type, recvbuf, base, out_type, on.comm);
    if (code != MPI_SUCCESS || MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("an exchange");
    if (out.items != wanted.items)
      fail("wrong data of an exchange on a " + on.name + (is_irregular ? ", irregular" : ", regular") +
           ", form " + std::to_string(form) + ", call " + std::to_string(number));
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_procs);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 200;
  common.seed(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
  const bool may_be_persistent = argc > 3 && std::string(argv[3]) == "persistent";
  MPI_Datatype spaced;  // an integer with a gap after it
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  for (int number = 0; number < calls;) {
    Topology on = make_topology();
    bool is_first = true;
    for (int left = any(1, 12); left > 0 && number < calls; --left, ++number)
      if (any(0, 1) == 0) {
        call(on, number, may_be_persistent, spaced);
      } else {
        exchange(on, number, may_be_persistent, is_first, spaced);
        is_first = false;
      }
    MPI_Comm_free(&on.comm);
  }
  MPI_Type_free(&spaced);
  if (world_rank == 0) std::printf("%d neighborhood calls are right\n", calls);
  MPI_Finalize();
}
