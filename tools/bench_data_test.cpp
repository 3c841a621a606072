// SPDX-License-Identifier: BSD-3-Clause
#include "bench_data.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>

namespace convene::bench {
namespace {

TEST(BlockCounts, HaveTheirMean) {
  for (const char* distribution : {"regular", "half_full", "linear"})
    for (const int procs : {2, 4, 8}) {
      const std::vector<int> counts = block_counts(distribution, procs, 840);
      ASSERT_EQ(counts.size(), static_cast<std::size_t>(procs));
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), procs * 840) << distribution << procs;
    }
  EXPECT_EQ(block_counts("broadcast", 4, 10), (std::vector<int>{10, 0, 0, 0}));
  EXPECT_EQ(block_counts("spike", 3, 10), (std::vector<int>{30, 15, 15}));
  EXPECT_EQ(block_counts("linear", 3, 10), (std::vector<int>{20, 10, 0}));
}

TEST(BlockCounts, OfOneProcessAreOneBlock) {
  for (const std::string& distribution : distributions())
    EXPECT_EQ(block_counts(distribution, 1, 12).size(), 1u) << distribution;
}

TEST(Content, OfABlockIsFoundAndNothingElse) {
  std::vector<std::uint8_t> bytes(200'000);
  const Content content = Content::of_block(3);
  content.write(bytes.data(), bytes.size());
  EXPECT_TRUE(content.is_in(bytes.data(), bytes.size()));
  EXPECT_FALSE(Content::of_block(4).is_in(bytes.data(), bytes.size()));
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    bytes[at] ^= 1;
    EXPECT_FALSE(content.is_in(bytes.data(), bytes.size())) << at;
    bytes[at] ^= 1;
  }
}

TEST(Content, CombinedIsWhatTheOperatorMakesOfAllRanks) {
  constexpr std::size_t items = 500;
  constexpr int last = 4;
  for (const std::size_t first : {std::size_t{0}, std::size_t{100}}) {
    std::vector<int> sum(items), most(items), one(items);
    for (int rank = 0; rank <= last; ++rank) {
      Content::of_rank("int", rank, first).write(reinterpret_cast<std::uint8_t*>(one.data()), items * 4);
      for (std::size_t i = 0; i < items; ++i) {
        sum[i] += one[i];
        most[i] = std::max(most[i], one[i]);
      }
    }
    const auto is = [&](const char* op, const std::vector<int>& values) {
      return Content::combined("int", op, last, first)
          .is_in(reinterpret_cast<const std::uint8_t*>(values.data()), items * 4);
    };
    EXPECT_TRUE(is("sum", sum));
    EXPECT_TRUE(is("max", most));
    EXPECT_FALSE(is("min", most));
  }
}

TEST(Data, RotatesBuffersThatDoNotFitTheCache) {
  CallTable calls{};
  calls.allgather = [](const void* input, int bytes, MPI_Datatype, void* output, int, MPI_Datatype,
                       MPI_Comm) {
    std::memcpy(output, input, static_cast<std::size_t>(bytes));
    return int{MPI_SUCCESS};
  };
  const auto buffers_of = [&](std::size_t bytes, bool rotates) {
    Data data(
        {.collective = Collective::allgather, .procs = 1, .rank = 0, .root = 0, .rotates_buffers = rotates},
        bytes);
    std::set<const void*> found;
    for (int i = 0; i < 6; ++i) {
      data.spoil();
      EXPECT_FALSE(data.is_right());
      data.call(calls, MPI_COMM_NULL);
      EXPECT_TRUE(data.is_right());
      found.insert(data.input());
    }
    return found.size();
  };
  constexpr std::size_t large = 8 << 20;
  EXPECT_EQ(buffers_of(large, true), 3u);
  EXPECT_EQ(buffers_of(large, false), 1u);
  EXPECT_EQ(buffers_of(64, true), 1u);
}

TEST(ItemTypes, AreKnownByName) {
  EXPECT_EQ(item_type("double").bytes, 8u);
  EXPECT_THROW(item_type("quad"), RequestError);
}

}  // namespace
}  // namespace convene::bench
