// SPDX-License-Identifier: BSD-3-Clause
// arrival_b: the root serves ranks that have arrived, in batches. A batch is a chain of all ranks that have
// arrived by then, in the order of arrival; the root sends the vector to the first one, and every rank to the
// next one. When the root's send is complete, it forms the next batch from the ranks that arrived meanwhile.
//
// Source:   Patarasuk and Yuan 2008, for sends that block, as described in Proficz 2021, section 2: ranks
//           that have arrived are served first, detected by the algorithm's own messages. The protocol is
//           this project's.
// Requires: nothing.
// Cost:     with balanced arrivals P − 2 + N rounds with N segments, as a chain. The root sends the vector
//           once per batch, so at most P − 1 times; a late rank has the vector N rounds after its arrival, or
//           after the current batch is sent. Two notices per rank (arrived; predecessor and successor). No
//           extra memory. The root stays until the last rank has arrived.
// Arrivals: from its own messages.
//
// P = 4, root 0, N = 1, rank 2 late: a = (0, 0, 5, 0).
//
//   round 0   ranks 1 and 3 have arrived: the batch is 0 → 1 → 3. 0 to 1.
//   round 1   1 to 3.
//   round 5   rank 2 has arrived: 0 to 2.
//
// For P = 5 and rank 4 late by 6 rounds, rank 4 forms a third batch.
#include "collective/bcast/bcast_by_arrival.hpp"

namespace convene::collective {
namespace {

enum ArrivalNotice : std::uint32_t { here, place };

class ArrivalB final : public OnlineAlgorithm {
 public:
  explicit ArrivalB(const Call& call)
      : is_root_(call.is_root()),
        root_(call.root),
        segments_(static_cast<std::uint32_t>(call.parameters[0])),
        vector_(segments_, is_root_),
        to_hear_(is_root_ ? call.procs - 1 : 1) {}

  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<ArrivalB>(*this); }
  bool is_listening() const override { return to_hear_ > 0; }

  void on(const Event& event, OnlineSteps& steps) override {
    switch (event.kind) {
      case Event::Kind::begun:
        has_begun_ = true;
        if (!is_root_) steps.tell(root_, {here});
        break;
      case Event::Kind::noticed:
        --to_hear_;
        if (is_root_)
          waiting_.push_back(event.peer);
        else
          take_place(event.notice, steps);
        break;
      case Event::Kind::sent:
        if (is_root_) --sending_;
        break;
      case Event::Kind::received:
        vector_.come(event.slots, steps);
        break;
      case Event::Kind::quiet:
        if (is_root_ && has_begun_ && sending_ == 0 && !waiting_.empty()) serve_batch(steps);
        break;
    }
  }

 private:
  /// Notices of a position in a chain: after `rank`, before `other`, which is the root at the end of the
  /// chain.
  void serve_batch(OnlineSteps& steps) {
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      steps.tell(waiting_[i], {place, i == 0 ? root_ : waiting_[i - 1],
                               i + 1 < waiting_.size() ? waiting_[i + 1] : root_});
    vector_.serve(waiting_.front(), steps);
    sending_ = segments_;
    waiting_.clear();
  }

  void take_place(const Notice& notice, OnlineSteps& steps) {
    vector_.expect(notice.rank, steps);
    if (notice.other != root_) vector_.serve(notice.other, steps);
  }

  bool is_root_, has_begun_ = false;
  Rank root_;
  std::uint32_t segments_;
  PassingOn vector_;
  std::uint32_t to_hear_;      // expected notices
  std::vector<Rank> waiting_;  // at the root: ranks that arrived since the last batch
  std::uint32_t sending_ = 0;  // at the root: messages of the last batch that are not sent yet
};

constexpr Parameter bcast_arrival_b_parameters[] = {decided_segments_parameter()};

}  // namespace

extern constinit const Algorithm bcast_arrival_b = {
    .name = "arrival_b",
    .summary =
        "The root sends to the ranks that have arrived, as a chain, then to those that arrived meanwhile, "
        "and so on.",
    .source =
        "Patarasuk and Yuan 2008, as described in Proficz 2021, section 2; the protocol is this project's",
    .collectives = {Collective::bcast},
    .arrival_source = ArrivalSource::messages,
    .rounds = "P − 2 + N balanced, N segments; N after a late last arrival",
    .parameters = bcast_arrival_b_parameters,
    .make_online = make_online_algorithm<ArrivalB>,
};

}  // namespace convene::collective
