// SPDX-License-Identifier: BSD-3-Clause
// Local Redirect: a binomial tree that rearranges itself around those who are late, by its own messages,
// without a forecast. A rank tells its boss (at first its parent) when it has the sum of its subtree, and the
// boss says where that is to go. So a boss can have two that are ready sum up between themselves while it is
// busy; and one that is itself held up by a late rank gives away what it has, and the late rank gets the
// boss's boss as its own.
//
// Source:   named in Marendic et al. 2016, sections 2.3 and 6.2, with its purpose: atomic data, no forecast,
//           no process waits for a partner while another is ready. The protocol is this project's.
// Requires: a commutative operator.
// Cost:     balanced ⌈log₂P⌉ rounds of one vector, each behind two notices (ready, go): for short vectors
//           three times a binomial tree's latency. One round after a late leaf; ⌈log₂(k + 1)⌉ + 1 after a
//           late rank with k children. Two vectors of extra memory. A rank that gave its sum away stays until
//           all late ranks below it have come, as it would in a binomial tree.
// Arrivals: from its own messages.
//
// What a rank does, in this order, whenever something has happened:
//   - it takes the sum of one child that is ready, if it takes none yet (go: to me);
//   - of the other children that are ready it pairs two and two (go: to that one; expect: from that one);
//   - if all children have been taken and its own contribution is in, it is ready and tells its boss;
//   - if children are missing and nothing else happens, it lets them know once that it is idle (hurry); and
//     if it has heard that from its boss, it hands over: it tells its boss to wait for each missing child in
//     its place (adopt), tells the child (redirect), and is ready itself.
// A rank that was redirected answers its old boss once (with a "ready" that crossed, or "acknowledged"), so
// that everybody knows when the last notice has come. Who is redirected is told how many of the children that
// he has handed over the old boss had heard of; the next boss is told of the others.
//
// P = 4, root 0, rank 3 late: a = (0, 0, 0, 5). The tree is 0 ← 1, 0 ← 2 ← 3.
//
//   round 0   1 to 0. Rank 2 misses 3 and hurries it; rank 0 is idle after the round and hurries 2.
//   round 1   2 to 0; rank 3 is redirected to 0, before it has come.
//   round 5   3 to 0: one round after the last arrival, where a binomial tree needs two (3 to 2, 2 to 0).
//
// For P = 5, rank 4 is a third child of rank 0. It goes first or after rank 1, or sums up with it.
#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/reduction.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

enum What : std::uint32_t { ready, acknowledged, go, expect, hurry, redirect, adopt };

using Ranks = std::vector<Rank>;

