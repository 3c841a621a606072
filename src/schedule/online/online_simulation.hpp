// SPDX-License-Identifier: BSD-3-Clause
// What deciders of all ranks do together. Events are taken one by one, in any order that could happen; what was done
// until the end is an ordinary plan, in which a step comes behind whatever its rank knew and had done when it decided.
// So the checker's three questions about that plan are questions about this one course of events.
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
  /// A message with data takes a round of this many ticks from when both ends are ready, a notice one tick.
  static constexpr std::uint64_t ticks_a_round = 64;

  struct Options {
    std::vector<std::uint32_t> arrivals;  ///< by rank, in rounds; none: all at once
    bool in_background = false;           ///< ranks take part before they have arrived
    bool eager = false;                   ///< a send may be over before the receive is there
  };

  /// What could happen next to a rank.
  struct Choice {
    static constexpr std::uint64_t quiet = UINT64_MAX;
    Rank rank;
    std::uint64_t time;    ///< in ticks, by the costs above
    std::uint64_t number;  ///< of what is pending, or that nothing else happens for a while
  };

  OnlineSimulation(std::vector<Runnable> ranks, Options options);
  OnlineSimulation(const OnlineSimulation& other);
  OnlineSimulation& operator=(const OnlineSimulation&) = delete;

  /// Everything that could happen next, in no particular order.
  std::vector<Choice> choices() const;
  /// What a choice is. What a rank does is fixed by the events that it has seen, in their order.
  Event event(const Choice& choice) const;
  /// The one that happens first by the costs; nothing where nothing can. (Not after choices were taken out of their order.)
  std::optional<Choice> earliest() const;
  void take(const Choice& choice);

  /// Empty where every rank is over and nothing is on its way; else what is missing.
  std::string unfinished() const;
  /// What was done so far. Rounds are numbered in the order in which messages began.
  Plan plan() const;

 private:
  using MessageId = std::uint32_t;
  static constexpr MessageId no_message = 0xffffffffu;
  static constexpr std::uint32_t no_step = 0xffffffffu;

  struct Pending {
    Rank rank;
    Event event;
    std::uint32_t step;  ///< of the rank: whose end this is; of a notice, none yet
    MessageId message;   ///< of a notice
    std::uint64_t told;  ///< likewise: when
  };
  /// When, and a number: of two at the same time the lower comes first.
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Done {
    OnlineStep wanted;
    MessageId message = no_message;
    std::uint64_t time = 0;
    std::vector<std::uint32_t> after;
    bool is_join = false;
  };
  struct Member {
    std::vector<Done> done;
    std::uint32_t moment = no_step;  ///< the last step that all further ones come behind
    bool has_begun = false;
    std::uint64_t last_time = 0;                        ///< when something happened last
    std::uint64_t sends_until = 0, receives_until = 0;  ///< when its port is free again
  };
  /// One end of a message that waits for the other.
  struct Open {
    std::uint32_t step;
    std::uint64_t time;
  };
  struct Pair {
    std::vector<Open> sends, receives;  ///< in order; those that have met are counted
    std::size_t met = 0;
    std::uint64_t last_notice = 0;
  };

  bool can_happen(const Pending& pending) const;
  bool is_first_notice(const Key& key, const Pending& pending) const;
  void pend(Rank rank, const Event& event, std::uint64_t time, std::uint32_t step = no_step,
            MessageId message = no_message, std::uint64_t told = 0);
  void reach(Member& member, std::uint32_t step, std::uint64_t time);
  void decide(Rank rank, const Event& event, std::uint64_t now);
  std::uint32_t add(Member& member, const OnlineStep& wanted, std::uint64_t now);
  void notify(Rank rank, const OnlineStep& wanted, std::uint64_t now);
  void offer(Rank rank, const OnlineStep& wanted, std::uint64_t now);
  void meet(Rank from, Rank to);

  Options options_;
  std::vector<Schedule> frames_;
  std::vector<std::unique_ptr<OnlineAlgorithm>> deciders_;
  std::vector<Member> members_;
  std::map<Key, Pending> pending_;
  std::set<std::pair<std::uint64_t, Rank>>
      stirred_;  // ranks that it was not quiet after, by their last event
  std::map<std::pair<Rank, Rank>, Pair> pairs_;
  MessageId messages_ = 0;
  std::uint64_t next_number_ = 0;
};

/// Takes whatever happens first until nothing more happens.
Plan simulate_to_end(OnlineSimulation interplay);

}  // namespace convene::schedule
