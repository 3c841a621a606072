// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives, several at once, started in another order on each rank, completed in several ways:
//
//   persistent mpi      MPI_Allgather_init … MPI_Start, for a run through Convene
//   persistent convene  convene_allgather_init … convene_start
//
// With a further argument, in the same order on all ranks (native non-blocking calls need that).
//
// And more blocking collectives during a non-blocking one than there are tags.
#include <dlfcn.h>
#include <mpi.h>

#if __has_include(<convene/convene.h>)
#include <convene/convene.h>
#define OURS(name) convene_##name##_init
#else  // compiled as a plain MPI program: without the second form
using convene_operation = void*;
inline int convene_start(convene_operation, MPI_Request*) { return MPI_ERR_OTHER; }
inline int convene_free(convene_operation*) { return MPI_ERR_OTHER; }
#define OURS(name) [](auto&&...) -> int { return MPI_ERR_OTHER; }
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

int rank, procs;
bool in_order = false;
MPI_Datatype spaced;  // an integer with a gap after it

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s on rank %d\n", what.c_str(), rank);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// The value of item `item` from `from` to `to` in a round.
int value(int from, int to, int item, int round) { return ((from * 64 + to) * 64 + item) * 16 + round; }

/// One operation with its buffers: its creation, its data before a start, and its check after completion.
struct Operation {
  std::string name;
  std::vector<int> in, out;
  std::vector<int> counts, displacements;
  std::function<void(int round)> fill, check;
  MPI_Request request = MPI_REQUEST_NULL;
  convene_operation object = nullptr;
};

/// An MPI function, also as an extension of an MPI before 4.0.
void* find(const std::string& function) {
  void* const found = dlsym(RTLD_DEFAULT, function.c_str());
  return found ? found : dlsym(RTLD_DEFAULT, ("MPIX" + function.substr(3)).c_str());
}

