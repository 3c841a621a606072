/* SPDX-License-Identifier: BSD-3-Clause */
/* Declared phases: results are correct for any forecast, and nothing deadlocks.
 *
 *   phases usual          phases with edges before allgather, allgatherv, reduce; in place; a derived type
 *   phases wrong          forecasts that are all wrong
 *   phases skipped        ranks without declarations, edges or ends, each in other runs
 *   phases interleaved    phases of two communicators, and two operations of one, in any order on each rank
 *   phases misused        declarations out of order are rejected, and change nothing
 *   phases open           MPI_Finalize while phases are open
 */
#define _DEFAULT_SOURCE /* usleep */
#include <convene/convene.h>
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 700 };

static int rank, procs;

static void fail(const char* what) {
  printf("FAILED: %s on rank %d: %s\n", what, rank, convene_error());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(int holds, const char* what) {
  if (!holds) fail(what);
}

static void expect_ok(int code, const char* what) { expect(code == MPI_SUCCESS, what); }

/* Computes for a given time. */
static void pass(double seconds) {
  if (seconds > 0) usleep((useconds_t)(seconds * 1e6));
}

/* An operation with its buffers. */
struct gathering {
  convene_operation operation;
  int *in, *out, *counts, *displacements;
  int own, total, in_place;
};

static int value(int from, int i, int run) { return from * 1000003 + i * 17 + run; }

static void make(struct gathering* g, MPI_Comm comm, int irregular, int in_place) {
  g->in_place = in_place;
  g->counts = malloc(sizeof(int) * (size_t)procs);
  g->displacements = malloc(sizeof(int) * (size_t)procs);
  g->total = 0;
  for (int r = 0; r < procs; ++r) {
    g->counts[r] = irregular ? (r % 3) * count : count;
    g->displacements[r] = g->total;
    g->total += g->counts[r];
  }
  g->own = g->counts[rank];
  g->in = malloc(sizeof(int) * (size_t)(g->own + 1));
  g->out = malloc(sizeof(int) * (size_t)(g->total + 1));
  const void* from = in_place ? MPI_IN_PLACE : g->in;
  if (irregular)
    expect_ok(convene_allgatherv_init(from, g->own, MPI_INT, g->out, g->counts, g->displacements, MPI_INT,
                                      comm, &g->operation),
              "convene_allgatherv_init");
  else
    expect_ok(convene_allgather_init(from, g->own, MPI_INT, g->out, count, MPI_INT, comm, &g->operation),
              "convene_allgather_init");
  expect_ok(convene_phase_init(g->operation, 0), "convene_phase_init");
}

/* The contribution is complete at the phase's end; before that it is invalid, and the result is not
 * touched. */
static void fill(struct gathering* g, int run, int complete) {
  int* own = g->in_place ? g->out + g->displacements[rank] : g->in;
  for (int i = 0; i < g->own; ++i) own[i] = complete ? value(rank, i, run) : -1;
}
static void spoil(struct gathering* g) {
  for (int i = 0; i < g->total; ++i) g->out[i] = -7;
}
static void expect_untouched(struct gathering* g) {
  for (int i = 0; i < g->total; ++i)
    if (g->out[i] != -7 &&
        !(g->in_place && i >= g->displacements[rank] && i < g->displacements[rank] + g->own))
      fail("the result was written before the call");
}
static void expect_gathered(struct gathering* g, int run) {
  for (int r = 0; r < procs; ++r)
    for (int i = 0; i < g->counts[r]; ++i)
      if (g->out[g->displacements[r] + i] != value(r, i, run)) fail("what was gathered");
}

static void start_and_wait(struct gathering* g) {
  MPI_Request request;
  expect_ok(convene_start(g->operation, &request), "convene_start");
  MPI_Status status;
  expect_ok(MPI_Waitall(1, &request, &status), "MPI_Waitall");
}

static void release(struct gathering* g) {
  expect_ok(convene_free(&g->operation), "convene_free");
  free(g->in);
  free(g->out);
  free(g->counts);
  free(g->displacements);
}

/* One phase of `seconds`, with an edge at `fraction` of the time that declares `claimed`. */
static void one_phase(struct gathering* g, int run, double seconds, double fraction, double claimed) {
  spoil(g);
  fill(g, run, 0);
  expect_ok(convene_phase_begin(g->operation), "convene_phase_begin");
  pass(seconds * fraction);
  expect_ok(convene_phase_edge(g->operation, claimed), "convene_phase_edge");
  pass(seconds * (1 - fraction));
  expect_untouched(g);
  fill(g, run, 1);
  expect_ok(convene_phase_end(g->operation), "convene_phase_end");
  start_and_wait(g);
  expect_gathered(g, run);
}

static double late(int run) { return (rank + run) % procs == 0 ? 0.02 : 0.002; }

static void usual(void) {
  const char* uses[] = {"allgather=bdr,allgatherv=bdr", "allgather=bslb,allgatherv=bslb",
                        "allgather=list_scheduled,allgatherv=list_scheduled",
                        "allgather=ring,allgatherv=sparbit", "allgather=native"};
  for (int which = 0; which < 5; ++which)
    for (int form = 0; form < 4; ++form) {
      MPI_Comm comm;
      struct gathering g;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      expect_ok(convene_use(comm, uses[which]), "convene_use");
      make(&g, comm, form & 1, form & 2);
      for (int run = 0; run < 4; ++run) one_phase(&g, run, late(run), 0.5, 0.5);
      release(&g);
      MPI_Comm_free(&comm);
    }
}

/* A sum by Clairvoyant, in place at the root, with a user-defined operator. */
static void add(void* left, void* right, int* items, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *items; ++i) ((int*)right)[i] += ((int*)left)[i];
}
static void reductions(void) {
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  for (int form = 0; form < 8; ++form) {
    MPI_Comm comm;
    MPI_Request request;
    convene_operation operation;
    int in[count], out[count];
    const int root = procs - 1, in_place = (form & 1) && rank == root;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_ok(convene_use(comm, form & 4 ? "reduce=local_redirect" : "reduce=clairvoyant;segments=4"),
              "convene_use");
    expect_ok(convene_reduce_init(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, form & 2 ? own : MPI_SUM,
                                  root, comm, &operation),
              "convene_reduce_init");
    expect_ok(convene_phase_init(operation, 1e-4), "convene_phase_init");
    for (int run = 0; run < 4; ++run) {
      expect_ok(convene_phase_begin(operation), "begin");
      pass(late(run) / 2);
      expect_ok(convene_phase_edge(operation, 0.5), "edge");
      pass(late(run) / 2);
      for (int i = 0; i < count; ++i) (in_place ? out : in)[i] = value(rank, i, run);
      expect_ok(convene_phase_end(operation), "end");
      expect_ok(convene_start(operation, &request), "start");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; rank == root && i < count; ++i) {
        int sum = 0;
        for (int r = 0; r < procs; ++r) sum += value(r, i, run);
        expect(out[i] == sum, "a sum");
      }
    }
    expect_ok(convene_free(&operation), "convene_free");
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&own);
}

