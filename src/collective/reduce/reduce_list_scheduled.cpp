// SPDX-License-Identifier: BSD-3-Clause
// List-scheduled reduction: in each round, ranks that have arrived are paired and combine one segment, by a
// forecast of arrivals and by place. The ranks that arrived last have priority. The ranks of a node that are
// present combine a segment before one of them sends it to another node, one segment in each round.
//
// Source:   this project's own; a list schedule (Graham 1966) of single-port, full-duplex transfers, as in
//           allgather_list_scheduled.cpp. Priorities: see patterns/reduction_list.hpp.
// Requires: a commutative operator. All ranks must have the same forecast. Uses nodes where they are known.
// Cost:     ⌈log₂P⌉ + N − 1 rounds for balanced arrivals on one node (seldom one more), N after a late last
//           arrival. At most one message and one combine of 1/N vector per rank and round. Between nodes, of
//           each segment at most one message for each node, and one for each rank that arrives after its
//           node's part has left. Up to two vectors of extra memory. Above 2^16 messages, several segments
//           travel as one.
//
//   P = 4, N = 1, root 0, ranks 0 and 1 on a node, 2 and 3 on another, rank 3 late: a = (0, 0, 0, 5).
//            round 0          round 1          round 2
//   rank 0   takes 1 of 1     takes 2 of 2     takes 3 of 3, which has just arrived
//
//   P = 6, N = 1, root 0, three ranks on a node, all at once:
//            round 0          round 1          round 2
//   rank 0   takes 1 of 1     takes 2 of 2     takes (3-5) of 3
//   rank 3   takes 4 of 4     takes 5 of 5
#include "collective/parts/pace.hpp"
#include "collective/parts/reduction.hpp"
#include "collective/parts/segment_runs.hpp"
#include "patterns/reduction_list.hpp"

namespace convene::collective {
namespace {

ByRank<SegmentTransfer> scheduled_transfers(const Call& call, const SegmentRuns& runs) {
  std::vector<SegmentTransfer> transfers =
      list_scheduled_reduction(call.procs, runs.count, call.root, runs.arrivals(call), call.nodes);
  number_rounds(transfers);
  return {call.procs, std::move(transfers)};
}

void generate_reduce_list_scheduled(const Call& call, SharedWork& work, Builder& builder) {
  const SegmentRuns runs(static_cast<std::uint32_t>(call.parameters[0]), call.procs);
  const auto transfers = work.get([&] { return scheduled_transfers(call, runs); });
  set_pace(call.parameters[1], builder);
  Partial partial(call, builder, runs.segments, to_root(call, 0));
  for_each_round(
      *transfers, call.rank,
      [&](const SegmentTransfer& transfer) {
        builder.round(transfer.round);
        partial.give(transfer.to, runs.places(transfer.segment));
      },
      [&](const SegmentTransfer& transfer) {
        builder.round(transfer.round);
        partial.take(transfer.from, runs.places(transfer.segment), OperandOrder::above);
      });
  if (call.is_root()) partial.settle(run_of_places(0, runs.segments));
}

constexpr Parameter reduce_list_scheduled_parameters[] = {segments_parameter(16), pace_parameter};

}  // namespace

extern constinit const Algorithm reduce_list_scheduled = {
    .name = "list_scheduled",
    .summary =
        "Ranks that have arrived are paired and combine, those of a node first; by a forecast of arrivals.",
    .source = "this project; a list schedule after Graham 1966",
    .collectives = {Collective::reduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds =
        "⌈log₂P⌉ + N − 1 of 1/N vector each for balanced arrivals on one node, seldom one more; N after a "
        "late "
        "last arrival",
    .parameters = reduce_list_scheduled_parameters,
    .commutative_only = true,
    .prefers_nodes = true,
    .generate = generate_reduce_list_scheduled,
};

}  // namespace convene::collective
