// SPDX-License-Identifier: BSD-3-Clause
// The table of collectives: name, arguments and postcondition of each. All properties of a collective derive
// from its row.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/layers.hpp"

namespace convene::collective {

/// In the order of the table.
enum class Collective : std::uint8_t {
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  bcast,
  alltoall,
  alltoallv,
  alltoallw,
  barrier,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
};

/// Postcondition: the contents of the buffers after the call. A form with unequal blocks has the
/// postcondition of its equal form.
enum class Postcondition : std::uint8_t {
  allgather,
  gather,
  scatter,
  bcast,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_alltoall,
};

/// The ranks on which an argument is significant.
enum class On : std::uint8_t { no_rank, root, all_ranks };

/// The shape of a count argument. `per_neighbor`: one for each entry of the rank's list.
enum class Counts : std::uint8_t { none, one, per_rank, per_neighbor };

/// The shape of a datatype argument. `per_peer`: displacements are in bytes then.
enum class Types : std::uint8_t { none, one, per_peer };

/// A send or a receive buffer with its count, displacement and type arguments.
struct BufferTraits {
  On present = On::no_rank;
  Counts counts = Counts::none;
  bool displacements = false;
  Types types = Types::none;
};

struct CollectiveTraits {
  Collective collective;
  std::string_view name;
  Postcondition postcondition;
  BufferTraits send, recv;
  /// One count and one type argument for both buffers, or for the only one (bcast's, which is `recv` here).
  bool shares_counts = false;
  bool has_root = false, has_operator = false;
  On in_place = On::no_rank;  ///< ranks that may pass MPI_IN_PLACE
  /// The form with unequal blocks of one with equal blocks, and back.
  std::optional<Collective> partner = std::nullopt;
};

namespace collective_table {

constexpr BufferTraits absent = {};
constexpr BufferTraits blocks = {On::all_ranks, Counts::one, false, Types::one};
constexpr BufferTraits blocks_at_root = {On::root, Counts::one, false, Types::one};
constexpr BufferTraits unequal = {On::all_ranks, Counts::per_rank, true, Types::one};
constexpr BufferTraits unequal_at_root = {On::root, Counts::per_rank, true, Types::one};
constexpr BufferTraits unequal_types = {On::all_ranks, Counts::per_rank, true, Types::per_peer};
constexpr BufferTraits of_neighbors = {On::all_ranks, Counts::per_neighbor, true, Types::one};
constexpr BufferTraits unequal_shares = {On::all_ranks, Counts::per_rank, false, Types::one};

// clang-format off
constexpr CollectiveTraits rows[] = {
    {.collective = Collective::allgather, .name = "allgather", .postcondition = Postcondition::allgather,
     .send = blocks, .recv = blocks, .in_place = On::all_ranks, .partner = Collective::allgatherv},
    {.collective = Collective::allgatherv, .name = "allgatherv", .postcondition = Postcondition::allgather,
     .send = blocks, .recv = unequal, .in_place = On::all_ranks, .partner = Collective::allgather},
    {.collective = Collective::gather, .name = "gather", .postcondition = Postcondition::gather,
     .send = blocks, .recv = blocks_at_root, .has_root = true, .in_place = On::root,
     .partner = Collective::gatherv},
    {.collective = Collective::gatherv, .name = "gatherv", .postcondition = Postcondition::gather,
     .send = blocks, .recv = unequal_at_root, .has_root = true, .in_place = On::root,
     .partner = Collective::gather},
    {.collective = Collective::scatter, .name = "scatter", .postcondition = Postcondition::scatter,
     .send = blocks_at_root, .recv = blocks, .has_root = true, .in_place = On::root,
     .partner = Collective::scatterv},
    {.collective = Collective::scatterv, .name = "scatterv", .postcondition = Postcondition::scatter,
     .send = unequal_at_root, .recv = blocks, .has_root = true, .in_place = On::root,
     .partner = Collective::scatter},
    {.collective = Collective::bcast, .name = "bcast", .postcondition = Postcondition::bcast,
     .send = absent, .recv = blocks, .shares_counts = true, .has_root = true},
    {.collective = Collective::alltoall, .name = "alltoall", .postcondition = Postcondition::alltoall,
     .send = blocks, .recv = blocks, .in_place = On::all_ranks, .partner = Collective::alltoallv},
    {.collective = Collective::alltoallv, .name = "alltoallv", .postcondition = Postcondition::alltoall,
     .send = unequal, .recv = unequal, .in_place = On::all_ranks, .partner = Collective::alltoall},
    {.collective = Collective::alltoallw, .name = "alltoallw", .postcondition = Postcondition::alltoall,
     .send = unequal_types, .recv = unequal_types, .in_place = On::all_ranks},
    {.collective = Collective::barrier, .name = "barrier", .postcondition = Postcondition::allgather,
     .send = absent, .recv = absent},
    {.collective = Collective::reduce, .name = "reduce", .postcondition = Postcondition::reduce,
     .send = blocks, .recv = blocks_at_root, .shares_counts = true, .has_root = true, .has_operator = true,
     .in_place = On::root},
    {.collective = Collective::allreduce, .name = "allreduce", .postcondition = Postcondition::allreduce,
     .send = blocks, .recv = blocks, .shares_counts = true, .has_operator = true,
     .in_place = On::all_ranks},
    {.collective = Collective::reduce_scatter_block, .name = "reduce_scatter_block",
     .postcondition = Postcondition::reduce_scatter, .send = blocks, .recv = blocks, .shares_counts = true,
     .has_operator = true, .in_place = On::all_ranks, .partner = Collective::reduce_scatter},
    {.collective = Collective::reduce_scatter, .name = "reduce_scatter",
     .postcondition = Postcondition::reduce_scatter, .send = unequal_shares, .recv = unequal_shares,
     .shares_counts = true, .has_operator = true, .in_place = On::all_ranks,
     .partner = Collective::reduce_scatter_block},
    {.collective = Collective::scan, .name = "scan", .postcondition = Postcondition::scan,
     .send = blocks, .recv = blocks, .shares_counts = true, .has_operator = true,
     .in_place = On::all_ranks},
    {.collective = Collective::exscan, .name = "exscan", .postcondition = Postcondition::exscan,
     .send = blocks, .recv = blocks, .shares_counts = true, .has_operator = true,
     .in_place = On::all_ranks},
    {.collective = Collective::neighbor_allgather, .name = "neighbor_allgather",
     .postcondition = Postcondition::neighbor_allgather, .send = blocks, .recv = blocks,
     .partner = Collective::neighbor_allgatherv},
    {.collective = Collective::neighbor_allgatherv, .name = "neighbor_allgatherv",
     .postcondition = Postcondition::neighbor_allgather, .send = blocks, .recv = of_neighbors,
     .partner = Collective::neighbor_allgather},
    {.collective = Collective::neighbor_alltoall, .name = "neighbor_alltoall",
     .postcondition = Postcondition::neighbor_alltoall, .send = blocks, .recv = blocks,
     .partner = Collective::neighbor_alltoallv},
    {.collective = Collective::neighbor_alltoallv, .name = "neighbor_alltoallv",
     .postcondition = Postcondition::neighbor_alltoall, .send = of_neighbors, .recv = of_neighbors,
     .partner = Collective::neighbor_alltoall},
};
// clang-format on

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (static_cast<std::size_t>(rows[i].collective) != i) return false;
  return true;
}
static_assert(is_in_order(), "the table has a row for each collective, in the order of the enum");

constexpr bool is_mutual() {
  for (const CollectiveTraits& row : rows)
    if (row.partner && rows[static_cast<std::size_t>(*row.partner)].partner != row.collective) return false;
  return true;
}
static_assert(is_mutual(), "partners name each other");

constexpr auto in_order() {
  std::array<Collective, std::size(rows)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = rows[i].collective;
  return all;
}

}  // namespace collective_table