/* The vector of a broadcast is the root's input, and every rank's result; a sum on all ranks, in place on
 * some communicators; and a barrier, which has no data. */
static void others(void) {
  const char* sums[] = {"allreduce=slt;segments=3", "allreduce=prr", "allreduce=adaptive_tree"};
  const char* bcasts[] = {"bcast=list_scheduled", "bcast=arrival_b;segments=3", "bcast=arrival_nb"};
  for (int which = 0; which < 6; ++which) {
    MPI_Comm comm;
    MPI_Request request;
    convene_operation sum, vector, barrier, gather;
    int in[count], out[count], same[count];
    int* all = malloc(sizeof(int) * count * (size_t)procs);
    const int in_place = which / 3, root = which % procs;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_ok(convene_use(comm, sums[which % 3]), "convene_use");
    expect_ok(convene_allreduce_init(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm, &sum),
              "init");
    expect_ok(convene_use(comm, bcasts[which % 3]), "convene_use");
    expect_ok(convene_bcast_init(same, count, MPI_INT, root, comm, &vector), "init");
    expect_ok(convene_use(comm, "barrier=adaptive_tree,gather=bsls"), "convene_use");
    expect_ok(convene_barrier_init(comm, &barrier), "init");
    expect_ok(convene_gather_init(in_place && rank == root ? (void*)MPI_IN_PLACE : in, count, MPI_INT, all,
                                  count, MPI_INT, root, comm, &gather),
              "init");
    convene_operation operations[] = {sum, vector, barrier, gather};
    for (int i = 0; i < 4; ++i) expect_ok(convene_phase_init(operations[i], 1e-4), "convene_phase_init");
    for (int run = 0; run < 3; ++run)
      for (int i = 0; i < 4; ++i) {
        expect_ok(convene_phase_begin(operations[i]), "begin");
        pass(late(run) / 4);
        expect_ok(convene_phase_edge(operations[i], 0.5), "edge");
        pass(late(run) / 4);
        for (int k = 0; k < count; ++k) {
          in[k] = value(rank, k, run);
          if (i == 0 && in_place) out[k] = value(rank, k, run);
          if (i == 1) same[k] = rank == root ? value(root, k, run) : -1;
          if (i == 3) all[(size_t)rank * count + (size_t)k] = value(rank, k, run);
        }
        expect_ok(convene_phase_end(operations[i]), "end");
        expect_ok(convene_start(operations[i], &request), "start");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 0; k < count; ++k) {
          int expected = 0;
          for (int r = 0; r < procs; ++r) expected += value(r, k, run);
          if (i == 0) expect(out[k] == expected, "a sum everywhere");
          if (i == 1) expect(same[k] == value(root, k, run), "a broadcast");
          for (int r = 0; i == 3 && rank == root && r < procs; ++r)
            expect(all[(size_t)r * count + (size_t)k] == value(r, k, run), "a gather");
        }
      }
    for (int i = 0; i < 4; ++i) expect_ok(convene_free(&operations[i]), "convene_free");
    MPI_Comm_free(&comm);
    free(all);
  }
}

