// SPDX-License-Identifier: BSD-3-Clause
// Algorithms that decide as they run: which message comes next depends on who is there. An online algorithm is one rank's part of
// such an algorithm, a state machine that is told what happens and says what is to be done.
//
// Ranks tell each other notices: a few numbers, no data, from anybody at any time. Data travels in ordinary steps, whose
// peer is known when they are decided upon. What the ranks did in the end is an ordinary plan (interplay.hpp), so
// everything that reads plans reads these algorithms too; only the executor asks the online algorithm itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// What one rank lets another know. Notices from one rank to another keep their order; those of different ranks, and
/// data, have none.
struct Notice {
  std::uint32_t what = 0;    ///< which of the algorithm's notices
  Rank rank = 0, other = 0;  ///< whom it is about
};

/// What happened to a rank.
struct Event {
  enum class Kind : std::uint8_t {
    begun,  ///< the rank has entered the call: its own contribution is there. Once, not necessarily the first event
    noticed,   ///< `notice` came from `peer`
    sent,      ///< `slots` may be written again
    received,  ///< `slots` have come from `peer`
    quiet,     ///< nothing else has happened so far: told once, behind one or more other events
  };
  Kind kind = Kind::begun;
  Rank peer = 0;
  Notice notice = {};
  Range slots = {};
};

/// One thing that an online algorithm wants done.
struct OnlineStep {
  StepKind kind = StepKind::send;
  bool is_notice = false;  ///< a send that carries `notice` alone
  Rank peer = 0;
  Notice notice = {};
  Range from = {}, to = {};  ///< a message has one of them

  std::span<const Range> read() const { return {&from, from.count() > 0 ? 1u : 0u}; }
  std::span<const Range> written() const { return {&to, to.count() > 0 ? 1u : 0u}; }
};

/// What is to be done after an event, in this order: copies and combines at once, messages are started. No step may
/// touch what a message in flight touches, unless both only read.
class OnlineSteps {
 public:
  void tell(Rank peer, const Notice& notice) {
    list_.push_back({.is_notice = true, .peer = peer, .notice = notice});
  }
  void send(Rank peer, const Range& what) { list_.push_back({.peer = peer, .from = what}); }
  void recv(Rank peer, const Range& where) {
    list_.push_back({.kind = StepKind::recv, .peer = peer, .to = where});
  }
  void copy(const Range& from, const Range& to) {
    list_.push_back({.kind = StepKind::copy, .from = from, .to = to});
  }
  /// right = left ∘ right.
  void combine(const Range& left, const Range& right) {
    list_.push_back({.kind = StepKind::combine, .from = left, .to = right});
  }

  const std::vector<OnlineStep>& list() const { return list_; }
  void clear() { list_.clear(); }

 private:
  std::vector<OnlineStep> list_;
};

/// The most messages with data that an online algorithm may send to one rank: they are numbered.
inline constexpr std::uint32_t most_decided_messages = match_window;

/// One rank's part. It is over when it has begun, no message is in flight, and it does not listen.
class OnlineAlgorithm {
 public:
  virtual ~OnlineAlgorithm() = default;

  virtual std::unique_ptr<OnlineAlgorithm> copy() const = 0;
  /// An event, and what is to be done now.
  virtual void on(const Event& event, OnlineSteps& steps) = 0;
  /// Whether a notice is still to come: while it is false, none may be on its way.
  virtual bool is_listening() const = 0;
  /// For each scratch buffer, by place, the place of the collective's blocks whose size it has.
  virtual std::vector<std::vector<Place>> scratch() const { return {}; }

 protected:
  OnlineAlgorithm() = default;
  OnlineAlgorithm(const OnlineAlgorithm&) = default;
  OnlineAlgorithm& operator=(const OnlineAlgorithm&) = default;
};

/// What one rank runs: a schedule, or the frame of one (its buffers, without steps) and an online algorithm.
struct Runnable {
  Schedule schedule;
  std::unique_ptr<OnlineAlgorithm> online;
};

}  // namespace convene::schedule
