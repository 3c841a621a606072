// SPDX-License-Identifier: BSD-3-Clause
// Online algorithms: the next messages depend on which ranks have arrived. An online algorithm is one rank's
// part, a state machine that receives events and returns steps.
//
// Ranks send each other notices: a few numbers, no data, from any rank at any time. Data travels in ordinary
// steps with a known peer. The steps that all ranks executed are an ordinary plan (online_simulation.hpp), so
// every reader of plans reads online algorithms, too; only the executor runs the state machine itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// A notification of another rank. Notices between two ranks arrive in order; notices of different ranks, and
/// data, are not ordered.
struct Notice {
  std::uint32_t what = 0;    ///< the kind of notice; each algorithm defines its own
  Rank rank = 0, other = 0;  ///< the ranks that it is about
};

/// An event at a rank.
struct Event {
  enum class Kind : std::uint8_t {
    begun,     ///< the rank has arrived, its own contribution is available. Once, not necessarily the first
               ///< event
    noticed,   ///< `notice` was received from `peer`
    sent,      ///< the send of `slots` is complete: they may be overwritten
    received,  ///< `slots` were received from `peer`
    quiet,     ///< no further event is pending: once after one or more other events
  };
  Kind kind = Kind::begun;
  Rank peer = 0;
  Notice notice = {};
  Range slots = {};
};

/// A step that an online algorithm requests.
struct OnlineStep {
  StepKind kind = StepKind::send;
  bool is_notice = false;  ///< a send that carries `notice` alone
  Rank peer = 0;
  Notice notice = {};
  Range from = {}, to = {};  ///< a message uses one of them

  std::span<const Range> read() const { return {&from, from.count() > 0 ? 1u : 0u}; }
  std::span<const Range> written() const { return {&to, to.count() > 0 ? 1u : 0u}; }
};

/// The steps requested after an event, in order. Copies and combines are executed at once, messages are
/// started. No step may access places of a message in flight, unless both only read them.
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

/// The most messages with data that an online algorithm may send to one rank: their numbers are unique.
inline constexpr std::uint32_t most_decided_messages = match_window;

/// One rank's part. It is finished when it has begun, has no message in flight, and does not listen.
class OnlineAlgorithm {
 public:
  virtual ~OnlineAlgorithm() = default;

  virtual std::unique_ptr<OnlineAlgorithm> copy() const = 0;
  /// Handles an event and appends the steps to execute.
  virtual void on(const Event& event, OnlineSteps& steps) = 0;
  /// True while a notice may arrive. While false, none may be in flight.
  virtual bool is_listening() const = 0;
  /// By scratch buffer and place: the place of the collective's blocks whose size it has.
  virtual std::vector<std::vector<Place>> scratch() const { return {}; }

 protected:
  OnlineAlgorithm() = default;
  OnlineAlgorithm(const OnlineAlgorithm&) = default;
  OnlineAlgorithm& operator=(const OnlineAlgorithm&) = default;
};

/// One rank's program: a schedule, or an empty schedule (buffers without steps) and an online algorithm.
struct Runnable {
  Schedule schedule;
  std::unique_ptr<OnlineAlgorithm> online;
};

}  // namespace convene::schedule