/* Blocks to and from the root, which alone knows all their sizes; on some communicators in place at the
 * root. */
struct rooted {
  convene_operation operation;
  int *all, *own, *counts, *displacements; /* `all` is the root's */
  int root, gathers, in_place;
};

static void make_rooted(struct rooted* r, MPI_Comm comm, int which, int root, int in_place) {
  const int irregular = which != 1, is_root = rank == root, total = 2 * count * procs;
  r->gathers = which == 0, r->root = root, r->in_place = in_place && is_root;
  r->counts = malloc(sizeof(int) * (size_t)procs);
  r->displacements = malloc(sizeof(int) * (size_t)procs);
  r->all = malloc(sizeof(int) * (size_t)total);
  r->own = malloc(sizeof(int) * 2 * count);
  for (int to = 0; to < procs; ++to) {
    r->counts[to] = irregular ? to % 3 * count : count;
    r->displacements[to] = (procs - 1 - to) * (irregular ? 2 * count : count);
    if (!irregular) r->displacements[to] = to * count;
  }
  void* own = r->in_place ? MPI_IN_PLACE : r->own;
  int *counts = is_root ? r->counts : NULL, *displacements = is_root ? r->displacements : NULL;
  int* all = is_root ? r->all : NULL;
  const int mine = r->counts[rank];
  expect_ok(which == 0 ? convene_gatherv_init(own, mine, MPI_INT, all, counts, displacements, MPI_INT, root,
                                              comm, &r->operation)
            : which == 1
                ? convene_scatter_init(all, count, MPI_INT, own, count, MPI_INT, root, comm, &r->operation)
                : convene_scatterv_init(all, counts, displacements, MPI_INT, own, mine, MPI_INT, root, comm,
                                        &r->operation),
            "init");
  expect_ok(convene_phase_init(r->operation, which == 2 ? 0 : 1e-4), "convene_phase_init");
}

/* The block of a rank in the root's memory: with a number in each item, or as expected. */
static void fill_block(struct rooted* r, int of, int run) {
  for (int i = 0; i < r->counts[of]; ++i) r->all[r->displacements[of] + i] = value(of, i, run);
}
static void expect_block(struct rooted* r, int of, int run) {
  for (int i = 0; i < r->counts[of]; ++i)
    expect(r->all[r->displacements[of] + i] == value(of, i, run), "a block at the root");
}

