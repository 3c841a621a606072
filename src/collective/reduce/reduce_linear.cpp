// SPDX-License-Identifier: BSD-3-Clause
// Linear reduce: every rank sends its vector directly to the root, which combines them one after the other,
// from the last rank to the first, so that the order is kept without further copies. While one is combined,
// the next one is received.
//
// Source:   folklore.
// Requires: nothing. Keeps the order.
// Cost:     1 round of P − 1 messages to the root, P − 1 combines there; two vectors of extra memory at the
//           root (a third one under MPI_IN_PLACE).
//
//   root 1, P = 4: output = x₃; then x₂ ∘, x₁ ∘ (the root's own), x₀ ∘ to its left: x₀x₁x₂x₃
//   P = 5 begins with x₄.
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

void generate_reduce_linear(const Call& call, Builder& builder) {
  if (!call.is_root()) return builder.send(call.root, Range(Buffer::input, 0));
  const Range sum(Buffer::output, 0);
  const Place sized_like[] = {0};
  Range own(Buffer::input, 0);
  if (call.in_place &&
      call.rank + 1 < call.procs) {  // the output is needed before the turn of the own contribution
    own = Range(builder.scratch(sized_like), 0);
    builder.copy(Range(Buffer::input, 0), own);
  }
  const Rank last = call.procs - 1;
  const Rank to_inboxes = call.rank == last ? last : last - 1;  // the last rank's contribution is received
                                                                // into the output
  std::vector<Range> inboxes;
  for (Rank i = 0; i < 2 && i < to_inboxes; ++i) inboxes.emplace_back(builder.scratch(sized_like), 0);

  last == call.rank ? builder.copy(own, sum) : builder.recv(last, sum);
  Rank taken = 0;
  for (Rank rank = last; rank-- > 0;) {
    if (rank == call.rank) {
      builder.combine(own, sum);
      continue;
    }
    const Range& inbox = inboxes[taken++ % inboxes.size()];
    builder.recv(rank, inbox);
    builder.combine(inbox, sum);
  }
}

}  // namespace

extern constinit const Algorithm reduce_linear = {
    .name = "linear",
    .summary = "Every rank sends its vector directly to the root, which combines them in rank order.",
    .source = "folklore",
    .collectives = {Collective::reduce},
    .rounds = "1",
    .generate = generate_reduce_linear,
};

}  // namespace convene::collective