template <class Ours, class... Arguments>
void make(Operation& operation, bool own, const char* function, Ours ours, Arguments... arguments) {
  operation.name = function;
  int code = MPI_ERR_OTHER;
  if (own) {
    code = ours(arguments..., MPI_COMM_WORLD, &operation.object);
  } else {
    // Not every MPI declares them.
    using Init = int (*)(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
    const auto init = reinterpret_cast<Init>(find(function));
    if (!init) fail(std::string("there is no ") + function);
    code = init(arguments..., MPI_COMM_WORLD, MPI_INFO_NULL, &operation.request);
  }
  if (code != MPI_SUCCESS) fail(std::string("making ") + function);
}

/// All operations of the test; `blocks` items of each rank.
std::vector<Operation> make_all(bool own, int count) {
  std::vector<Operation> all(10);
  const int root = procs - 1;
  const auto size = [](int items) { return static_cast<std::size_t>(items); };

  Operation& allgather = all[0];
  allgather.in.resize(size(count));
  allgather.out.resize(size(count * procs));
  allgather.fill = [&, count](int round) {
    for (int i = 0; i < count; ++i) allgather.in[size(i)] = value(rank, 0, i, round);
  };
  allgather.check = [&, count](int round) {
    for (int i = 0; i < count * procs; ++i)
      if (allgather.out[size(i)] != value(i / count, 0, i % count, round)) fail("allgather");
  };
  make(allgather, own, "MPI_Allgather_init", OURS(allgather), static_cast<const void*>(allgather.in.data()),
       count, MPI_INT, static_cast<void*>(allgather.out.data()), count, MPI_INT);

  Operation& scatterv = all[1];  // blocks of r + 1 items, whose sizes the root alone knows
  for (int r = 0, at = 0; r < procs; at += r++ + 1) {
    scatterv.counts.push_back(r + 1);
    scatterv.displacements.push_back(at);
  }
  scatterv.in.resize(size(procs * (procs + 1) / 2));
  scatterv.out.resize(size(rank + 1));
  scatterv.fill = [&, root](int round) {
    for (int r = 0; r < procs; ++r)
      for (int i = 0; i <= r; ++i)
        scatterv.in[size(scatterv.displacements[size(r)] + i)] = value(root, r, i, round);
  };
  scatterv.check = [&, root](int round) {
    for (int i = 0; i <= rank; ++i)
      if (scatterv.out[size(i)] != value(root, rank, i, round)) fail("scatterv");
  };
  make(scatterv, own, "MPI_Scatterv_init", OURS(scatterv), static_cast<const void*>(scatterv.in.data()),
       static_cast<const int*>(scatterv.counts.data()),
       static_cast<const int*>(scatterv.displacements.data()), MPI_INT,
       static_cast<void*>(scatterv.out.data()), rank + 1, MPI_INT, root);

  Operation& bcast = all[2];
  bcast.out.resize(size(count));
  bcast.fill = [&, root, count](int round) {
    for (int i = 0; i < count; ++i) bcast.out[size(i)] = rank == root ? value(root, 0, i, round) : -1;
  };
  bcast.check = [&, root, count](int round) {
    for (int i = 0; i < count; ++i)
      if (bcast.out[size(i)] != value(root, 0, i, round)) fail("bcast");
  };
  make(bcast, own, "MPI_Bcast_init", OURS(bcast), static_cast<void*>(bcast.out.data()), count, MPI_INT, root);

  // Items with a gap after each: they are packed again at every start.
  Operation& alltoall = all[3];
  alltoall.in.assign(size(2 * count * procs), -2);
  alltoall.out.assign(size(count * procs), -1);
  alltoall.fill = [&, count](int round) {
    for (int i = 0; i < count * procs; ++i)
      alltoall.in[size(2 * i)] = value(rank, i / count, i % count, round);
  };
  alltoall.check = [&, count](int round) {
    for (int i = 0; i < count * procs; ++i)
      if (alltoall.out[size(i)] != value(i / count, rank, i % count, round)) fail("alltoall");
  };
  make(alltoall, own, "MPI_Alltoall_init", OURS(alltoall), static_cast<const void*>(alltoall.in.data()),
       count, spaced, static_cast<void*>(alltoall.out.data()), count, MPI_INT);

  Operation& sum = all[4];
  sum.in.resize(size(count));
  sum.out.resize(size(count));
  sum.fill = [&, count](int round) {
    for (int i = 0; i < count; ++i) sum.in[size(i)] = rank * i + round;
  };
  sum.check = [&, count](int round) {
    for (int i = 0; i < count; ++i)
      if (sum.out[size(i)] != i * procs * (procs - 1) / 2 + procs * round) fail("allreduce");
  };
  make(sum, own, "MPI_Allreduce_init", OURS(allreduce), static_cast<const void*>(sum.in.data()),
       static_cast<void*>(sum.out.data()), count, MPI_INT, MPI_SUM);

  Operation& gather = all[5];  // in place at the root
  gather.in.resize(size(count));
  gather.out.resize(size(count * procs));
  gather.fill = [&, count](int round) {
    for (int i = 0; i < count; ++i) {
      gather.in[size(i)] = value(rank, 0, i, round);
      if (rank == 0) gather.out[size(i)] = value(rank, 0, i, round);
    }
  };
  gather.check = [&, count](int round) {
    for (int i = 0; rank == 0 && i < count * procs; ++i)
      if (gather.out[size(i)] != value(i / count, 0, i % count, round)) fail("gather");
  };
  make(gather, own, "MPI_Gather_init", OURS(gather),
       rank == 0 ? MPI_IN_PLACE : static_cast<const void*>(gather.in.data()), count, MPI_INT,
       static_cast<void*>(gather.out.data()), count, MPI_INT, 0);

  Operation& second = all[6];  // another one of the same kind
  second.in.resize(1);
  second.out.resize(size(procs));
  second.fill = [&](int round) { second.in[0] = value(rank, 1, 0, round); };
  second.check = [&](int round) {
    for (int i = 0; i < procs; ++i)
      if (second.out[size(i)] != value(i, 1, 0, round)) fail("the second allgather");
  };
  make(second, own, "MPI_Allgather_init", OURS(allgather), static_cast<const void*>(second.in.data()), 1,
       MPI_INT, static_cast<void*>(second.out.data()), 1, MPI_INT);

  Operation& barrier = all[7];
  barrier.fill = barrier.check = [](int) {};
  make(barrier, own, "MPI_Barrier_init", OURS(barrier));

  // Blocks of another size for each pair of ranks, some of them empty; first with gaps after the items that
  // are sent.
  const auto between = [](int from, int to) { return (from + 2 * to) % 4; };
  const auto lay_out = [&](Operation& operation, const auto& items, std::size_t& total) {
    int at = 0;
    for (int other = 0; other < procs; ++other) {
      operation.counts.push_back(items(other));
      operation.displacements.push_back(at);
      at += operation.counts.back() + other % 2;
    }
    total = size(at);
  };
  Operation& alltoallv = all[8];  // of its arrays the first half is the send side's
  std::size_t sent = 0, received = 0;
  lay_out(
      alltoallv, [&](int to) { return between(rank, to); }, sent);
  lay_out(
      alltoallv, [&](int from) { return between(from, rank); }, received);
  alltoallv.in.assign(2 * sent, -2);
  alltoallv.out.assign(received, -1);
  alltoallv.fill = [&](int round) {
    for (int to = 0; to < procs; ++to)
      for (int i = 0; i < alltoallv.counts[size(to)]; ++i)
        alltoallv.in[size(2 * (alltoallv.displacements[size(to)] + i))] = value(rank, to, i, round);
  };
  alltoallv.check = [&](int round) {
    for (int from = 0; from < procs; ++from)
      for (int i = 0; i < alltoallv.counts[size(procs + from)]; ++i)
        if (alltoallv.out[size(alltoallv.displacements[size(procs + from)] + i)] !=
            value(from, rank, i, round))
          fail("alltoallv");
  };
  make(alltoallv, own, "MPI_Alltoallv_init", OURS(alltoallv), static_cast<const void*>(alltoallv.in.data()),
       static_cast<const int*>(alltoallv.counts.data()),
       static_cast<const int*>(alltoallv.displacements.data()), spaced,
       static_cast<void*>(alltoallv.out.data()), static_cast<const int*>(alltoallv.counts.data() + procs),
       static_cast<const int*>(alltoallv.displacements.data() + procs), MPI_INT);

  Operation& swap = all[9];  // in place: received blocks have the size of the sent ones
  lay_out(
      swap, [&](int other) { return (rank + other) % 3; }, received);
  swap.out.assign(received, -1);
  swap.fill = [&](int round) {
    for (int to = 0; to < procs; ++to)
      for (int i = 0; i < swap.counts[size(to)]; ++i)
        swap.out[size(swap.displacements[size(to)] + i)] = value(rank, to, i, round);
  };
  swap.check = [&](int round) {
    for (int from = 0; from < procs; ++from)
      for (int i = 0; i < swap.counts[size(from)]; ++i)
        if (swap.out[size(swap.displacements[size(from)] + i)] != value(from, rank, i, round))
          fail("alltoallv in place");
  };
  const int* nothing = nullptr;  // ignored in place
  make(swap, own, "MPI_Alltoallv_init", OURS(alltoallv), static_cast<const void*>(MPI_IN_PLACE), nothing,
       nothing, MPI_DATATYPE_NULL, static_cast<void*>(swap.out.data()),
       static_cast<const int*>(swap.counts.data()), static_cast<const int*>(swap.displacements.data()),
       MPI_INT);
  return all;
}

int start(Operation& operation) {
  return operation.object ? convene_start(operation.object, &operation.request)
                          : MPI_Start(&operation.request);
}

/// Even ranks start the operations forwards, odd ones backwards: MPI allows it.
void run_round(std::vector<Operation>& all, int round) {
  for (Operation& operation : all) operation.fill(round);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (start(all[rank % 2 && !in_order ? all.size() - 1 - i : i]) != MPI_SUCCESS) fail("a start");
  std::vector<MPI_Request> requests;
  for (const Operation& operation : all) requests.push_back(operation.request);
  const int count = static_cast<int>(requests.size());
  if (round % 3 == 0 || in_order) {  // MPICH's native requests fail in MPI_Testall
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  } else if (round % 3 == 1) {
    for (int done = 0; !done;) MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
  } else {
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].request = requests[i];
    all[i].check(round);
  }
}

