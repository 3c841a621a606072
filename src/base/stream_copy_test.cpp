// SPDX-License-Identifier: BSD-3-Clause
#include "base/stream_copy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace convene::base {
namespace {

TEST(SharedCopy, CopiesThatAndNothingElse) {
  constexpr std::size_t page = 4096, source = 3;
  std::vector<unsigned char> memory(16 * page), expected;
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 7 + i / 256);
  using Copy = void (*)(void*, const void*, std::size_t);
  const Copy streaming = [](void* to, const void* from, std::size_t bytes) {
    copy_into_shared(to, from, bytes, true);
  };
  const Copy storing = [](void* to, const void* from, std::size_t bytes) {
    copy_into_shared(to, from, bytes, false);
  };
  for (const Copy copy : {Copy(copy_bytes), streaming, storing})
    for (const std::size_t bytes : {0, 1, 63, 1023, 1024, 1025, 1087, 4096, 8191, 16384, 20001})
      for (const std::size_t behind : {0, 1, 16, 63, 64, 2048, 4095}) {  // offsets within a page: string
                                                                         // copies would be slow at 1 to 63
        std::vector<unsigned char> to = memory;
        expected = memory;
        const std::size_t target = source + 8 * page + behind;
        std::memcpy(expected.data() + target, memory.data() + source, bytes);
        copy(to.data() + target, to.data() + source, bytes);
        EXPECT_EQ(to, expected) << bytes << " bytes, " << behind << " behind";
      }
}

#ifdef CONVENE_HAS_STRING_COPY
TEST(SharedCopy, KnowsWhatWouldCrawl) {
  alignas(64) static char memory[3 * 4096];
  EXPECT_TRUE(string_copy::would_crawl(memory + 4096 + 16, memory));
  EXPECT_TRUE(string_copy::would_crawl(memory + 16, memory + 8192));
  EXPECT_FALSE(string_copy::would_crawl(memory + 4096, memory));
  EXPECT_FALSE(string_copy::would_crawl(memory, memory + 16));
  EXPECT_FALSE(string_copy::would_crawl(memory + 64, memory));
}
#endif

}  // namespace
}  // namespace convene::base
