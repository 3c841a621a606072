// SPDX-License-Identifier: BSD-3-Clause
// Runs an algorithm that decides as it runs: tells the rank's online what happens and starts what it wants.
//
// Data has the numbers that messages between two ranks always have, counted by each side as it starts them; notices have
// the last numbers of the collective's tags, which data never reaches, and are received from anybody. There is one
// receive for notices at most, and only while the online algorithm listens, so nothing is left over and nothing is cancelled.
//
// A rank may be as far ahead as eager messages let it, and tags come again: those of collectives after a while, those of
// a persistent operation with its next run. Data does not mind, since messages between two ranks keep their order. Notices,
// which come from anybody, say for which collective or run they are, and one that comes too early is kept for it.
// One thread drives a run at a time. (Unlike schedules, these runs allocate memory as they go.)
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "execute/executor.hpp"
#include "execute/stall_detector.hpp"
#include "schedule/online/incremental_schedule.hpp"

namespace convene::execute {

class OnlineRun {
 public:
  /// The binding has an online algorithm, of which the run makes a copy. `has_begun`: the own contribution is there.
  OnlineRun(const Binding& binding, Arena& arena, bool has_begun);
  OnlineRun(const OnlineRun&) = delete;
  OnlineRun& operator=(const OnlineRun&) = delete;

  /// The own contribution is there now.
  void begin();
  /// To the end. Returns MPI_SUCCESS or the first error.
  int run();
  /// As far as it goes without waiting; see StepwiseRun.
  int advance(bool& done);
  /// To be called where that has not come to the end: says for whom it waits, where that takes long.
  void tell_if_it_stands();

  /// Messages with data that are complete, and how many of these before begin().
  std::uint64_t messages() const { return messages_; }
  std::uint64_t early_messages() const { return early_messages_; }

 private:
  /// A notice as it travels: what, the two ranks that it is about, who tells it, and for which collective or run.
  using Wire = std::array<std::uint32_t, 5>;

  /// A message in flight, or the receive for notices.
  struct Flight {
    enum class What : std::uint8_t { data, notice, listening } what;
    StepId step = 0;
    std::byte* staging = nullptr;
    Wire* wire = nullptr;
  };

  int listen();
  void hear(const Wire& wire);
  int handle_events();
  int carry_out(const OnlineStep& wanted);
  int start_data(const OnlineStep& wanted);
  int tell(const OnlineStep& wanted);
  int complete(decltype(pmpi.Waitsome) wait_or_test);
  int wait();
  void say_who_is_missing(bool is_started) const;
  void land(std::size_t at);
  void note(Event::Kind kind, StepId step);
  int fail(int code);

  const Binding& binding_;
  Arena& arena_;
  const Tags tags_;
  const int notice_tag_;
  const std::uint32_t number_;  // of the collective, or of the persistent operation's run
  const std::unique_ptr<OnlineAlgorithm> algorithm_;
  IncrementalSchedule schedule_;
  std::deque<Event> events_;  // that the online algorithm has not been told of
  std::vector<Flight> flights_;
  std::vector<MPI_Request> requests_;  // of the flights
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;            // their errors, if there are any
  std::vector<std::uint32_t> sent_, received_;  // by rank: messages with data so far
  std::deque<Wire> wires_;                      // of notices on their way: addresses stay
  std::vector<Wire*> free_wires_;
  Wire heard_ = {};
  std::uint64_t messages_ = 0, early_messages_ = 0;
  StallDetector stall_detector_;
  bool has_begun_, is_listening_ = false, is_quiet_ = true;
};

}  // namespace convene::execute
