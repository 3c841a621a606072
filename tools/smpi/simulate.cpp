// SPDX-License-Identifier: BSD-3-Clause
// convene-smpi: the MPI program that `convene simulate --engine smpi` runs in SimGrid. In it Convene's
// executor runs the schedules of an algorithm over SMPI's point-to-point, or SMPI runs its own collective.
//
//   smpirun … convene-smpi.so JOB.json RESULT.json
//
// A job has a collective, an algorithm (or "" for SMPI's native one), sizes, patterns of arrival. For each
// size and pattern, all ranks start at the same simulated moment, wait for their arrival, and call the
// collective; rank 0 writes the exit times. The result is checked if memory allows it; large runs use SMPI's
// shared allocation, and are not checked.
//
// Ranks are threads of one process that run alternately, so common data is kept once, in globals.
#include <fmt/format.h>
#include <simgrid/actor.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "execute/executor.hpp"
#include "schedule/core/order.hpp"

namespace convene::bench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_real = 256u << 20;  // bytes of all ranks together: above, memory is shared

struct Job {
  Collective collective{};
  std::string algorithm;
  Spec spec;
  Rank root = 0;
  std::vector<Rank> nodes;  // by rank
  std::vector<std::size_t> sizes;
  std::vector<std::vector<double>> arrivals;

  static Job read(const char* path) {
    std::ifstream file(path);
    const Json json = Json::parse(file);
    Job job;
    job.collective = find_collective(json.at("collective").get<std::string>()).value();
    job.algorithm = json.at("algorithm");
    if (!job.algorithm.empty()) job.spec = parse_spec(job.collective, job.algorithm);
    job.root = json.at("root");
    job.nodes = json.at("nodes").get<std::vector<Rank>>();
    job.sizes = json.at("sizes").get<std::vector<std::size_t>>();
    job.arrivals = json.at("arrivals").get<std::vector<std::vector<double>>>();
    return job;
  }
};

/// Data shared by all ranks.
std::unique_ptr<Job> job;
Contract wanted;
std::uint32_t segments_of_job = 1;

// SMPI's Waitsome costs simulated seconds: so waits one by one, for as many as it reports.
int wait_for_some(int count, MPI_Request* requests, int* completed, int* places, MPI_Status*) {
  *completed = 1;
  return PMPI_Waitany(count, requests, places, MPI_STATUS_IGNORE);
}

// SMPI's Testany misses sends that completed at once, if no other request is left.
int test_for_some(int count, MPI_Request* requests, int* completed, int* places, MPI_Status*) {
  const int code = PMPI_Testany(count, requests, places, completed, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || !*completed || *places != MPI_UNDEFINED) return code;
  return wait_for_some(count, requests, completed, places, MPI_STATUSES_IGNORE);
}

int add_bytes(void*, const std::byte* left, std::byte* right, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    right[i] =
        static_cast<std::byte>(std::to_integer<unsigned>(left[i]) + std::to_integer<unsigned>(right[i]));
  return MPI_SUCCESS;
}

/// The byte that represents a content, in all bytes of its place.
std::byte byte_of(Content content) { return static_cast<std::byte>(content * 37 + 11); }

/// Of a reduction, a wanted content represents the sum of ranks 0 … last.
std::byte wanted_byte(Content content, std::uint32_t segments) {
  if (wanted.reduction.segments == 0) return byte_of(content);
  unsigned sum = 0;
  for (Content each = content % segments; each <= content; each += segments)
    sum += std::to_integer<unsigned>(byte_of(each));
  return static_cast<std::byte>(sum);
}

class Block {
 public:
  void take(std::size_t bytes, bool shared) {
    shared_ = shared && bytes > 0;
    if (shared_)
      memory_ = static_cast<std::byte*>(smpi_shared_malloc(bytes, __FILE__, __LINE__));
    else
      own_.assign(bytes, std::byte{0xee});
  }
  ~Block() {
    if (shared_) smpi_shared_free(memory_);
  }
  std::byte* data() { return shared_ ? memory_ : own_.data(); }

 private:
  bool shared_ = false;
  std::byte* memory_ = nullptr;
  std::vector<std::byte> own_;
};

