// SPDX-License-Identifier: BSD-3-Clause
// Broadcast through shared memory: a tree in which every rank with children has two places that all its
// children read. It copies a segment from its parent's place into one of its own, and then to its output,
// while its children continue with the segment.
//
// Source:   Rico-Gallego (τ-Lop), section 4.6 (Open MPI's broadcast in shared memory; figures 4.21 and 4.22).
// Requires: all processes on one node.
// Cost:     no message; h + 2(N − 1) rounds (one more if its last level but one has leaves) of copies of a
//           segment with N segments and a tree of h levels; 2 shared places for each rank with children.
//
//            round 0     round 1     round 2     round 3     (P = 4, degree 2, one segment: writes into)
//   rank 0   its place
//   rank 1               its place   the output
//   rank 2                           the output
//   rank 3                           the output
//
//   P = 5: rank 4 does as rank 3.
#include <algorithm>

#include "collective/shm/shm.hpp"

namespace convene::collective {
namespace {

/// A rank relative to the root: degree · v + 1, …, degree · v + degree are the children of v, and levels are
/// runs.
struct Node {
  std::uint64_t number, degree, procs;
  std::uint32_t level = 0;
  std::uint64_t first_of_level = 0;

  Node(Rank number_, Rank degree_, Rank procs_) : number(number_), degree(degree_), procs(procs_) {
    for (std::uint64_t size = 1; first_of_level + size <= number; size *= degree, ++level)
      first_of_level += size;
  }
  std::uint64_t first_child() const { return degree * number + 1; }
  std::uint64_t end_of_children() const { return std::min(degree * number + degree + 1, procs); }
  bool has_children() const { return first_child() < procs; }
  bool level_has_children() const { return degree * first_of_level + 1 < procs; }
  Rank parent() const { return static_cast<Rank>((number - 1) / degree); }
};

class SharedBcast {
 public:
  SharedBcast(const Call& call, Builder& builder)
      : call_(call),
        builder_(builder),
        segments_(static_cast<std::uint32_t>(call.parameters[0])),
        own_(call.relative(), static_cast<Rank>(call.parameters[1]), call.procs) {}

  void run() {
    for (std::uint32_t segment = 0; segment < segments_; ++segment) {
      const std::uint32_t round = own_.level + turns * segment;
      builder_.round(round);
      if (own_.number > 0) builder_.recv(parent(), from(segment));
      if (own_.has_children()) hand_on(segment);
      if (own_.number == 0) continue;
      builder_.round(round + own_.level_has_children());
      builder_.copy(from(segment), Range(Buffer::output, segment));
      if (comes_again(segment, segments_)) builder_.send(parent(), from(segment));
    }
  }

 private:
  Rank parent() const { return call_.absolute(own_.parent()); }
  /// Source of a segment: at the root, its output.
  Range from(std::uint32_t segment) const {
    return own_.number == 0 ? Range(Buffer::output, segment) : shared_place(own_.parent(), segment);
  }

  void hand_on(std::uint32_t segment) {
    const Range place = shared_place(static_cast<Rank>(own_.number), segment);
    const auto for_each_child = [&](auto&& visit) {
      for (std::uint64_t child = own_.first_child(); child < own_.end_of_children(); ++child)
        visit(call_.absolute(static_cast<Rank>(child)));
    };
    if (segment >= turns) for_each_child([&](Rank child) { builder_.recv(child, place); });
    builder_.copy(from(segment), place);
    for_each_child([&](Rank child) { builder_.send(child, place); });
  }

  const Call& call_;
  Builder& builder_;
  const std::uint32_t segments_;
  const Node own_;
};

void generate_bcast_shared(const Call& call, Builder& builder) { SharedBcast(call, builder).run(); }

/// Only the first ranks have children and places.
std::uint64_t bcast_places(Rank procs, std::span<const Value> parameters) {
  const auto degree = static_cast<Rank>(parameters[1]);
  return std::uint64_t{turns} * ((procs - 1 + degree - 1) / degree);
}

constexpr Parameter bcast_shared_parameters[] = {
    shared_segments(4, "number of segments of the vector; each is forwarded as it arrives"),
    {.name = "degree",
     .summary = "maximum number of ranks that read each slot of shared memory",
     .fallback = 2,
     .least = 1,
     .most = 1024,
     .samples = {1, 2, 5}}};

}  // namespace

extern constinit const Algorithm bcast_shared = {
    .name = "shared",
    .summary =
        "Ranks copy the vector from their parent's slot of shared memory into their own, segment by segment.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.6",
    .collectives = {Collective::bcast},
    .rounds = "h + 2(N − 1) or one more, h levels, N segments",
    .parameters = bcast_shared_parameters,
    .shared_places = bcast_places,
    .signals_can_carry = has_one_segment,
    .generate = generate_bcast_shared,
};

}  // namespace convene::collective