inline constexpr std::size_t collectives_count = std::size(collective_table::rows);
inline constexpr std::array<Collective, collectives_count> all_collectives = collective_table::in_order();

constexpr const CollectiveTraits& traits(Collective collective) {
  return collective_table::rows[static_cast<std::size_t>(collective)];
}

constexpr std::string_view name(Collective collective) { return traits(collective).name; }
std::optional<Collective> find_collective(std::string_view name);

/// True if its calls have a root.
constexpr bool is_rooted(Collective collective) { return traits(collective).has_root; }
/// True if it combines the ranks' contributions.
constexpr bool is_reduction(Collective collective) { return traits(collective).has_operator; }
/// True if its data is one vector, not a block for each rank.
constexpr bool has_one_vector(Collective collective) {
  switch (traits(collective).postcondition) {
    case Postcondition::bcast:
    case Postcondition::reduce:
    case Postcondition::allreduce:
    case Postcondition::scan:
    case Postcondition::exscan:
      return true;
    default:
      return false;
  }
}
/// True if ranks exchange blocks with their neighbours in a graph only (Call::graph).
constexpr bool is_neighborhood(Collective collective) {
  const Postcondition promised = traits(collective).postcondition;
  return promised == Postcondition::neighbor_allgather || promised == Postcondition::neighbor_alltoall;
}
/// True if the caller states a size for each block.
constexpr bool has_unequal_blocks(Collective collective) {
  const auto one_each = [](const BufferTraits& buffer) { return buffer.counts > Counts::one; };
  return one_each(traits(collective).send) || one_each(traits(collective).recv);
}

