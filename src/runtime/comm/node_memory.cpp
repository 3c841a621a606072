// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "runtime/comm/core_census.hpp"

namespace convene::runtime {
namespace {

/// The ranks of a communicator that share memory and, as far as is known, a node.
class NodeCommunicator {
 public:
  NodeCommunicator(MPI_Comm comm, Rank rank, Rank node) {
    MPI_Comm sharing = MPI_COMM_NULL;
    const int key = static_cast<int>(rank);
    if (pmpi.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &sharing) != MPI_SUCCESS) return;
    if (pmpi.Comm_split(sharing, static_cast<int>(node), key, &comm_) != MPI_SUCCESS) comm_ = MPI_COMM_NULL;
    pmpi.Comm_free(&sharing);
  }
  ~NodeCommunicator() {
    if (comm_ != MPI_COMM_NULL) pmpi.Comm_free(&comm_);
  }
  NodeCommunicator(const NodeCommunicator&) = delete;
  NodeCommunicator& operator=(const NodeCommunicator&) = delete;

  MPI_Comm get() const { return comm_; }
  std::size_t size() const {
    int size = 0;
    if (comm_ != MPI_COMM_NULL) pmpi.Comm_size(comm_, &size);
    return static_cast<std::size_t>(size);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

constexpr std::size_t name_bytes = 64;

/// A file descriptor of new memory of this size, all zero; −1 if it cannot be created.
int make(const char* name, std::size_t bytes) {
  const int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0) return -1;
  // Allocated now: with overcommitted memory the program would be killed at the first access.
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == 0) return file;
  close(file);
  shm_unlink(name);
  return -1;
}

std::shared_ptr<std::byte> map(int file, std::size_t bytes) noexcept try {
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* at) { munmap(at, bytes); }};
} catch (const std::bad_alloc&) {
  return nullptr;  // unmapped: a shared_ptr that cannot be made calls its deleter
}

/// One rank creates the memory, the others open it by its name, which is unlinked afterwards.
NodeMemory map_together(MPI_Comm node, CoreCensus& census, NodeBytes bytes) {
  int rank = 0;
  pmpi.Comm_rank(node, &rank);
  struct {
    char name[name_bytes];
    bool must_sleep;
  } made = {};
  made.must_sleep = census.take();
  std::shared_ptr<std::byte> memory;
  const auto needed = [&] { return made.must_sleep ? bytes.sleeping : bytes.polling; };
  if (rank == 0) {
    std::snprintf(made.name, sizeof made.name, "/convene-%ld-%llx", static_cast<long>(getpid()),
                  static_cast<unsigned long long>(monotonic_ns()));
    memory = map(make(made.name, needed()), needed());
    if (!memory) made.name[0] = 0;
  }
  pmpi.Bcast(&made, sizeof made, MPI_BYTE, 0, node);
  CoreCensus::note(made.must_sleep);
  if (rank != 0 && made.name[0]) memory = map(shm_open(made.name, O_RDWR, 0), needed());
  pmpi.Barrier(node);
  if (rank == 0 && made.name[0]) shm_unlink(made.name);
  return {std::move(memory), made.must_sleep};
}

}  // namespace

NodeMemory map_on_node(MPI_Comm comm, Rank rank, const std::vector<Rank>& node_of_rank,
                       NodeBytes bytes) noexcept {
  const auto size = static_cast<std::size_t>(std::ranges::count(node_of_rank, node_of_rank[rank]));
  const NodeCommunicator node(comm, rank, node_of_rank[rank]);
  CoreCensus census(node.get());
  int made = census.is_ready(), made_by_all = 0;
  pmpi.Allreduce(&made, &made_by_all, 1, MPI_INT, MPI_MIN, comm);
  if (!made_by_all) return {};
  NodeMemory memory = map_together(node.get(), census, bytes);
  // Declared nodes may be larger than the set of ranks that share memory.
  return node.size() == size ? std::move(memory) : NodeMemory{};
}

std::vector<Rank> ranks_beside(Rank rank, const std::vector<Rank>& node_of_rank) {
  std::vector<Rank> ranks;
  for (Rank other = 0; other < node_of_rank.size(); ++other)
    if (node_of_rank[other] == node_of_rank[rank]) ranks.push_back(other);
  return ranks;
}

}  // namespace convene::runtime