/// Memory for contents that are never read: the same for all ranks and messages.
std::byte* staging_of_all(std::size_t bytes) {
  static std::byte* memory = nullptr;
  static std::size_t room = 0;
  if (bytes > room) {
    room = std::max(bytes, 2 * room);  // the old memory is kept: it may be in use
    memory = static_cast<std::byte*>(smpi_shared_malloc(room, __FILE__, __LINE__));
  }
  return memory;
}

/// One rank's call with blocks of one size.
class Participant {
 public:
  Participant(const Call& call, std::size_t bytes)
      : call_(call),
        segments_(segments_of_job),
        bytes_(bytes),
        shared_(bytes_of_all(call, bytes) > most_real),
        arena_(shared_ ? staging_of_all : nullptr) {
    const Places blocks = places(call, 1);
    input_.take(blocks.input * bytes_, shared_);
    output_.take(blocks.output * bytes_, shared_);
    binding_.buffers.input = Memory::uniform(input_.data(), bytes_, segments_);
    binding_.buffers.output = Memory::uniform(output_.data(), bytes_, segments_);
    binding_.buffers.blocks = Memory::uniform(nullptr, bytes_, segments_);
    if (job->algorithm.empty()) return;
    Builder builder;
    runnable_ = build_runnable(*job->spec.algorithm, call, builder);
    binding_.schedule = &schedule_;
    binding_.online = runnable_.online.get();
    binding_.op = {add_bytes, nullptr};
    binding_.point_to_point = PointToPoint(MPI_COMM_WORLD);
    is_dynamic_ = runnable_.online || has_independent_arrivals(schedule_);
  }

  void fill() {
    if (shared_) return;
    const RankContract& mine = wanted[call_.rank];
    fill(binding_.buffers.input, mine.input);
    fill(binding_.buffers.output, mine.output);
  }

  void run() {
    if (job->algorithm.empty()) return run_own();
    arena_.reset();
    take_scratch();
    if (is_dynamic_) return check(run_dynamic(binding_, Limits{}, arena_));
    if (!program_.fits(binding_.buffers))
      program_.bind(schedule_, compile_order(schedule_), binding_.buffers, call_.procs * segments_, arena_);
    check(run_program(binding_, program_, arena_));
  }

  /// Reports a fault and ends the run: the simulation of an incorrect algorithm is useless.
  void check_result() const {
    if (!is_checked()) return;
    const std::vector<Content>& contents = wanted[call_.rank].wanted;
    for (Place place = 0; place < contents.size(); ++place) {
      if (contents[place] == nothing) continue;
      const Piece piece = binding_.buffers.output.place(place);
      const std::byte byte = wanted_byte(contents[place], segments_);
      if (!std::all_of(piece.at, piece.at + piece.bytes, [&](std::byte b) { return b == byte; })) {
        std::fprintf(stderr, "rank %u, place %u: wrong data\n", call_.rank, place);
        PMPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }

  bool is_checked() const { return !shared_ && !is_own_barrier(); }

 private:
  /// SMPI's native barrier has no data to check.
  bool is_own_barrier() const { return job->algorithm.empty() && call_.collective == Collective::barrier; }

  static void fill(const Memory& memory, const std::vector<Content>& contents) {
    for (Place place = 0; place < contents.size(); ++place) {
      const Piece piece = memory.place(place);
      std::fill_n(piece.at, piece.bytes,
                  contents[place] == nothing ? std::byte{0xee} : byte_of(contents[place]));
    }
  }

  /// Input and output of all ranks together.
  static std::size_t bytes_of_all(Call call, std::size_t bytes) {
    std::size_t sum = 0;
    for (call.rank = 0; call.rank < call.procs; ++call.rank) {
      const Places blocks = places(call, 1);
      sum += (blocks.input + blocks.output) * bytes;
    }
    return sum;
  }

  void take_scratch() {
    if (!shared_) return bind_scratch(schedule_, binding_.buffers, arena_);
    const unsigned first = index(Buffer::scratch);
    if (schedule_.buffers() <= first) return;
    const unsigned count = schedule_.buffers() - first;
    if (scratch_.empty()) {
      scratch_ = std::vector<Block>(count);
      // As large as whole blocks, so that every place can hold its segment.
      const std::size_t most = (bytes_ + segments_ - 1) / segments_;
      for (unsigned k = 0; k < count; ++k) {
        scratch_[k].take(most * schedule_.sized_like(scratch(k)).size(), true);
        memories_.push_back(Memory::uniform(scratch_[k].data(), most));
      }
    }
    binding_.buffers.scratch = memories_.data();
  }

  void check(int code) const {
    if (code != MPI_SUCCESS) PMPI_Abort(MPI_COMM_WORLD, code);
  }

  void run_own() {
    void* const in = input_.data();
    void* const out = output_.data();
    const int bytes = static_cast<int>(bytes_), root = static_cast<int>(call_.root);
    switch (call_.collective) {
      case Collective::allgather:
        return check(PMPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD));
      case Collective::gather:
        return check(PMPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, MPI_COMM_WORLD));
      case Collective::scatter:
        return check(PMPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, MPI_COMM_WORLD));
      case Collective::alltoall:
        return check(PMPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD));
      case Collective::bcast:
        return check(PMPI_Bcast(out, bytes, MPI_BYTE, root, MPI_COMM_WORLD));
      case Collective::reduce:
        return check(PMPI_Reduce(in, out, bytes, MPI_UNSIGNED_CHAR, MPI_SUM, root, MPI_COMM_WORLD));
      case Collective::allreduce:
        return check(PMPI_Allreduce(in, out, bytes, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD));
      case Collective::barrier:
        return check(PMPI_Barrier(MPI_COMM_WORLD));
      default:
        std::fprintf(stderr, "SMPI has no such collective\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
  }