static void run_rooted(struct rooted* r, int run) {
  MPI_Request request;
  const int mine = r->counts[rank], is_root = rank == r->root;
  for (int i = 0; i < mine; ++i) r->own[i] = -7;
  for (int i = 0; is_root && i < 2 * count * procs; ++i) r->all[i] = -7;
  expect_ok(convene_phase_begin(r->operation), "begin");
  pass(late(run) / 2);
  expect_ok(convene_phase_edge(r->operation, 0.5), "edge");
  pass(late(run) / 2);
  if (r->gathers) {
    for (int of = 0; is_root && of < procs; ++of)
      for (int i = 0; i < r->counts[of]; ++i)
        expect(r->all[r->displacements[of] + i] == -7, "untouched before the call");
    for (int i = 0; i < mine; ++i) r->own[i] = value(rank, i, run);
    if (r->in_place) fill_block(r, rank, run);
  } else {
    for (int i = 0; i < mine; ++i) expect(r->own[i] == -7, "untouched before the call");
    for (int to = 0; is_root && to < procs; ++to) fill_block(r, to, run);
  }
  expect_ok(convene_phase_end(r->operation), "end");
  expect_ok(convene_start(r->operation, &request), "start");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int of = 0; is_root && of < procs; ++of) expect_block(r, of, run);
  for (int i = 0; i < mine; ++i)
    expect(r->own[i] == (r->in_place && !r->gathers ? -7 : value(rank, i, run)), "the own block");
}