bool contains(const Ranks& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Whether it was there.
bool remove(Ranks& ranks, Rank rank) { return std::erase(ranks, rank) > 0; }

class LocalRedirect final : public OnlineAlgorithm {
 public:
  explicit LocalRedirect(const Call& call)
      : is_root_(call.is_root()),
        own_(is_root_ && call.in_place ? Buffer::output : Buffer::input),
        inboxes_{convene::collective::scratch(0),
                 is_root_ && !call.in_place ? Buffer::output : convene::collective::scratch(1)},
        rank_(call.rank) {
    const TreeNode node = binomial_node(call.relative(), call.procs);
    boss_ = call.absolute(node.parent);
    for (const TreeNode::Child& child : node.children) missing_.push_back(call.absolute(child.rank));
  }

  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<LocalRedirect>(*this); }

  std::vector<std::vector<Place>> scratch() const override { return {{0}, {0}}; }

  bool is_listening() const override {
    return is_root_ ? !missing_.empty() : !is_sent_ || !answering_.empty();
  }

  void on(const Event& event, OnlineSteps& steps) override {
    switch (event.kind) {
      case Event::Kind::begun:
        has_begun_ = true;
        if (!has_sum_) sum_ = own_;
        if (has_sum_) steps.combine(vector(own_), vector(sum_));
        has_sum_ = true;
        break;
      case Event::Kind::received:
        if (has_sum_) steps.combine(vector(sum_), event.slots);
        sum_ = event.slots.buffer();
        has_sum_ = true;
        is_receiving_ = false;
        break;
      case Event::Kind::noticed:
        note(event.peer, event.notice, steps);
        break;
      case Event::Kind::quiet:
        return wait_idly(steps);
      case Event::Kind::sent:
        return;
    }
    follow_redirects(steps);
    act(steps);
  }

 private:
  struct Redirect {
    Rank from, to;
    Rank heard = 0;  // so many of those whom this rank has handed over are looked after already
  };

  static Range vector(Buffer buffer) { return {buffer, 0}; }

  void note(Rank from, const Notice& notice, OnlineSteps& steps) {
    switch (static_cast<What>(notice.what)) {
      case ready:
        if (remove(answering_, from)) return;
        if (remove(missing_, from))
          ready_.push_back(from);
        else
          early_.push_back(from);
        return;
      case acknowledged:
        remove(answering_, from);
        return;
      case go:
        steps.send(notice.rank, vector(sum_));
        is_sent_ = true;
        return;
      case expect:
        has_told_ = false;
        handed_over_.clear();  // the boss has heard of them
        receive(notice.rank, steps);
        return;
      case hurry:
        hurried_by_.push_back(from);
        return;
      case redirect:
        redirects_.push_back({from, notice.rank, notice.other});
        return;
      case adopt:
        wait_for(notice.rank, from, steps);
        return;
    }
  }

  /// A child that hands over has told this rank to wait for another. If that child has been redirected
  /// meanwhile, the other one goes the same way.
  void wait_for(Rank child, Rank from, OnlineSteps& steps) {
    const bool has_answered = remove(early_, child);
    const auto gone = std::find_if(passed_on_.begin(), passed_on_.end(),
                                   [&](const Redirect& each) { return each.from == from; });
    if (gone != passed_on_.end()) {
      pass_on(child, gone->to, steps);
      if (has_answered) remove(answering_, child);
    } else {
      (has_answered ? ready_ : missing_).push_back(child);
      heard_from_.push_back(from);
    }
  }

  void pass_on(Rank child, Rank to, OnlineSteps& steps) {
    const auto heard = std::count(heard_from_.begin(), heard_from_.end(), child);
    steps.tell(child, {redirect, to, static_cast<Rank>(heard)});
    passed_on_.push_back({child, to});
    answering_.push_back(child);
  }

  void follow_redirects(OnlineSteps& steps) {
    for (auto next = redirects_.begin(); next != redirects_.end(); next = redirects_.begin()) {
      next = std::find_if(redirects_.begin(), redirects_.end(),
                          [&](const Redirect& each) { return each.from == boss_; });
      if (next == redirects_.end()) return;
      if (!has_told_) steps.tell(boss_, {acknowledged});
      boss_ = next->to;
      handed_over_.erase(handed_over_.begin(), handed_over_.begin() + next->heard);
      redirects_.erase(next);
      for (const Rank child : handed_over_) steps.tell(boss_, {adopt, child});
      has_told_ = false;
    }
  }

  void act(OnlineSteps& steps) {
    if (is_sent_) return;
    if (!is_receiving_ && !ready_.empty()) {
      const Rank child = ready_.front();
      ready_.erase(ready_.begin());
      steps.tell(child, {go, rank_});
      receive(child, steps);
    }
    while (ready_.size() >= 2) {
      const Rank giver = ready_[0], taker = ready_[1];
      ready_.erase(ready_.begin(), ready_.begin() + 2);
      steps.tell(taker, {expect, giver});
      remove(heard_from_, taker);
      steps.tell(giver, {go, taker});
      missing_.push_back(taker);
    }
    if (is_receiving_ || !ready_.empty() || !has_begun_ || !missing_.empty()) return;
    if (is_root_) {
      if (sum_ != Buffer::output) steps.copy(vector(sum_), vector(Buffer::output));
      sum_ = Buffer::output;
      is_sent_ = true;
    } else if (!has_told_) {
      steps.tell(boss_, {ready});
      has_told_ = true;
    }
  }

  /// If nothing can be done but wait for children.
  void wait_idly(OnlineSteps& steps) {
    if (is_receiving_ || !ready_.empty() || !has_begun_) return;
    for (const Rank child : missing_) {
      if (contains(hurried_, child)) continue;
      steps.tell(child, {hurry});
      hurried_.push_back(child);
    }
    if (is_root_ || !contains(hurried_by_, boss_)) return;
    for (const Rank child : missing_) {
      steps.tell(boss_, {adopt, child});
      pass_on(child, boss_, steps);
      handed_over_.push_back(child);
    }
    if (missing_.empty()) return;
    missing_.clear();
    act(steps);
  }

  void receive(Rank from, OnlineSteps& steps) {
    steps.recv(from, vector(has_sum_ && sum_ == inboxes_[0] ? inboxes_[1] : inboxes_[0]));
    is_receiving_ = true;
  }

  bool is_root_;
  Buffer own_;         // where the own contribution is
  Buffer inboxes_[2];  // where others' come: the one in which the sum is not
  Rank rank_, boss_ = 0;
  Ranks missing_;      // children that have not said that they are ready
  Ranks ready_;        // and those that have, in this order
  Ranks heard_from_;   // who has handed over a child to this rank: once for each, until he is told what to
                       // expect
  Ranks early_;        // who has answered before it was said that he is a child
  Ranks answering_;    // who was redirected and has to answer once
  Ranks handed_over_;  // children that the boss is to wait for instead, in the order in which he is told
  Ranks hurried_, hurried_by_;
  std::vector<Redirect> redirects_;  // that were heard of, not followed yet
  std::vector<Redirect> passed_on_;  // that this rank has told
  Buffer sum_ = Buffer::input;
  bool has_sum_ = false, has_begun_ = false, is_receiving_ = false;
  bool has_told_ = false;  // the boss knows that this rank is ready
  bool is_sent_ = false;   // the sum is on its way; at the root: in the output
};

}  // namespace

extern constinit const Algorithm reduce_local_redirect = {
    .name = "local_redirect",
    .summary = "A binomial tree that rearranges itself around late ranks, by its own messages.",
    .source = "named in Marendic et al. 2016, section 2; the protocol is this project's",
    .collectives = {Collective::reduce},
    .arrival_source = ArrivalSource::messages,
    .rounds = "⌈log₂P⌉ balanced; 1 after a late leaf, ⌈log₂(k + 1)⌉ + 1 after a late rank with k children",
    .commutative_only = true,
    .make_online = make_online_algorithm<LocalRedirect>,
};

}  // namespace convene::collective
