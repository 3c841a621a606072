// SPDX-License-Identifier: BSD-3-Clause
// Simulation of online algorithms on all ranks. Events are taken one by one, in any possible order. The
// executed steps are an ordinary plan, in which a step depends on the events that its rank had seen and the
// steps that it had executed when it requested the step. So checking that plan checks this one sequence of
// events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/online/online_algorithm.hpp"

namespace convene::schedule {

class OnlineSimulation {
 public:
  /// A message with data takes one round of this many ticks after both ends are posted, a notice one tick.
  static constexpr std::uint64_t ticks_a_round = 64;

  struct Options {
    std::vector<std::uint32_t> arrivals;  ///< by rank, in rounds; empty: all at 0
    bool in_background = false;           ///< ranks progress before they arrive
    bool eager = false;                   ///< a send may complete before its receive is posted
  };

  /// A possible next event of a rank.
  struct Choice {
    static constexpr std::uint64_t quiet = UINT64_MAX;
    Rank rank;
    std::uint64_t time;    ///< in ticks
    std::uint64_t number;  ///< of a pending event, or `quiet`
  };

  OnlineSimulation(std::vector<Runnable> ranks, Options options);
  OnlineSimulation(const OnlineSimulation& other);
  OnlineSimulation& operator=(const OnlineSimulation&) = delete;

  /// All possible next events, in no particular order.
  std::vector<Choice> choices() const;
  /// The event of a choice. The sequence of its events determines a rank's behaviour.
  Event event(const Choice& choice) const;
  /// The earliest of them by time, if there is one. Only valid if all choices so far were the earliest.
  std::optional<Choice> earliest() const;
  void take(const Choice& choice);

  /// Empty if every rank is finished and no event is pending; else the reason.
  std::string unfinished() const;
  /// The steps executed so far. Rounds are numbered in the order in which messages started.
  Plan plan() const;

 private:
  using MessageId = std::uint32_t;
  static constexpr MessageId no_message = 0xffffffffu;
  static constexpr std::uint32_t no_step = 0xffffffffu;

  struct PendingEvent {
    Rank rank;
    Event event;
    std::uint32_t step;     ///< the rank's step that completes; none for a notice
    MessageId message;      ///< of a notice
    std::uint64_t sent_at;  ///< of a notice
  };
  /// Time and number: of two events at the same time the lower number is first.
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct ExecutedStep {
    OnlineStep wanted;
    MessageId message = no_message;
    std::uint64_t time = 0;
    std::vector<std::uint32_t> after;
    bool is_join = false;
  };
  struct RankState {
    std::vector<ExecutedStep> steps;
    std::uint32_t latest = no_step;  ///< the step that all further ones depend on
    bool has_begun = false;
    std::uint64_t last_time = 0;                        ///< of the last event
    std::uint64_t sends_until = 0, receives_until = 0;  ///< its ports are busy until then
  };
  /// One end of a message.
  struct Posted {
    std::uint32_t step;
    std::uint64_t time;
  };
  struct Pair {
    std::vector<Posted> sends, receives;  ///< in order
    std::size_t matched = 0;              ///< how many of both
    std::uint64_t last_notice = 0;
  };

  bool can_happen(const PendingEvent& pending) const;
  bool is_oldest_notice(const Key& key, const PendingEvent& pending) const;
  void schedule_event(Rank rank, const Event& event, std::uint64_t time, std::uint32_t step = no_step,
                      MessageId message = no_message, std::uint64_t sent_at = 0);
  void order_after(RankState& state, std::uint32_t step, std::uint64_t time);
  void handle(Rank rank, const Event& event, std::uint64_t now);
  std::uint32_t add(RankState& state, const OnlineStep& wanted, std::uint64_t now);
  void send_notice(Rank rank, const OnlineStep& wanted, std::uint64_t now);
  void post(Rank rank, const OnlineStep& wanted, std::uint64_t now);
  void match(Rank from, Rank to);

  Options options_;
  std::vector<Schedule> schedules_;
  std::vector<std::unique_ptr<OnlineAlgorithm>> algorithms_;
  std::vector<RankState> ranks_;
  std::map<Key, PendingEvent> pending_;
  std::set<std::pair<std::uint64_t, Rank>>
      unsettled_;  // ranks without a quiet event since their last event, by its time
  std::map<std::pair<Rank, Rank>, Pair> pairs_;
  MessageId messages_ = 0;
  std::uint64_t next_number_ = 0;
};

/// Takes the earliest event until none is left.
Plan simulate_to_end(OnlineSimulation simulation);

}  // namespace convene::schedule