static void rooted(void) {
  const char* uses[] = {"gatherv=sls,scatter=sln,scatterv=sbn", "gatherv=bsls,scatter=bsln,scatterv=bsbn",
                        "gatherv=sbn,scatter=sbn,scatterv=sln", "gatherv=bsbn,scatter=bsbn,scatterv=bsln"};
  for (int form = 0; form < 8; ++form) {
    MPI_Comm comm;
    struct rooted made[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_ok(convene_use(comm, uses[form % 4]), "convene_use");
    for (int i = 0; i < 3; ++i) make_rooted(&made[i], comm, i, (form + i) % procs, form / 4);
    for (int run = 0; run < 3; ++run)
      for (int i = 0; i < 3; ++i) run_rooted(&made[i], run);
    for (int i = 0; i < 3; ++i) {
      expect_ok(convene_free(&made[i].operation), "convene_free");
      free(made[i].all);
      free(made[i].own);
      free(made[i].counts);
      free(made[i].displacements);
    }
    MPI_Comm_free(&comm);
  }
}

/* Early ranks declare that they will be late, and vice versa. */
static void wrong(const char* use) {
  struct gathering g;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expect_ok(convene_use(comm, use), "convene_use");
  make(&g, comm, 0, 0);
  for (int run = 0; run < 6; ++run) one_phase(&g, run, late(run), 0.5, (rank + run) % procs == 0 ? 1 : 0.01);
  release(&g);
  MPI_Comm_free(&comm);
}

static void skipped(const char* use) {
  struct gathering g;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expect_ok(convene_use(comm, use), "convene_use");
  make(&g, comm, 0, 0);
  for (int run = 0; run < 12; ++run) {
    const int how = (rank + run) % 4;
    spoil(&g);
    if (how != 0) expect_ok(convene_phase_begin(g.operation), "begin");
    pass(late(run) / 2);
    if (how == 2) expect_ok(convene_phase_edge(g.operation, 0.5), "edge");
    pass(late(run) / 2);
    fill(&g, run, 1);
    if (how == 3) expect_ok(convene_phase_end(g.operation), "end");
    start_and_wait(&g); /* ends a phase that is open */
    expect_gathered(&g, run);
  }
  release(&g);
  MPI_Comm_free(&comm);
}

/* Without the drop-in library, persistent operations are native under the standard ABI: these are started
 * in the same order on all ranks. */
#ifdef MPI_ABI_VERSION
enum { differs = 0 };
#else
enum { differs = 1 };
#endif

static void interleaved(void) {
  enum { operations = 3 };
  struct gathering g[operations];
  MPI_Comm comm, other;
  MPI_Request requests[operations];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  expect_ok(convene_use(comm, "allgather=bdr,allgatherv=list_scheduled"), "convene_use");
  expect_ok(convene_use(other, "allgather=bslb"), "convene_use");
  make(&g[0], comm, 0, 0);
  make(&g[1], comm, 1, 0);
  make(&g[2], other, 0, 1);
  for (int run = 0; run < 8; ++run) {
    for (int i = 0; i < operations; ++i)
      expect_ok(convene_phase_begin(g[(i + differs * rank) % operations].operation), "begin");
    pass(late(run) / 2);
    for (int i = 0; i < operations; ++i)
      expect_ok(convene_phase_edge(g[(i + differs * 2 * rank) % operations].operation, 0.5), "edge");
    pass(late(run) / 2);
    for (int i = 0; i < operations; ++i) {
      const int at = (i + differs * rank + run) % operations;
      fill(&g[at], run, 1);
      expect_ok(convene_phase_end(g[at].operation), "end");
      expect_ok(convene_start(g[at].operation, &requests[at]), "start");
    }
    for (int i = 0; i < operations; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < operations; ++i) expect_gathered(&g[i], run);
  }
  for (int i = 0; i < operations; ++i) release(&g[i]);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
}

static void expect_refused(int code, const char* word) {
  expect(code == MPI_ERR_ARG, "a declaration out of place");
  expect(strstr(convene_error(), word) != NULL, word);
}

static void misused(const char* use) {
  struct gathering g;
  MPI_Comm comm;
  MPI_Request request;
  convene_operation plain;
  int in = 1, *out = malloc(sizeof(int) * (size_t)procs);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expect_ok(convene_use(comm, use), "convene_use");
  expect_ok(convene_allgather_init(&in, 1, MPI_INT, out, 1, MPI_INT, comm, &plain), "init");
  expect_refused(convene_phase_begin(plain), "convene_phase_init");
  expect_ok(convene_free(&plain), "free");
  free(out);
  make(&g, comm, 0, 0);
  expect_refused(convene_phase_begin(NULL), "needs an operation");
  expect_refused(convene_phase_init(g.operation, 0), "already has phases");
  expect_refused(convene_phase_edge(g.operation, 0.5), "no phase is open");
  expect_refused(convene_phase_end(g.operation), "no phase is open");
  expect_ok(convene_phase_begin(g.operation), "begin");
  expect_refused(convene_phase_begin(g.operation), "already open");
  expect_refused(convene_phase_edge(g.operation, 50), "invalid fraction 50");
  fill(&g, 1, 1);
  expect_ok(convene_phase_edge(g.operation, 0.5), "edge");
  expect_ok(convene_phase_end(g.operation), "end");
  expect_refused(convene_phase_begin(g.operation), "not started after its last phase");
#ifndef MPI_ABI_VERSION
  if (strstr(use, "bdr")) expect_refused(convene_free(&g.operation), "phase");
#endif
  expect_ok(convene_start(g.operation, &request), "start");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_gathered(&g, 1);
  release(&g);
  MPI_Comm_free(&comm);
}

static int threads_at_start;

static int count_threads(void) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  expect(tasks != NULL, "/proc");
  for (const struct dirent* task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Called in MPI_Finalize before Convene's own part: a thread that was still inside the MPI would keep
 * MPICH's lock forever. */
static int expect_no_thread(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  expect(count_threads() <= threads_at_start, "the thread had not ended when MPI_Finalize began");
  return MPI_SUCCESS;
}

/* In various states: other ranks have sent, or have not. Many, so that a progress thread has much work
 * when MPI_Finalize begins. */
static void open_at_the_end(int threads) {
  enum { many = 24 };
  static struct gathering g[many];
  for (int i = 0; i < many; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_ok(convene_use(comm, "allgather=bdr"), "convene_use");
    make(&g[i], comm, 0, 0);
    expect_ok(convene_phase_begin(g[i].operation), "begin");
    if (i % 3 > 0) expect_ok(convene_phase_edge(g[i].operation, 0.5), "edge");
    if (i % 3 > 1 && rank % 2) expect_ok(convene_phase_end(g[i].operation), "end");
  }
  pass(0.01);
  if (threads) {
    int keyval;
    expect(count_threads() > threads_at_start, "a thread in the background");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, expect_no_thread, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  }
}

int main(int argc, char** argv) {
  int provided;
  const char* what = argc > 1 ? argv[1] : "";
  const int threads = argc > 2;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  threads_at_start = count_threads();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (strcmp(what, "usual") == 0) {
    usual();
    reductions();
    others();
    rooted();
  } else if (strcmp(what, "wrong") == 0) {
    wrong("allgather=bdr");
    wrong("allgather=bslb");
    wrong("allgather=list_scheduled");
  } else if (strcmp(what, "skipped") == 0) {
    skipped("allgather=bdr");
    skipped("allgather=list_scheduled");
    skipped("allgather=sparbit");
  } else if (strcmp(what, "interleaved") == 0) {
    interleaved();
  } else if (strcmp(what, "misused") == 0) {
    misused("allgather=bdr");
    misused("allgather=ring");
    misused("allgather=native");
  } else if (strcmp(what, "open") == 0) {
    open_at_the_end(threads);
  } else {
    fail("unknown word");
  }
  if (rank == 0) printf("phases %s: done\n", what);
  MPI_Finalize();
  return 0;
}
