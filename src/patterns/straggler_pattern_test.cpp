// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/straggler_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <set>

namespace convene::patterns {
namespace {

using Kind = StragglerTransfer::Kind;

std::vector<std::uint32_t> owners_in_turn(const std::vector<std::uint32_t>& ranks, std::uint32_t chunks) {
  std::vector<std::uint32_t> owners(chunks);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) owners[chunk] = ranks[chunk % ranks.size()];
  return owners;
}

std::vector<std::uint32_t> without(std::uint32_t procs, const std::vector<LateRank>& late) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < procs; ++rank)
    if (std::ranges::none_of(late, [&](const LateRank& each) { return each.rank == rank; }))
      ranks.push_back(rank);
  return ranks;
}

StragglerExchange of_last_rank(std::uint32_t procs, std::uint32_t segments) {
  const std::vector<LateRank> late = {{procs - 1, 0}};
  return straggler_exchange(procs, owners_in_turn(without(procs, late), (procs - 1) * segments), late, 0);
}

/// One message in each direction per rank and round; a message has what it needs; every rank ends with all.
void expect_valid(const StragglerExchange& exchange, std::uint32_t procs,
                  const std::vector<std::uint32_t>& owners, const std::vector<LateRank>& late) {
  std::map<std::uint32_t, std::set<std::uint32_t>> contributions, holders;  // by chunk
  for (std::size_t begin = 0; begin < exchange.transfers.size();) {
    std::size_t end = begin;
    std::set<std::uint32_t> sending, receiving;
    const auto before = holders;
    for (;
         end < exchange.transfers.size() && exchange.transfers[end].round == exchange.transfers[begin].round;
         ++end) {
      const StragglerTransfer& each = exchange.transfers[end];
      ASSERT_TRUE(sending.insert(each.from).second && receiving.insert(each.to).second) << "P=" << procs;
      ASSERT_NE(each.from, each.to);
      if (each.kind == Kind::contribution) {
        ASSERT_EQ(each.to, owners[each.chunk]);
        ASSERT_TRUE(contributions[each.chunk].insert(each.from).second);
      } else if (each.kind == Kind::sum) {
        ASSERT_EQ(each.from, owners[each.chunk]);
        ASSERT_TRUE(contributions[each.chunk].contains(each.to));
        ASSERT_EQ(contributions[each.chunk].size(), late.size());
        holders[each.chunk] = {each.from, each.to};
      } else {
        ASSERT_TRUE(before.contains(each.chunk) && before.at(each.chunk).contains(each.from));
        ASSERT_TRUE(holders[each.chunk].insert(each.to).second) << "it has it";
      }
    }
    begin = end;
  }
  for (std::uint32_t chunk = 0; chunk < owners.size(); ++chunk) ASSERT_EQ(holders[chunk].size(), procs);
}

TEST(StragglerExchange, HasTheFewestRoundsForOneLateRank) {
  for (std::uint32_t procs = 2; procs <= 64; ++procs)
    for (const std::uint32_t segments : {1u, 2u}) {
      if (segments > 1 && procs > 24) continue;
      const StragglerExchange exchange = of_last_rank(procs, segments);
      const auto log = static_cast<std::uint32_t>(std::bit_width(procs - 1));
      const std::uint32_t least = segments * (procs - 1) - 1 + log;
      EXPECT_GE(exchange.rounds, least) << "P=" << procs << ", N=" << segments;
      EXPECT_LE(exchange.rounds, least + (segments > 1)) << "P=" << procs << ", N=" << segments;
      EXPECT_EQ(exchange.end, exchange.rounds);
    }
}

/// The source's numbers of rounds for even P that are no powers of two.
TEST(StragglerExchange, HasNoMoreRoundsThanThatOfTheSource) {
  for (const auto& [procs, rounds] :
       std::map<std::uint32_t, std::uint32_t>{{6, 7}, {12, 15}, {24, 27}, {48, 57}, {96, 108}, {192, 208}})
    EXPECT_LE(of_last_rank(procs, 1).rounds, rounds) << "P=" << procs;
}

TEST(StragglerExchange, IsValidForAnyLateRanks) {
  std::mt19937 generator(1);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (std::uint32_t procs = 2; procs <= 40; ++procs)
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::vector<LateRank> late;
      std::uint64_t arrival = random() % 5;
      const std::uint32_t many = 1 + random() % (procs - 1);
      for (std::uint32_t rank = 0; rank < many; ++rank, arrival += random() % 3 == 0 ? random() % 40 : 0)
        late.push_back({(rank * 7 + i) % procs, arrival});
      std::set<std::uint32_t> ranks;
      std::erase_if(late, [&](const LateRank& each) { return !ranks.insert(each.rank).second; });
      if (late.size() == procs) late.pop_back();
      const auto owners = owners_in_turn(without(procs, late), procs - 1);
      const StragglerExchange exchange = straggler_exchange(procs, owners, late, 3);
      expect_valid(exchange, procs, owners, late);
      if (HasFatalFailure()) return;
      EXPECT_GE(exchange.end, late.back().arrival + owners.size());
    }
}

TEST(StragglerExchange, WaitsForArrivals) {
  const std::vector<LateRank> late = {{2, 5}, {1, 50}};
  const StragglerExchange exchange = straggler_exchange(4, owners_in_turn({0, 3}, 3), late, 0);
  EXPECT_EQ(exchange.end, 50u + 3 - 1 + 2);  // as after one late rank: the first one has contributed by then
}

}  // namespace
}  // namespace convene::patterns
