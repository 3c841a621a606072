// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stall/wait_warning.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/durations.hpp"
#include "execute/stall_detector.hpp"
#include "runtime/call/caller.hpp"

namespace convene::runtime {
namespace {

/// Ranks of the program, ascending, each once.
std::vector<int> in_world(MPI_Comm comm, const int* ranks, std::size_t count) {
  std::vector<int> found(count);
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  pmpi.Comm_group(comm, &here);
  pmpi.Comm_group(MPI_COMM_WORLD, &world);
  pmpi.Group_translate_ranks(here, static_cast<int>(count), ranks, world, found.data());
  pmpi.Group_free(&here);
  pmpi.Group_free(&world);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string place_of(const void* address) {
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0 || !info.dli_fname) return "";
  char text[32];
  std::snprintf(
      text, sizeof text, "+%#zx",
      static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase)));
  const std::string path = info.dli_fname;
  const std::string near = info.dli_sname ? std::string(" (near ") + info.dli_sname + ")" : "";
  return " called at " + path.substr(path.rfind('/') + 1) + text + near;
}

}  // namespace

void warn_of_missing_peers(MPI_Comm comm, const int* peers, std::size_t count, bool is_started) {
  int rank = 0;
  pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  std::string whom;
  for (const int peer : in_world(comm, peers, count))
    whom += (whom.empty() ? "" : ", ") + (peer == MPI_UNDEFINED ? std::string("?") : std::to_string(peer));
  std::fprintf(stderr, "convene: rank %d has waited %s for %s%s, in a collective%s\n", rank,
               format_duration(static_cast<Nanoseconds>(wait_warning.after_ns)).c_str(),
               whom.empty() ? "others" : "rank ", whom.c_str(),
               is_started ? " that it started" : place_of(recorder::caller).c_str());
}

void warn_of_native_wait(int rank, const void* caller, int procs, bool makes_communicator) {
  const std::string whose =
      procs > 0 ? "this " + std::to_string(procs) + "-rank communicator" : "this intercommunicator";
  std::fprintf(
      stderr,
      "convene: rank %d has waited %s inside the MPI library, in a collective%s%s; ranks of %s that do "
      "not print this have not entered the call, or have left it\n",
      rank, format_duration(static_cast<Nanoseconds>(wait_warning.after_ns)).c_str(),
      place_of(caller).c_str(),
      makes_communicator ? ", which creates the internal communicator of Convene" : "", whose.c_str());
}

}  // namespace convene::runtime
