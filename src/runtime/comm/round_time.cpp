// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/round_time.hpp"

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {
namespace {

/// Sends to the rank above and receives from the one below. Returns MPI_SUCCESS or the MPI's error.
int shift(const CommInfo& info, MPI_Comm own, int tag, const std::vector<std::byte>& out,
          std::vector<std::byte>& in) {
  const int procs = static_cast<int>(info.procs), rank = static_cast<int>(info.rank);
  const int bytes = static_cast<int>(out.size());
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = pmpi.Irecv(in.data(), bytes, MPI_BYTE, (rank + procs - 1) % procs, tag, own, &requests[0]);
  if (code == MPI_SUCCESS)
    code = pmpi.Isend(out.data(), bytes, MPI_BYTE, (rank + 1) % procs, tag, own, &requests[1]);
  for (MPI_Request& request : requests)
    if (code == MPI_SUCCESS) code = progress::await(&request);
  return code;
}

}  // namespace

std::uint64_t round_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes) {
  const bool is_of_segments = has_one_vector(call.collective) && algorithm.cut != Cut::tiny_first;
  return is_of_segments ? block_bytes / segments(algorithm, call) : block_bytes;
}

std::int64_t measure_round(const CommInfo& info, TagSpace& tags, std::uint64_t bytes) {
  constexpr int repetitions = 5;
  constexpr std::uint64_t most = 64u << 20;  // of a message; above, time is extrapolated in proportion
  const std::uint64_t sent = std::min(bytes, most);
  const NativeCallWatch inside(static_cast<int>(info.procs));
  const MPI_Comm own = tags.comm();
  const int tag = Tags(tags.await_next_collective()).of(0);
  std::vector<std::byte> out(sent), in(sent);
  std::int64_t least = INT64_MAX;
  for (int i = 0; i <= repetitions; ++i) {
    const std::uint64_t start = monotonic_ns();
    if (shift(info, own, tag, out, in) != MPI_SUCCESS) break;
    if (i > 0)
      least = std::min(least, static_cast<std::int64_t>(monotonic_ns() - start));  // the first warms up
  }
  if (bytes > most)
    least = static_cast<std::int64_t>(static_cast<double>(least) * static_cast<double>(bytes) / most);
  return std::max<std::int64_t>(maximum(least, info.comm), 1);
}

}  // namespace convene::runtime
