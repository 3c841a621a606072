// SPDX-License-Identifier: BSD-3-Clause
// Reduce in shared memory in which all ranks combine: rank j combines part j of all vectors, and the root
// collects the parts. Threads of one process can combine the vectors in place; processes do not see each
// other's memory, so they first copy their vectors into shared places, from which the root copies the parts.
//
// Source:   Rico-Gallego (τ-Lop), section 4.7.4 and equation 4.58 (AzequiaMPI's reduction).
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 3 rounds: each rank copies (P − 1)/P of its vector, combines P − 1 parts of 1/P, and
//           the root copies the vector out; P² shared places of 1/P of the vector.
//
//   P = 4, part 1: rank 1 makes x₀x₁x₂x₃ from the others' places and its own input; root 1 keeps it.
//   P = 5 has five parts.
#include "collective/shm/in_situ.hpp"

namespace convene::collective {
namespace {

void generate_reduce_in_situ(const Call& call, Builder& builder) {
  if (call.procs == 1) return builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
  const InSitu at(call, builder);
  at.put();
  builder.round(1);
  const Range sum = at.combine();
  if (!call.is_root()) {
    at.put(sum);
    return builder.send(call.root, at.part(call.rank, call.rank));
  }
  builder.round(2);
  at.collect(sum);
}

}  // namespace

extern constinit const Algorithm reduce_in_situ = {
    .name = "in_situ",
    .summary = "Rank j combines part j of all vectors in shared memory; the root collects the parts.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.7.4",
    .collectives = {Collective::reduce},
    .rounds = "3",
    .shared_places = InSitu::places,
    .pieces = InSitu::pieces,
    .generate = generate_reduce_in_situ,
};

}  // namespace convene::collective
