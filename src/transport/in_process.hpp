// SPDX-License-Identifier: BSD-3-Clause
// In-process transport, for tests: the ranks are threads of one process, or are advanced by one thread. No
// MPI function is called. It is as adverse as the interface allows: messages arrive late and completions are
// reported in random order, both drawn from a seed; sends may wait for their receive; memory must be
// registered.
//
// Design notes on threads
// - One lock guards a network and all its state. Blocking calls poll while holding it and yield in between.
// - Time is counted in polls: every call that tests or progresses is one. A delayed message arrives after a
//   number of polls, in its order among those of the same sender and tag.
// - After an error of one rank the state of the others is undefined: blocking calls of all ranks fail.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "transport/transport.hpp"

namespace convene::transport {

class InProcess;

class InProcessNetwork {
 public:
  struct Options {
    std::uint64_t seed = 1;        ///< of delays and of the order of completions
    std::size_t eager_bytes = 0;   ///< a send of more bytes completes only when it has been received
    std::uint32_t most_delay = 0;  ///< in looks
    std::size_t pack_below = 32 * 1024;
    int failing_rank = -1;  ///< whose `failing_call`-th post or blocking call returns `failure`
    int failing_call = 0;
    std::uint64_t patience = 50'000'000;  ///< polls without progress after which a blocking call fails: a
                                          ///< deadlock
  };
  static constexpr int failure = 17, stalled = 18, not_registered = 19, truncated = 20;

  InProcessNetwork(int procs, const Options& options);
  ~InProcessNetwork();

  /// Transport of a rank, valid as long as the network.
  Transport& of(int rank);

  /// Messages that were not received and operations that were neither completed nor abandoned.
  std::size_t left_over() const;
  /// Registrations that were not released, except those of the process.
  std::size_t registered() const;
  /// Sends so far, and those of several pieces.
  std::uint64_t sends() const { return sends_; }
  std::uint64_t sends_in_pieces() const { return sends_in_pieces_; }

 private:
  friend class InProcess;

  struct Envelope {
    int source, tag;
    std::vector<std::byte> data;
    std::uint64_t arrives;
    std::shared_ptr<bool> is_received;
  };
  struct Operation {
    bool is_receive = false;
    int source = 0, tag = 0;  // of a receive
    std::vector<Piece> to;
    std::shared_ptr<bool> is_complete = std::make_shared<bool>(false);
    int code = 0;
  };

  void look() { ++looks_; }
  std::uint64_t arrival_of_next();

  const Options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<InProcess>> ranks_;
  std::uint64_t looks_ = 0, sends_ = 0, sends_in_pieces_ = 0;
  bool has_failed_ = false;
};

}  // namespace convene::transport
