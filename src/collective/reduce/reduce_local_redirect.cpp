// SPDX-License-Identifier: BSD-3-Clause
// Local Redirect: a binomial tree that reorganises itself around late ranks, by its own messages, without a
// forecast. A rank notifies its boss (at first its parent) when it has the sum of its subtree, and the boss
// names the rank to send it to. So a boss can have two ready ranks combine their sums while it is busy. A
// boss that is itself delayed by a late rank hands its sum over, and the late rank gets the boss's boss as
// its own.
//
// Source:   named in Marendic et al. 2016, sections 2.3 and 6.2, with these properties: atomic data, no
//           forecast, no process waits for a partner while another is ready. The protocol is this project's.
// Requires: a commutative operator.
// Cost:     with balanced arrivals ⌈log₂P⌉ rounds of one vector, each after two notices (ready, go): for
//           short vectors three times the latency of a binomial tree. One round after a late leaf;
//           ⌈log₂(k + 1)⌉ + 1 after a late rank with k children. Two vectors of extra memory. A rank that
//           handed its sum over stays until all late ranks below it have arrived, as in a binomial tree.
// Arrivals: from its own messages.
//
// Actions of a rank after each event, in this order:
//   - it receives the sum of one ready child, if it is not receiving one already (go: to me);
//   - it pairs the other ready children (go: to that one; expect: from that one);
//   - if it has combined the sums of all children and its own contribution, it is ready and notifies its
//     boss;
//   - if children are missing and no other action is possible, it notifies them once that it is idle (hurry);
//     and if its boss has sent it that notice, it hands over: it requests its boss to wait for each missing child
//     in its place (adopt), notifies the child (redirect), and is ready itself.
// A redirected rank answers its old boss once (with a "ready" that crossed, or "acknowledged"), so that every
// rank knows its last notice. The redirect states how many of the children that the rank has handed over are
// known to the old boss; the rank informs the next boss of the others.
//
// P = 4, root 0, rank 3 late: a = (0, 0, 0, 5). The tree is 0 ← 1, 0 ← 2 ← 3.
//
//   round 0   1 to 0. Rank 2 misses 3 and hurries it; rank 0 is idle after the round and hurries 2.
//   round 1   2 to 0; rank 3 is redirected to 0 before its arrival.
//   round 5   3 to 0: one round after the last arrival, where a binomial tree needs two (3 to 2, 2 to 0).
//
// For P = 5, rank 4 is a third child of rank 0. It is served first or after rank 1, or is paired with it.
#include <algorithm>

#include "collective/core/algorithm.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

enum RedirectNotice : std::uint32_t { ready, acknowledged, go, expect, hurry, redirect, adopt };

using RankList = std::vector<Rank>;

bool contains(const RankList& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// True if the rank was in the list.
bool remove(RankList& ranks, Rank rank) { return std::erase(ranks, rank) > 0; }

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
    Rank heard = 0;  // number of the handed-over children of this rank that the boss knows already
  };

  static Range vector(Buffer buffer) { return {buffer, 0}; }

  void note(Rank from, const Notice& notice, OnlineSteps& steps) {
    switch (static_cast<RedirectNotice>(notice.what)) {
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
        handed_over_.clear();  // the boss knows them
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

  /// A child that hands over requests this rank to wait for another one. If that child has been redirected
  /// meanwhile, the other one is redirected, too.
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

  /// Waits for children if no other action is possible.
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
  Buffer own_;         // location of the own contribution
  Buffer inboxes_[2];  // for others' sums: the one that does not hold the current sum
  Rank rank_, boss_ = 0;
  RankList missing_;      // children that are not ready
  RankList ready_;        // ready children, in this order
  RankList heard_from_;   // ranks that handed over a child to this rank: once for each child, until they are
                          // sent an `expect`
  RankList early_;        // ranks that answered before they were known to be children
  RankList answering_;    // redirected ranks whose answer is pending
  RankList handed_over_;  // children that the boss is to wait for instead, in the order of the notices
  RankList hurried_, hurried_by_;
  std::vector<Redirect> redirects_;  // received, not followed yet
  std::vector<Redirect> passed_on_;  // sent by this rank
  Buffer sum_ = Buffer::input;
  bool has_sum_ = false, has_begun_ = false, is_receiving_ = false;
  bool has_told_ = false;  // the boss knows that this rank is ready
  bool is_sent_ = false;   // the sum has been sent; at the root: is in the output
};

}  // namespace

extern constinit const Algorithm reduce_local_redirect = {
    .name = "local_redirect",
    .summary = "A binomial tree that rearranges itself around late ranks by exchanging notices.",
    .source = "named in Marendic et al. 2016, section 2; the protocol is this project's",
    .collectives = {Collective::reduce},
    .arrival_source = ArrivalSource::messages,
    .rounds = "⌈log₂P⌉ balanced; 1 after a late leaf, ⌈log₂(k + 1)⌉ + 1 after a late rank with k children",
    .commutative_only = true,
    .make_online = make_online_algorithm<LocalRedirect>,
};

}  // namespace convene::collective