/// True if each pair of ranks agrees on the size of its block: a rank states those it sends and those it
/// receives.
constexpr bool has_unequal_pairs(Collective collective) {
  const CollectiveTraits& of = traits(collective);
  return of.send.counts > Counts::one && of.recv.counts > Counts::one && !of.shares_counts;
}

/// The ranks that know the size of a block: all of them; its own rank and the root; its sender and its
/// receiver.
enum class SizesKnown : std::uint8_t { by_all, by_root, by_pairs };
constexpr SizesKnown sizes_known(Collective collective) {
  if (is_neighborhood(collective) || has_unequal_pairs(collective)) return SizesKnown::by_pairs;
  return is_rooted(collective) && has_unequal_blocks(collective) ? SizesKnown::by_root : SizesKnown::by_all;
}

/// A set of collectives, iterated in the order of the table.
class CollectiveSet {
 public:
  constexpr CollectiveSet() = default;
  constexpr CollectiveSet(std::initializer_list<Collective> members) {
    for (const Collective each : members) bits_ |= bit(each);
  }
  static constexpr CollectiveSet all() {
    CollectiveSet set;
    for (const Collective each : all_collectives) set.bits_ |= bit(each);
    return set;
  }

  constexpr bool contains(Collective collective) const { return (bits_ & bit(collective)) != 0; }
  constexpr Collective front() const { return *begin(); }

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Collective;
    using pointer = const Collective*;
    using reference = Collective;
    using iterator_category = std::input_iterator_tag;
    constexpr Iterator() = default;
    constexpr Iterator(const CollectiveSet* set, std::size_t at) : set_(set), at_(at) { skip(); }
    constexpr Collective operator*() const { return static_cast<Collective>(at_); }
    constexpr Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    constexpr void skip() {
      while (at_ < collectives_count && !set_->contains(static_cast<Collective>(at_))) ++at_;
    }
    const CollectiveSet* set_ = nullptr;
    std::size_t at_ = 0;
  };
  constexpr Iterator begin() const { return {this, 0}; }
  constexpr Iterator end() const { return {this, collectives_count}; }

 private:
  static constexpr std::uint32_t bit(Collective collective) {
    return std::uint32_t{1} << static_cast<unsigned>(collective);
  }
  std::uint32_t bits_ = 0;
};
static_assert(collectives_count <= 32, "a CollectiveSet has a bit for each collective");

}  // namespace convene::collective
