// SPDX-License-Identifier: BSD-3-Clause
// Clairvoyant: uses a forecast of all arrivals to pair the ranks that have arrived, round by round, so that
// in every round as many ranks as possible send one segment and receive one. With balanced arrivals it takes
// as long as the best pipelined tree; when a late rank arrives, the sums of the others are ready.
//
// Source:   Marendic et al. 2016, section 5.4 (algorithm 1), corrected: see patterns/clairvoyant_pattern.hpp.
// Requires: a commutative operator. All ranks must have the same forecast.
// Cost:     ⌈log₂P⌉ + N − 1 rounds for balanced arrivals (for some P that are no powers of two, one more), at
//           most one message and one combine of 1/N vector per rank and round; up to two vectors of extra
//           memory. pace=rounds is the source's (section 5.4.3): a rank completes each round's messages
//           before those of the next one.
//
//   P = 4, N = 2, root 0, all at once ((0-3).1 is segment 1 of the sum over ranks 0 to 3):
//            round 0            round 1              round 2
//   rank 0   takes 1.0 of 1     takes (2,3).0 of 2   takes (0-3).1 of 1, without its own: it gave that away
//   rank 1   takes 0.1 of 0     takes (2,3).1 of 3
//   rank 2   takes 3.0 of 3
//   rank 3   takes 2.1 of 2
//
//   P = 5, N = 2, root 0:       as above in rounds 0 and 1; then
//            round 2            round 3
//   rank 0   takes 4.0 of 4     takes (0-4).1 of 4
//   rank 4   takes (0-3).1 of 1
#include "collective/parts/pace.hpp"
#include "collective/parts/reduction.hpp"
#include "patterns/clairvoyant_pattern.hpp"

namespace convene::collective {
namespace {

void generate_reduce_clairvoyant(const Call& call, SharedWork& work, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const auto all =
      work.get([&] { return clairvoyant_transfers(call.procs, segments, call.root, call.arrivals); });
  const std::vector<SegmentTransfer>& transfers = *all;
  set_pace(call.parameters[1], builder);
  Partial partial(call, builder, segments, to_root(call, 0));
  std::size_t next = 0;
  for (std::uint32_t label = 0; next < transfers.size();
       ++label) {  // rounds without messages are not numbered
    // A rank may send and receive in one round: its send, of the content before the round, precedes the
    // receive.
    const std::size_t begin = next;
    const std::uint32_t round = transfers[begin].round;
    const SegmentTransfer* incoming = nullptr;
    builder.round(label);
    for (; next < transfers.size() && transfers[next].round == round; ++next) {
      if (transfers[next].from == call.rank) partial.give(transfers[next].to, transfers[next].segment);
      if (transfers[next].to == call.rank) incoming = &transfers[next];
    }
    if (incoming) partial.take(incoming->from, incoming->segment, OperandOrder::above);
  }
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_clairvoyant_parameters[] = {segments_parameter(16), pace_parameter};

}  // namespace

extern constinit const Algorithm reduce_clairvoyant = {
    .name = "clairvoyant",
    .summary =
        "In each round, ranks that have arrived are paired and combine, according to a forecast of arrivals.",
    .source = "Marendic et al. 2016, section 5.4",
    .collectives = {Collective::reduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "⌈log₂P⌉ + N − 1 of 1/N vector each for balanced arrivals, at most one more otherwise",
    .parameters = reduce_clairvoyant_parameters,
    .commutative_only = true,
    .generate = generate_reduce_clairvoyant,
};

}  // namespace convene::collective
