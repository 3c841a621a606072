// SPDX-License-Identifier: BSD-3-Clause
#include "clock/common_clock.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/clock.hpp"
#include "mpi/functions.hpp"

namespace convene::clock {
namespace {

/// FNV-1a.
std::uint64_t hash(std::uint64_t so_far, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) so_far = (so_far ^ bytes[i]) * 0x100000001b3ull;
  return so_far;
}

std::uint64_t find_clock_domain() {
  constexpr std::uint64_t start = 0xcbf29ce484222325ull;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  if (boot.empty()) {
    const std::uint64_t alone[2] = {monotonic_ns(), static_cast<std::uint64_t>(getpid())};
    return hash(start, alone, sizeof alone);
  }
  // A time namespace shifts the monotonic clock. (Kernels without time namespaces lack the file.)
  struct stat space {};
  const ino_t number = stat("/proc/self/ns/time", &space) == 0 ? space.st_ino : 0;
  return hash(hash(start, boot.data(), boot.size()), &number, sizeof number);
}

}  // namespace

std::uint64_t clock_domain() {
  static const std::uint64_t once = find_clock_domain();
  return once;
}

Nanoseconds own_time() { return static_cast<Nanoseconds>(monotonic_ns()); }

bool CommonClock::has_mpi() { return find_mpi() == MpiFit::fits; }

int CommonClock::find_groups(MPI_Comm comm, Await await, std::uint64_t mine) {
  pmpi.Comm_rank(comm, &rank_);
  pmpi.Comm_size(comm, &procs_);
  std::vector<std::uint64_t> domains(static_cast<std::size_t>(procs_));
  MPI_Request request = MPI_REQUEST_NULL;
  int code = pmpi.Iallgather(&mine, 8, MPI_BYTE, domains.data(), 8, MPI_BYTE, comm, &request);
  if (code == MPI_SUCCESS) code = await(&request);
  leaders_.clear();
  for (auto at = domains.begin(); at != domains.end() && code == MPI_SUCCESS; ++at) {
    const auto first = std::find(domains.begin(), domains.end(), *at);
    if (first == at) leaders_.push_back(static_cast<int>(at - domains.begin()));
    if (at - domains.begin() == rank_) leader_ = static_cast<int>(first - domains.begin());
  }
  return code;
}

int CommonClock::update(MPI_Comm comm, int tag, Await await, Now now) {
  if (is_one_clock()) return MPI_SUCCESS;
  ClockOffset mine;
  int code = MPI_SUCCESS;
  if (rank_ == 0)
    for (std::size_t i = 1; i < leaders_.size() && code == MPI_SUCCESS; ++i)
      code = answer(comm, tag, await, now, leaders_[i]);
  else if (rank_ == leader_)
    code = ask(comm, tag, await, now, mine);
  if (code != MPI_SUCCESS) return code;
  std::vector<ClockOffset> all(static_cast<std::size_t>(procs_));
  constexpr int bytes = sizeof mine;
  MPI_Request request = MPI_REQUEST_NULL;
  code = pmpi.Iallgather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm, &request);
  if (code == MPI_SUCCESS) code = await(&request);
  if (code == MPI_SUCCESS && leader_ != 0) line_.add(all[static_cast<std::size_t>(leader_)]);
  return code;
}

int CommonClock::ask(MPI_Comm comm, int tag, Await await, Now now, ClockOffset& found) const {
  RoundTrips trips;
  for (int trip = 0; trip < round_trips; ++trip) {
    Nanoseconds there = 0;
    MPI_Request send = MPI_REQUEST_NULL, recv = MPI_REQUEST_NULL;
    int code = pmpi.Irecv(&there, sizeof there, MPI_BYTE, 0, tag, comm, &recv);
    const Nanoseconds before = now();
    if (code == MPI_SUCCESS) code = pmpi.Isend(nullptr, 0, MPI_BYTE, 0, tag, comm, &send);
    if (code == MPI_SUCCESS) code = await(&recv);
    const Nanoseconds after = now();
    if (code == MPI_SUCCESS) code = await(&send);
    if (code != MPI_SUCCESS) return code;
    trips.add(before, there, after);
  }
  found = trips.best();
  return MPI_SUCCESS;
}

int CommonClock::answer(MPI_Comm comm, int tag, Await await, Now now, int leader) const {
  for (int trip = 0; trip < round_trips; ++trip) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = pmpi.Irecv(nullptr, 0, MPI_BYTE, leader, tag, comm, &request);
    if (code == MPI_SUCCESS) code = await(&request);
    const Nanoseconds here = now();
    if (code == MPI_SUCCESS) code = pmpi.Isend(&here, sizeof here, MPI_BYTE, leader, tag, comm, &request);
    if (code == MPI_SUCCESS) code = await(&request);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace convene::clock