  const Call call_;
  const std::uint32_t segments_;
  const std::size_t bytes_;
  const bool shared_;
  bool is_dynamic_ = false;
  Block input_, output_;
  std::vector<Block> scratch_;
  std::vector<Memory> memories_;
  Runnable runnable_;
  const Schedule& schedule_ = runnable_.schedule;
  Program program_;
  Binding binding_;
  Arena arena_;
};

/// A simulated moment after all activity of the ranks so far, the same for all.
double next_start() {
  double now = PMPI_Wtime(), latest = 0;
  PMPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return latest + 1;
}

/// Runs the call once for each pattern of arrival; exits in seconds after the start, at rank 0.
Json simulate(const Call& call, std::size_t bytes) {
  Participant participant(call, bytes);
  Json exits = Json::array();
  for (const auto& arrivals : job->arrivals) {
    participant.fill();
    const double start = next_start();
    sg_actor_sleep_until(start + arrivals[call.rank]);
    participant.run();
    const double taken = PMPI_Wtime() - start;
    participant.check_result();
    std::vector<double> all(call.procs);
    PMPI_Gather(&taken, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    exits.push_back(all);
  }
  return {{"bytes", bytes}, {"exits", exits}, {"checked", participant.is_checked()}};
}

int run(const char* job_file, const char* result_file) {
  int rank = 0, procs = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (!job) {
    job = std::make_unique<Job>(Job::read(job_file));
    find_mpi();
    pmpi.Waitsome = wait_for_some;
    pmpi.Testsome = test_for_some;
  }
  Call call{.collective = job->collective,
            .procs = static_cast<Rank>(procs),
            .rank = static_cast<Rank>(rank),
            .root = job->root,
            .parameters = job->spec.parameters,
            .parts = job->spec.parts};
  if (!job->algorithm.empty() && uses_nodes(*job->spec.algorithm)) call.nodes = job->nodes;
  if (wanted.empty()) {
    if (!job->algorithm.empty()) segments_of_job = segments(*job->spec.algorithm, call);
    wanted = contract(call, segments_of_job);
  }
  Json sizes = Json::array();
  for (const std::size_t bytes : job->sizes) sizes.push_back(simulate(call, bytes));
  if (rank == 0) std::ofstream(result_file) << Json{{"sizes", sizes}};
  return 0;
}

}  // namespace
}  // namespace convene::bench

extern "C" [[gnu::visibility("default")]] int main(int count, char** words) {
  MPI_Init(&count, &words);
  int status = 2;
  try {
    if (count == 3) status = convene::bench::run(words[1], words[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}
