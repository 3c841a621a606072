// SPDX-License-Identifier: BSD-3-Clause
// arrival_nb: one chain in the order of arrivals, extended at its end. An arriving rank is appended to the
// chain while the last rank still waits for a part of the vector; otherwise it starts a new chain at the
// root. No rank waits for the completion of another rank's send.
//
// Source:   Patarasuk and Yuan 2008, for sends that do not block, as described in Proficz 2021, section 2:
//           ranks that have arrived are served first, detected by the algorithm's own messages. The protocol
//           is this project's.
// Requires: nothing.
// Cost:     with balanced arrivals P − 2 + N rounds with N segments, as a chain. Four or five notices per
//           rank (arrived; predecessor; successor or end; complete). No extra memory. The root stays until
//           all ranks have the vector.
// Arrivals: from its own messages.
//
// P = 4, root 0, N = 1, rank 2 late: a = (0, 0, 5, 0).
//
//   round 0   rank 1 arrives: 0 to 1. Rank 3 arrives before 1 has the vector: it is appended after rank 1.
//   round 1   1 to 3. Rank 3 has all segments and no successor: the chain ends.
//   round 5   rank 2 arrives: 0 to 2.
//
// For P = 5 and rank 4 late by half a round more, it gets the vector from rank 2.
#include "collective/bcast/bcast_by_arrival.hpp"

namespace convene::collective {
namespace {

enum ChainNotice : std::uint32_t { arrived, from, to, end, complete };

class ArrivalNb final : public OnlineAlgorithm {
 public:
  explicit ArrivalNb(const Call& call)
      : is_root_(call.is_root()),
        root_(call.root),
        last_(call.root),
        vector_(static_cast<std::uint32_t>(call.parameters[0]), is_root_),
        to_hear_(is_root_ ? 2 * (call.procs - 1) : 2) {}

  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<ArrivalNb>(*this); }
  bool is_listening() const override { return to_hear_ > 0; }

  void on(const Event& event, OnlineSteps& steps) override {
    switch (event.kind) {
      case Event::Kind::begun:
        has_begun_ = true;
        if (!is_root_) return steps.tell(root_, {arrived});
        for (const Rank rank : early_) place(rank, steps);
        return;
      case Event::Kind::noticed:
        --to_hear_;
        return note(event.peer, event.notice, steps);
      case Event::Kind::received:
        vector_.come(event.slots, steps);
        if (vector_.has_all()) steps.tell(root_, {complete});
        return;
      case Event::Kind::sent:
      case Event::Kind::quiet:
        return;
    }
  }

 private:
  void note(Rank peer, const Notice& notice, OnlineSteps& steps) {
    switch (static_cast<ChainNotice>(notice.what)) {
      case arrived:
        if (has_begun_)
          place(peer, steps);
        else
          early_.push_back(peer);
        return;
      case complete:  // no rank is appended after it any more
        if (peer != last_) return;
        last_ = root_;
        return steps.tell(peer, {end});
      case from:
        return vector_.expect(notice.rank, steps);
      case to:
        return vector_.serve(notice.rank, steps);
      case end:
        return;
    }
  }

  /// At the root: appends an arrived rank to the chain.
  void place(Rank rank, OnlineSteps& steps) {
    steps.tell(rank, {from, last_});
    if (last_ == root_)
      vector_.serve(rank, steps);
    else
      steps.tell(last_, {to, rank});
    last_ = rank;
  }

  bool is_root_, has_begun_ = false;
  Rank root_;
  Rank last_;  // at the root: the end of the chain; the root if there is none
  PassingOn vector_;
  std::uint32_t to_hear_;    // expected notices
  std::vector<Rank> early_;  // at the root: ranks that arrived before it
};

constexpr Parameter bcast_arrival_nb_parameters[] = {decided_segments_parameter()};

}  // namespace

extern constinit const Algorithm bcast_arrival_nb = {
    .name = "arrival_nb",
    .summary = "A rank that arrives joins the end of a chain, or starts a new chain at the root.",
    .source =
        "Patarasuk and Yuan 2008, as described in Proficz 2021, section 2; the protocol is this project's",
    .collectives = {Collective::bcast},
    .arrival_source = ArrivalSource::messages,
    .rounds = "P − 2 + N balanced, N segments; N after a late last arrival",
    .parameters = bcast_arrival_nb_parameters,
    .make_online = make_online_algorithm<ArrivalNb>,
};

}  // namespace convene::collective
