// SPDX-License-Identifier: BSD-3-Clause
// For tests only: small plans built by hand, so that the models can be tested without the catalogue of
// algorithms.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "schedule/core/builder.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::model {

/// The output has P places; a rank starts with its own, or copies its own block there.
inline Plan allgather_plan(Rank procs, const std::function<void(Rank, Builder&)>& write,
                           bool copies = false) {
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    builder.begin(procs, rank);
    if (copies) builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, procs);
    if (copies) builder.copy(Range(Buffer::input, 0), Range(Buffer::output, rank));
    write(rank, builder);
    plan.push_back(builder.finish());
  }
  return plan;
}

inline Plan ring(Rank procs, bool copies = false) {
  return allgather_plan(
      procs,
      [&](Rank rank, Builder& builder) {
        for (Rank round = 0; round + 1 < procs; ++round) {
          builder.round(round);
          builder.send((rank + 1) % procs, Range(Buffer::output, (rank + procs - round) % procs));
          builder.recv((rank + procs - 1) % procs,
                       Range(Buffer::output, (rank + 2 * procs - round - 1) % procs));
        }
      },
      copies);
}

/// In round i every rank sends its own block to rank + i and receives that of rank − i.
inline Plan modified_ring(Rank procs) {
  return allgather_plan(procs, [&](Rank rank, Builder& builder) {
    for (Rank i = 1; i < procs; ++i) {
      const Rank source = (rank + procs - i) % procs;
      builder.round(i - 1);
      builder.send((rank + i) % procs, Range(Buffer::output, rank));
      builder.recv(source, Range(Buffer::output, source));
    }
  });
}

/// P must be a power of two.
inline Plan recursive_doubling(Rank procs) {
  return allgather_plan(procs, [&](Rank rank, Builder& builder) {
    Rank round = 0;
    for (Rank distance = 1; distance < procs; distance *= 2) {
      const Rank partner = rank ^ distance, mine = rank / distance * distance, other = mine ^ distance;
      builder.round(round++);
      builder.send(partner, Range(Buffer::output, mine, distance));
      builder.recv(partner, Range(Buffer::output, other, distance));
    }
  });
}

/// P must be even. Round 0 swaps one block, each further one the two blocks received last.
inline Plan neighbor_exchange(Rank procs) {
  return allgather_plan(procs, [&](Rank rank, Builder& builder) {
    const bool even = rank % 2 == 0;
    Rank last = even ? rank : rank - 1;  // the pair received last
    builder.round(0);
    builder.send(even ? rank + 1 : rank - 1, Range(Buffer::output, rank));
    builder.recv(even ? rank + 1 : rank - 1, Range(Buffer::output, even ? rank + 1 : rank - 1));
    for (Rank round = 1; round < procs / 2; ++round) {
      const bool up = even == (round % 2 == 0);
      const Rank partner = (up ? rank + 1 : rank + procs - 1) % procs;
      // The pair that the partner received last: pairs move on, those of even ranks upwards.
      const Rank comes = even ? (rank + 2 * procs + (round % 2 ? -(round + 1) : round)) % procs
                              : (rank - 1 + 2 * procs + (round % 2 ? round + 1 : -round)) % procs;
      builder.round(round);
      builder.send(partner, Range(Buffer::output, last, 2));
      builder.recv(partner, Range(Buffer::output, comes, 2));
      last = comes;
    }
  });
}

/// In round i messages of up to (ports + 1)^i blocks go to the ranks at distances j·(ports + 1)^i below.
inline Plan bruck(Rank procs, Rank ports) {
  return allgather_plan(procs, [&](Rank rank, Builder& builder) {
    Rank round = 0;
    for (Rank width = 1; width < procs; width *= ports + 1, ++round) {
      builder.round(round);
      for (Rank j = 1; j <= ports && j * width < procs; ++j) {
        const Rank distance = j * width, blocks = std::min(width, procs - distance);
        builder.send((rank + procs - distance) % procs, Range(Buffer::output, rank, blocks));
        builder.recv((rank + distance) % procs, Range(Buffer::output, (rank + distance) % procs, blocks));
      }
    }
  });
}

/// The children of a rank (root 0) in a binomial tree, the largest subtree first.
inline std::vector<Rank> binomial_children(Rank procs, Rank rank) {
  Rank width = 1;
  while (width < procs) width *= 2;
  if (rank > 0) width = rank & (~rank + 1);
  std::vector<Rank> children;
  for (width /= 2; width > 0; width /= 2)
    if (rank + width < procs) children.push_back(rank + width);
  return children;
}

/// The round of a message of width 2^i: 0 for the widest.
inline Rank binomial_round(Rank procs, Rank width) {
  Rank round = 0;
  for (Rank w = 1; w < procs; w *= 2) ++round;
  for (Rank w = 1; w <= width; w *= 2) --round;
  return round;
}

/// One place goes from rank 0 to all; or, as a scatter, each subtree's places from place 0 on.
inline Plan binomial(Rank procs, bool scatter) {
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    const std::uint32_t places = scatter ? procs : 1;
    builder.begin(procs, rank);
    builder.buffer(Buffer::output, places);
    const auto blocks = [&](Rank child) {
      return scatter ? std::min(child & (~child + 1), procs - child) : 1;
    };
    const auto place = [&](Rank child) { return scatter ? child : 0; };
    if (rank > 0) {
      const Rank width = rank & (~rank + 1);
      builder.round(binomial_round(procs, width));
      builder.recv(rank - width, Range(Buffer::output, place(rank), blocks(rank)));
    }
    for (Rank child : binomial_children(procs, rank)) {
      builder.round(binomial_round(procs, child - rank));
      builder.send(child, Range(Buffer::output, place(child), blocks(child)));
    }
    plan.push_back(builder.finish());
  }
  return plan;
}

/// Rank 0 sends to each other rank, or receives from each, all in one round.
inline Plan linear(Rank procs, bool gather) {
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    builder.begin(procs, rank);
    builder.buffer(Buffer::output, procs);
    builder.round(0);
    for (Rank other = 1; other < procs && rank == 0; ++other)
      gather ? builder.recv(other, Range(Buffer::output, other))
             : builder.send(other, Range(Buffer::output, other));
    if (rank > 0)
      gather ? builder.send(0, Range(Buffer::output, rank)) : builder.recv(0, Range(Buffer::output, rank));
    plan.push_back(builder.finish());
  }
  return plan;
}

/// In round i every rank sends one place to rank + i and receives one from rank − i.
inline Plan pairwise(Rank procs) {
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < procs; ++rank) {
    builder.begin(procs, rank);
    builder.buffer(Buffer::input, procs);
    builder.buffer(Buffer::output, procs);
    builder.copy(Range(Buffer::input, rank), Range(Buffer::output, rank));
    for (Rank i = 1; i < procs; ++i) {
      builder.round(i - 1);
      builder.send((rank + i) % procs, Range(Buffer::input, (rank + i) % procs));
      builder.recv((rank + procs - i) % procs, Range(Buffer::output, (rank + procs - i) % procs));
    }
    plan.push_back(builder.finish());
  }
  return plan;
}

}  // namespace convene::model
