// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in shared memory: rank j combines part j of all vectors and writes it into a shared place, from
// which all read it.
//
// Source:   Rico-Gallego (τ-Lop), section 4.7.4 (AzequiaMPI's reduction), with a result for all.
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 3 rounds: each rank copies (P − 1)/P of its vector in and out and combines P − 1
//           parts of 1/P; P² shared places of 1/P of the vector.
//
//   P = 4, part 1: rank 1 makes x₀x₁x₂x₃ from the others' places and its own input; all four copy it.
//   P = 5 has five parts.
#include "collective/shm/in_situ.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_in_situ(const Call& call, Builder& builder) {
  if (call.procs == 1) return builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
  const InSitu at(call, builder);
  at.put();
  builder.round(1);
  const Range sum = at.combine();
  at.put(sum);
  for (Rank above = 1; above < call.procs; ++above)
    builder.send(call.up(above), at.part(call.rank, call.rank));
  builder.round(2);
  at.collect(sum);
}

}  // namespace

extern constinit const Algorithm allreduce_in_situ = {
    .name = "in_situ",
    .summary = "Rank j combines part j of all vectors in shared memory; all ranks read the result.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.7.4",
    .collectives = {Collective::allreduce},
    .rounds = "3",
    .shared_places = InSitu::places,
    .pieces = InSitu::pieces,
    .generate = generate_allreduce_in_situ,
};

}  // namespace convene::collective
