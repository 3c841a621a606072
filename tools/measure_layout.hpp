// SPDX-License-Identifier: BSD-3-Clause
// Ranks by node, and groups of ranks that take part in an operation while the others are idle.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace convene::measure {

/// An invalid request: one sentence is printed, and the exit status is 2.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Seconds on a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Waits without leaving the processor: sleeping would overshoot by more than most messages take.
inline void pause(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

/// Waits on an idle rank: mostly asleep, so that measured ranks have the cores for themselves.
inline void rest(MPI_Request request) {
  for (int done = 0, looked = 0;; ++looked) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (looked > 100) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

class Layout {
 public:
  /// Nodes as MPI finds them, numbered by their first rank; or as `given`, one number for each rank.
  /// Collective.
  explicit Layout(const std::vector<int>& given) {
    MPI_Comm_size(MPI_COMM_WORLD, &procs_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (!given.empty() && given.size() != static_cast<std::size_t>(procs_))
      throw RequestError("--node-of needs one number for each of the " + std::to_string(procs_) +
                         " ranks, not " + std::to_string(given.size()));
    nodes_ = given.empty() ? find() : given;
  }

  int procs() const { return procs_; }
  int rank() const { return rank_; }
  const std::vector<int>& nodes() const { return nodes_; }

  bool share_a_node(const std::vector<int>& ranks) const {
    return std::ranges::all_of(ranks, [&](int rank) { return node_of(rank) == node_of(ranks.front()); });
  }

  /// The ranks of the node with most ranks, and of the node with most of the rest; ascending, possibly empty.
  std::vector<int> largest_node() const { return by_size(0); }
  std::vector<int> second_node() const { return by_size(1); }

  /// The communicator of these ranks, in this order; MPI_COMM_NULL for others. Collective for all.
  MPI_Comm group(const std::vector<int>& ranks) {
    if (const auto known = groups_.find(ranks); known != groups_.end()) return known->second;
    const auto place = std::find(ranks.begin(), ranks.end(), rank_);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, place == ranks.end() ? MPI_UNDEFINED : 0,
                   static_cast<int>(place - ranks.begin()), &comm);
    return groups_[ranks] = comm;
  }

  void free() {
    for (auto& [ranks, comm] : groups_)
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    groups_.clear();
  }

 private:
  int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }

  std::vector<int> find() const {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int first = rank_;
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    std::vector<int> firsts(static_cast<std::size_t>(procs_));
    MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::map<int, int> numbers;
    std::vector<int> nodes;
    for (const int one : firsts)
      nodes.push_back(numbers.try_emplace(one, static_cast<int>(numbers.size())).first->second);
    return nodes;
  }

  std::vector<int> by_size(std::size_t place) const {
    std::map<int, std::vector<int>> ranks;
    for (int rank = 0; rank < procs_; ++rank) ranks[node_of(rank)].push_back(rank);
    std::vector<std::vector<int>> sorted;
    for (const auto& [node, members] : ranks) sorted.push_back(members);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return place < sorted.size() ? sorted[place] : std::vector<int>();
  }

  int procs_ = 1, rank_ = 0;
  std::vector<int> nodes_;
  std::map<std::vector<int>, MPI_Comm> groups_;
};

/// Memory shared by ranks of one node. Creation and release are collective.
class SharedRegion {
 public:
  SharedRegion(MPI_Comm comm, std::size_t bytes) {
    int rank = 0, unit = 1;
    MPI_Aint size = 0;
    MPI_Comm_rank(comm, &rank);
    char* own = nullptr;
    constexpr std::uintptr_t page = 4096;  // Convene's own shared memory starts with a page, too
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int code = MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(bytes + page) : 0, 1,
                                             MPI_INFO_NULL, comm, &own, &window_);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    if (code != MPI_SUCCESS) return;
    MPI_Win_shared_query(window_, 0, &size, &unit, &begin_);
    begin_ += page - reinterpret_cast<std::uintptr_t>(begin_) % page;
  }
  ~SharedRegion() {
    if (begin_) MPI_Win_free(&window_);
  }
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  /// Null if none is available.
  char* begin() const { return begin_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  char* begin_ = nullptr;
};

/// Memory for sends and receives. In cache: the same bytes again and again. Out of cache: other bytes with
/// every call, until the first ones have been evicted.
class Buffers {
 public:
  Buffers(std::size_t largest, std::size_t walked)
      : from_(std::max(largest + 64, walked), 1), to_(from_.size(), 2), walks_(walked > 0) {}

  /// From here on, each call uses `span` bytes from its position.
  void expect(std::size_t span) {
    span_ = span;
    if (at_ + span_ > from_.size()) at_ = 0;
  }
  void next(std::size_t bytes) {
    if (!walks_) return;
    at_ += (bytes + 63) / 64 * 64;
    if (at_ + span_ > from_.size()) at_ = 0;
  }
  char* from() { return from_.data() + at_; }
  char* to() { return to_.data() + at_; }
  std::size_t size() const { return from_.size(); }

 private:
  std::vector<char> from_, to_;
  bool walks_;
  std::size_t at_ = 0, span_ = 0;
};

}  // namespace convene::measure
