// SPDX-License-Identifier: BSD-3-Clause
// Runs of online algorithms: report events to the rank's algorithm and start the steps that it requests.
//
// Data messages are numbered as in schedules, counted by each side as it posts them. Notices have the last
// number of the collective's tags, which data never uses, and are received from any rank. At most one receive
// for notices is posted, and only while the algorithm listens: nothing is left over and nothing is cancelled.
//
// With eager messages a rank may be several collectives ahead, and tags are reused: those of collectives
// after a while, those of a persistent operation with its next run. For data that is harmless, since messages
// between two ranks keep their order. Notices, received from any rank, carry the number of their collective
// or run; an early one is stored until its run. One thread drives a run at a time. (Unlike runs of schedules,
// these allocate memory.)
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "execute/step_run.hpp"
#include "schedule/online/incremental_schedule.hpp"

namespace convene::execute {

template <MessageTransport T>
class OnlineRun {
 public:
  /// The binding has an online algorithm, which the run copies. `has_begun`: this rank's contribution is
  /// available.
  OnlineRun(const Binding& binding, Arena& arena, bool has_begun);
  OnlineRun(const OnlineRun&) = delete;
  OnlineRun& operator=(const OnlineRun&) = delete;

  /// Marks this rank's contribution as available.
  void begin();
  /// Runs to the end. Returns MPI_SUCCESS or the first error.
  int run();
  /// Advances as far as possible without waiting; see StepwiseRun.
  int advance(bool& done);
  /// Call it after an advance() that did not finish: warns if that takes long.
  void warn_if_stalled();

  /// Number of complete messages with data, and of those that completed before begin().
  std::uint64_t messages() const { return messages_; }
  std::uint64_t early_messages() const { return early_messages_; }

 private:
  /// Contents of a notice message: kind, the two ranks that it is about, its sender, and its collective or
  /// run.
  using Wire = std::array<std::uint32_t, 5>;

  /// A message in flight, or the receive for notices.
  struct Flight {
    enum class What : std::uint8_t { data, notice, listening } what;
    StepId step = 0;
    std::byte* staging = nullptr;
    Wire* wire = nullptr;
  };

  int listen();
  void queue_notice(const Wire& wire);
  int handle_events();
  int start(const OnlineStep& wanted);
  int post_data(const OnlineStep& wanted);
  int post_notice(const OnlineStep& wanted);
  int complete(bool waits);
  int wait();
  void warn(bool is_started) const;
  void finish(std::size_t at);
  void queue_event(Event::Kind kind, StepId step);
  int fail(int code);

  const Binding& binding_;
  T& transport_;
  Arena& arena_;
  const Tags tags_;
  const int notice_tag_;
  const std::uint32_t number_;  // of the collective, or of the persistent operation's run
  [[no_unique_address]] RunMemory<T> memory_;
  const std::unique_ptr<OnlineAlgorithm> algorithm_;
  IncrementalSchedule schedule_;
  std::deque<Event> events_;  // not yet received by the algorithm
  std::vector<Flight> flights_;
  std::vector<typename T::Handle> handles_;  // of the flights
  std::vector<int> completed_;
  std::vector<typename T::Status> statuses_;    // their errors
  std::vector<std::uint32_t> sent_, received_;  // by rank: messages with data so far
  std::deque<Wire> wires_;                      // of notices in flight: a deque, whose addresses are stable
  std::vector<Wire*> free_wires_;
  Wire received_notice_ = {};
  std::uint64_t messages_ = 0, early_messages_ = 0;
  StallDetector stall_detector_;
  bool has_begun_, is_listening_ = false, is_quiet_ = true;
};

extern template class OnlineRun<const PointToPoint>;
extern template class OnlineRun<Transport>;

}  // namespace convene::execute
