// SPDX-License-Identifier: BSD-3-Clause
// All predefined operators × all predefined types that the MPI accepts for them × all algorithms: Convene's
// results and the native ones must be equal byte for byte. The algorithms are listed in CONVENE_TEST_SPECS, a
// line "COLLECTIVE SPEC" each; counts, roots, in-place and non-blocking calls alternate. With an argument
// each call is printed.
#include <convene/convene.h>

#include <cstdio>
#include <sstream>

#include "reduction_kinds.hpp"

namespace {

constexpr const char* reductions[] = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
                                      "scan",   "exscan"};

bool is_reduction(const std::string& name) {
  return std::find(std::begin(reductions), std::end(reductions), name) != std::end(reductions);
}

/// Executes a call and returns its fault.
std::string problem_of(ReductionCall& call, bool is_request, Random& mine) {
  call.fill(mine);
  if (call.run_reference() != MPI_SUCCESS) return "the MPI itself fails";
  MPI_Request request = MPI_REQUEST_NULL;
  int code = call.run(0, false, is_request ? &request : nullptr);
  if (is_request && code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return "returned an error";
  return call.is_right() ? "" : "differs from native";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReductionCall call;
  call.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(call.comm, &call.rank);
  MPI_Comm_size(call.comm, &call.procs);
  const std::vector<Kind> kinds = predefined_kinds();
  Random mine(static_cast<std::uint64_t>(call.rank) + 1);
  constexpr int counts[] = {1, 5, 0, 67, 2, 300};
  int calls = 0, failures = 0;
  std::istringstream lines(std::getenv("CONVENE_TEST_SPECS") ? std::getenv("CONVENE_TEST_SPECS") : "");
  for (std::string collective, spec; lines >> collective >> spec && failures == 0;) {
    if (!is_reduction(collective) || spec == "native") continue;
    const std::string use = collective + "=" + spec;
    if (convene_use(call.comm, use.c_str()) != MPI_SUCCESS) {
      std::fprintf(stderr, "%s: %s\n", use.c_str(), convene_error());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    call.collective = collective;
    for (const Kind& kind : kinds) {
      call.kind = &kind;
      call.count = counts[calls % 6];
      call.counts.clear();
      for (int i = 0; i < call.procs; ++i) call.counts.push_back((calls + 3 * i) % 7);
      call.root = calls % call.procs;
      call.in_place = calls % 3 == 2;
      if (argc > 1) {
        std::printf("rank %d: %s, %s, %d items, root %d%s%s\n", call.rank, use.c_str(),
                    kind.in_words().c_str(), call.count, call.root, call.in_place ? ", in place" : "",
                    calls % 4 == 3 ? ", non-blocking" : "");
        std::fflush(stdout);
      }
      const std::string problem = problem_of(call, calls % 4 == 3, mine);
      ++calls;
      int wrong = problem.empty() ? 0 : 1;
      if (wrong != 0)
        std::printf("FAILED rank %d of %d: %s, %s, %d items, root %d%s: %s\n", call.rank, call.procs,
                    use.c_str(), kind.in_words().c_str(), call.count, call.root,
                    call.in_place ? ", in place" : "", problem.c_str());
      PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, call.comm);
      failures += wrong;
      if (failures > 0) break;
    }
  }
  if (call.rank == 0)
    std::printf("%d calls of %zu kinds: %s\n", calls, kinds.size(), failures == 0 ? "all right" : "WRONG");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