void free_all(std::vector<Operation>& all) {
  for (Operation& operation : all) {
    if (operation.object) {
      if (convene_free(&operation.object) != MPI_SUCCESS || operation.object) fail("convene_free");
    } else if (MPI_Request_free(&operation.request) != MPI_SUCCESS) {
      fail("MPI_Request_free");
    }
  }
}

/// A non-commutative operator: the product of 2x2 matrices.
void multiply(void* left, void* right, int* count, MPI_Datatype*) {
  const int* a = static_cast<const int*>(left);
  int* b = static_cast<int*>(right);
  for (int i = 0; i < *count; ++i, a += 4, b += 4) {
    const int product[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                           a[2] * b[1] + a[3] * b[3]};
    std::memcpy(b, product, sizeof product);
  }
}

/// The program frees operator and type as soon as the call is started or the operation created.
void free_what_is_in_use(bool persistent) {
  MPI_Datatype matrix;
  MPI_Op product;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  const int own[] = {1, rank, 0, 1};
  int all[4] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  if (persistent) {
    using Init = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request*);
    reinterpret_cast<Init>(find("MPI_Allreduce_init"))(own, all, 1, matrix, product, MPI_COMM_WORLD,
                                                       MPI_INFO_NULL, &request);
  } else {
    MPI_Iallreduce(own, all, 1, matrix, product, MPI_COMM_WORLD, &request);
  }
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
  if (persistent) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (persistent) MPI_Request_free(&request);
  if (all[0] != 1 || all[1] != procs * (procs - 1) / 2 || all[3] != 1) fail("a product of matrices");
}

/// A non-blocking collective is pending during more collectives than there are tags; rank 0 is late for it.
void outlast_the_tags() {
  int own = rank, word = 0;
  std::vector<int> gathered(static_cast<std::size_t>(procs), -1);
  MPI_Request request;
  MPI_Iallgather(&own, 1, MPI_INT, gathered.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 300; ++i) {
    word = rank == i % procs ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, i % procs, MPI_COMM_WORLD);
    if (word != i) fail("a bcast beside a non-blocking collective");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < procs; ++i)
    if (gathered[static_cast<std::size_t>(i)] != i) fail("the collective that outlasts others");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const bool own = argc > 1 && std::strcmp(argv[1], "convene") == 0;
  in_order = argc > 2;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  for (const int count : {3, 5000}) {
    std::vector<Operation> all = make_all(own, count);
    for (int round = 0; round < 9; ++round) run_round(all, round);
    free_all(all);
  }
  MPI_Type_free(&spaced);
  if (!own && !in_order) {
    free_what_is_in_use(false);
    free_what_is_in_use(true);
    outlast_the_tags();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("all persistent collectives are right\n");
  MPI_Finalize();
  return 0;
}
