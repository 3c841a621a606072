// SPDX-License-Identifier: BSD-3-Clause
// Reductions with wrong arguments: the program's error handler is called once, the error class is the native
// one (PMPI_…), and correct calls after them work.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "error_notes.hpp"

namespace {

int rank = 0, size = 1, failures = 0, calls = 0;

void expect(bool holds, const std::string& what) {
  ++calls;
  if (holds) return;
  ++failures;
  std::printf("FAILED: rank %d: %s\n", rank, what.c_str());
}

struct Arguments {
  int count = 3;
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_SUM;
  int root = 0;
};

using Call = std::function<int(const Arguments&, const void* in, void* out, MPI_Comm)>;

struct Reduction {
  std::string name;
  Call convene, mpi;
};

/// A non-blocking call, and its wait if it was started.
template <class Start>
int complete(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define BOTH(NAME, ...)                                                                                      \
  {                                                                                                          \
#NAME,                                                                                                   \
        [](const Arguments& a, const void* in, void* out,                                                    \
           MPI_Comm comm) { return MPI_##NAME __VA_ARGS__; },                                                \
                                                           [](const Arguments& a, const void* in, void* out, \
                                                              MPI_Comm                                       \
                                                                  comm) { return PMPI_##NAME __VA_ARGS__; }  \
  }
#define BOTH_STARTED(NAME, ...)                                                        \
  {                                                                                    \
#NAME,                                                                               \
   [](const Arguments& a, const void* in, void* out, MPI_Comm comm) {                   \
     return complete([&](MPI_Request* request) { return MPI_##NAME __VA_ARGS__; });     \
   },                                                                                   \
   [](const Arguments& a, const void* in, void* out, MPI_Comm comm) {                   \
     return complete([&](MPI_Request* request) { return PMPI_##NAME __VA_ARGS__; });    \
   } \
  }

const std::vector<Reduction> reductions = {
    BOTH(Reduce, (in, out, a.count, a.type, a.op, a.root, comm)),
    BOTH(Allreduce, (in, out, a.count, a.type, a.op, comm)),
    BOTH(Reduce_scatter_block, (in, out, a.count, a.type, a.op, comm)),
    BOTH(Scan, (in, out, a.count, a.type, a.op, comm)),
    BOTH(Exscan, (in, out, a.count, a.type, a.op, comm)),
    BOTH_STARTED(Ireduce, (in, out, a.count, a.type, a.op, a.root, comm, request)),
    BOTH_STARTED(Iallreduce, (in, out, a.count, a.type, a.op, comm, request)),
    BOTH_STARTED(Ireduce_scatter_block, (in, out, a.count, a.type, a.op, comm, request)),
    BOTH_STARTED(Iscan, (in, out, a.count, a.type, a.op, comm, request)),
    BOTH_STARTED(Iexscan, (in, out, a.count, a.type, a.op, comm, request)),
};

/// Correct calls of every reduction: an earlier error must not disturb them.
void right_calls(const Call& call, const std::string& name, MPI_Comm comm) {
  const std::vector<int> mine(3 * static_cast<std::size_t>(size), rank + 1);
  std::vector<int> ours(mine.size(), -1), theirs(mine.size(), -1);
  for (const Reduction& each : reductions)
    if (each.name == name) {
      expect(call({}, mine.data(), ours.data(), comm) == MPI_SUCCESS, name + " without an error");
      each.mpi({}, mine.data(), theirs.data(), comm);
      if (name.find("xscan") == std::string::npos || rank > 0)
        expect(ours == theirs, name + ": a right call's result");
    }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm returning, handling;
  MPI_Comm_dup(MPI_COMM_WORLD, &returning);
  MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &handling);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(handling, handler);

  const std::vector<std::pair<std::string, Arguments>> mistakes = {
      {"a negative count", {.count = -1}},
      {"no datatype", {.type = MPI_DATATYPE_NULL}},
      {"no operator", {.op = MPI_OP_NULL}},
      {"an operator that is not defined for the type", {.type = MPI_DOUBLE, .op = MPI_BAND}},
      {"a root that is not there", {.root = size}},
  };
  std::vector<double> in(3 * static_cast<std::size_t>(size), 1), out(in.size());
  for (const Reduction& reduction : reductions) {
    const bool has_root = reduction.name == "Reduce" || reduction.name == "Ireduce";
    for (const auto& [what, arguments] : mistakes) {
      if (arguments.root != 0 && !has_root) continue;
      const std::string where = reduction.name + ", " + what;
      const int wanted = class_of(reduction.mpi(arguments, in.data(), out.data(), returning));
      const int got = class_of(reduction.convene(arguments, in.data(), out.data(), returning));
      expect(wanted != MPI_SUCCESS, where + ": the MPI takes it for right");
      expect(got == wanted, where + ": class " + std::to_string(got) + ", not " + std::to_string(wanted));
      right_calls(reduction.convene, reduction.name, returning);
      handled = 0;
      reduction.convene(arguments, in.data(), out.data(), handling);
      expect(handled == 1 && handled_comm == handling,
             where + ": the handler was called " + std::to_string(handled) + " times");
      right_calls(reduction.convene, reduction.name, handling);
      expect(handled == 1, where + ": the handler was called without an error");
    }
  }

  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&returning);
  MPI_Comm_free(&handling);
  int anywhere = 0;
  MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d checks, %d failures\n", calls, anywhere);
  MPI_Finalize();
  return anywhere != 0;
}
