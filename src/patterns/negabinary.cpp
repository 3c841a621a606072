// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/negabinary.hpp"

#include <algorithm>
#include <bit>

namespace convene::patterns {
namespace {

constexpr std::uint32_t negative_digits = 0xAAAAAAAA;  // the digits that count −2, −8, −32, …

std::int32_t value_of(std::uint32_t digits) {
  return static_cast<std::int32_t>((digits ^ negative_digits) - negative_digits);
}
std::uint32_t digits_of(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) + negative_digits) ^ negative_digits;
}
constexpr std::uint32_t low(unsigned count) { return (std::uint32_t{1} << count) - 1; }

std::uint32_t modulo(std::int64_t value, std::uint32_t procs) {
  const std::int64_t rest = value % std::int64_t{procs};
  return static_cast<std::uint32_t>(rest < 0 ? rest + std::int64_t{procs} : rest);
}

/// The number of lowest digits that are equal, at most `count`.
unsigned equal_digits(std::uint32_t digits, unsigned count) {
  const int equal = (digits & 1) != 0 ? std::countr_one(digits) : std::countr_zero(digits);
  return std::min(static_cast<unsigned>(equal), count);
}

/// The first rank of the subtree that the lowest `free` digits count.
std::uint32_t first_of(std::uint32_t digits, unsigned free, std::uint32_t procs) {
  return modulo(value_of((digits & ~low(free)) | (negative_digits & low(free))), procs);
}

}  // namespace

std::int64_t negabinary_distance(unsigned step) {
  return (1 - (step % 2 == 0 ? -1 : 1) * (std::int64_t{2} << step)) / 3;
}

NegabinaryButterfly::NegabinaryButterfly(std::uint32_t procs, DistanceOrder order)
    : procs_(procs), order_(order), offsets_(static_cast<std::size_t>(std::bit_width(procs - 1))) {
  std::vector<bool> has(procs, false);
  std::vector<std::uint32_t> holders = {0};
  has[0] = true;
  for (std::uint32_t round = 0; round < rounds(); ++round) {
    for (const std::uint32_t holder : holders) {
      const std::uint32_t to = partner(holder, round);
      if (!has[to]) offsets_[round].push_back(to);
    }
    for (const std::uint32_t to : offsets_[round]) has[to] = true;
    holders.insert(holders.end(), offsets_[round].begin(), offsets_[round].end());
  }
}

std::uint32_t NegabinaryButterfly::partner(std::uint32_t rank, std::uint32_t round) const {
  const std::int64_t distance =
      negabinary_distance(order_ == DistanceOrder::near_first ? round : rounds() - 1 - round);
  return modulo(rank % 2 == 0 ? rank + distance : rank - distance, procs_);
}

std::vector<std::uint32_t> NegabinaryButterfly::received(std::uint32_t rank, std::uint32_t round) const {
  std::vector<std::uint32_t> blocks;
  // The block of an even rank b reaches b + offset, that of an odd one b − offset.
  for (const std::uint32_t offset : offsets_[round])
    blocks.push_back(rank % 2 == offset % 2 ? modulo(std::int64_t{rank} - offset, procs_)
                                            : modulo(std::int64_t{rank} + offset, procs_));
  std::ranges::sort(blocks);
  if (order_ == DistanceOrder::far_first)
    std::ranges::stable_partition(blocks, [](std::uint32_t block) { return block % 2 == 0; });
  else
    std::ranges::rotate(blocks, std::ranges::find_if(blocks, [&](std::uint32_t block) {
                          return !std::ranges::binary_search(blocks, block == 0 ? procs_ - 1 : block - 1);
                        }));
  return blocks;
}

NegabinaryNode negabinary_node(std::uint32_t rank, std::uint32_t procs) {
  const auto count = static_cast<unsigned>(std::bit_width(procs) - 1);
  const std::int32_t largest = value_of(~negative_digits & low(count));
  const bool is_above = std::int64_t{rank} > std::int64_t{largest};
  const std::uint32_t digits = digits_of(static_cast<std::int32_t>(rank - (is_above ? procs : 0)));
  NegabinaryNode node;
  // A rank receives from the one whose equal lowest digits are the other ones; its subtree has all other
  // values of one digit less.
  const unsigned equal = rank == 0 ? count + 1 : equal_digits(digits & low(count), count);
  if (rank != 0) {
    node.parent = modulo(value_of(digits ^ low(equal)), procs);
    node.round = count - equal;
  }
  node.subtree = std::uint32_t{1} << (equal - 1);
  node.first = first_of(digits, equal - 1, procs);
  for (unsigned flipped = equal - 1; flipped > 0; --flipped) {
    const std::uint32_t child = digits ^ low(flipped);
    node.children.push_back({modulo(value_of(child), procs), first_of(child, flipped - 1, procs),
                             std::uint32_t{1} << (flipped - 1), count - flipped});
  }
  return node;
}

}  // namespace convene::patterns
