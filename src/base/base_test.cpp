// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::base {
namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Names, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("ring", ""), 4u);
  EXPECT_EQ(edit_distance("ring", "rung"), 1u);
  EXPECT_EQ(edit_distance("sparbti", "sparbit"), 1u);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

RC_GTEST_PROP(Names, DistanceIsAMetricWithinItsBounds, (const std::string& a, const std::string& b)) {
  const std::size_t distance = edit_distance(a, b);
  RC_ASSERT(distance == edit_distance(b, a));
  RC_ASSERT((distance == 0) == (a == b));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
}

TEST(Names, NearestFirst) {
  const std::string_view known[] = {"ring", "bruck", "sparbit", "recursive_doubling"};
  EXPECT_EQ(nearest("sparbti", known), std::vector<std::string_view>{"sparbit"});
  EXPECT_EQ(nearest("rec", known), std::vector<std::string_view>{"recursive_doubling"});
  EXPECT_TRUE(nearest("xyzzy", known).empty());
  EXPECT_TRUE(nearest("", known).empty());
}

TEST(Names, SentenceNamesTheValueAndTheNearest) {
  const std::string_view known[] = {"ring", "sparbit"};
  EXPECT_EQ(no_such("algorithm", "sparbti", known),
            "there is no algorithm 'sparbti'; did you mean sparbit? Known: ring, sparbit");
  EXPECT_EQ(no_such("algorithm", "xyzzy", known), "there is no algorithm 'xyzzy'; known: ring, sparbit");
}

RC_GTEST_PROP(Names, QuotesAreShortPrintableLines, (const std::string& text)) {
  const std::string quote = in_quotes(text);
  RC_ASSERT(quote.size() <= 2u + 3u + 4u * 60u);
  for (char c : quote) RC_ASSERT(c >= 0x20 && c < 0x7f);
}

TEST(Sizes, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("8"), 8u);
  EXPECT_EQ(parse_size("8B"), 8u);
  EXPECT_EQ(parse_size("4KiB"), 4096u);
  EXPECT_EQ(parse_size("4k"), 4096u);
  EXPECT_EQ(parse_size(" 1 MiB "), 1048576u);
  EXPECT_EQ(parse_size("3GiB"), 3ull << 30);
  EXPECT_EQ(parse_size("1.5KiB"), 1536u);
  EXPECT_EQ(parse_size("3.91 KiB"), 4004u);
  EXPECT_EQ(parse_size("0.000001TiB"), 1099512u);
}

TEST(Sizes, ErrorsNameTheValue) {
  EXPECT_EQ(error_of([] { parse_size("4KB"); }),
            "'4KB' is not a size: unknown unit 'KB'; give bytes as in 8, 4KiB or 1MiB");
  EXPECT_EQ(error_of([] { parse_size(""); }), "'' is not a size; give bytes as in 8, 4KiB or 1MiB");
  EXPECT_EQ(error_of([] { parse_size("-1"); }), "'-1' is not a size; give bytes as in 8, 4KiB or 1MiB");
  EXPECT_EQ(error_of([] { parse_size("1.5"); }),
            "'1.5' is not a size: bytes have no decimals; give bytes as in 8, 4KiB or 1MiB");
  EXPECT_EQ(error_of([] { parse_size("1.1234567MiB"); }),
            "'1.1234567MiB' is not a size: more than 6 decimals; give bytes as in 8, 4KiB or 1MiB");
  for (const char* text : {"1.KiB", ".5KiB", "1.2.3KiB", "."})
    EXPECT_EQ(error_of([text] { parse_size(text); }),
              in_quotes(text) + " is not a size; give bytes as in 8, 4KiB or 1MiB");
  EXPECT_EQ(parse_size("9007199254740991KiB"), (std::uint64_t{1} << 63) - 1024);
  EXPECT_NE(error_of([] { parse_size("9007199254740991.999999KiB"); }).find("too large"), std::string::npos);
  EXPECT_NE(error_of([] { parse_size("99999999999TiB"); }).find("too large"), std::string::npos);
  EXPECT_NE(error_of([] { parse_size("999999999999999999999"); }).find("too large"), std::string::npos);
}

TEST(Sizes, Ranges) {
  EXPECT_EQ(parse_size_range("8:1MiB").least, 8u);
  EXPECT_EQ(parse_size_range("8:1MiB").most, 1048576u);
  EXPECT_EQ(parse_size_range("4KiB").least, parse_size_range("4KiB").most);
  EXPECT_EQ(error_of([] { parse_size_range("1MiB:8"); }),
            "the range '1MiB:8' is empty; give the smaller size first, as in 8:1MiB");
}

TEST(Sizes, AreTextForPeople) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1000), "1000 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(1025), "1.00 KiB");
  EXPECT_EQ(format_size(4000), "3.91 KiB");
  EXPECT_EQ(format_size(4096), "4 KiB");
  EXPECT_EQ(format_size(4608), "4.5 KiB");
  EXPECT_EQ(format_size(16000), "15.6 KiB");
  EXPECT_EQ(format_size(65535), "64.0 KiB");
  EXPECT_EQ(format_size(65536), "64 KiB");
  EXPECT_EQ(format_size(100 * 1024), "100 KiB");
  EXPECT_EQ(format_size(1048575), "1.00 MiB");
  EXPECT_EQ(format_size(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(format_size(4'200'000'001), "3.91 GiB");
  EXPECT_EQ(format_size(3ull << 41), "6 TiB");
}

RC_GTEST_PROP(Sizes, TextIsParsedBack, ()) {
  const auto size = *rc::gen::inRange<std::uint64_t>(0, 10 * 1024) << 10 * *rc::gen::inRange(0, 4);
  const auto near = size + *rc::gen::inRange<std::uint64_t>(0, 200);
  const std::string text = format_size(near);
  const std::uint64_t read = parse_size(text);
  RC_ASSERT(std::max(read, near) - std::min(read, near) <= near / 200);
  if (text.find('.') == std::string::npos) RC_ASSERT(read == near);
  RC_ASSERT(parse_size(format_size(read)) == read);
}

RC_GTEST_PROP(Sizes, AnyTextIsASizeOrAnError, (const std::string& text)) {
  try {
    parse_size_range(text);
  } catch (const Error&) {
  }
}

TEST(Durations, AreWholeNanoseconds) {
  EXPECT_EQ(parse_duration("5ms"), 5'000'000);
  EXPECT_EQ(parse_duration(" 1.5 s "), 1'500'000'000);
  EXPECT_EQ(parse_duration("200us"), 200'000);
  EXPECT_EQ(parse_duration("0.4ns"), 0);
  EXPECT_EQ(parse_duration("999999999.999999999s"), longest_duration - 1);
  EXPECT_EQ(parse_duration("0"), 0);
  EXPECT_EQ(parse_duration("1000000000s"), longest_duration);
  EXPECT_EQ(format_duration(1500), "1500ns");
  EXPECT_EQ(format_duration(5'000'000), "5ms");
  EXPECT_EQ(format_duration(0), "0");
}

TEST(Durations, ErrorsNameTheValue) {
  const auto error = [](std::string_view text) { return error_of([&] { parse_duration(text); }); };
  const std::string advice = "; give it as in 5ms, 1.5s, 200us or 80ns";
  EXPECT_EQ(error("5"), "'5' is not a time: the unit is missing" + advice);
  EXPECT_EQ(error("5m"), "'5m' is not a time: unknown unit 'm'" + advice);
  for (const auto* text : {"", "-5ms", "-0", "nan", "inf", "nans", "ms", "+5ms", ".5ms", "1.2.3s", "1e3s"})
    EXPECT_EQ(error(text).find("'" + std::string(text) + "' is not a time"), 0u) << error(text);
  EXPECT_NE(error("1000000001s").find("too long"), std::string::npos);
  EXPECT_NE(error("1" + std::string(400, '0') + "s").find("too long"), std::string::npos);
}

RC_GTEST_PROP(Durations, FormatIsParsedBack, ()) {
  const auto duration = *rc::gen::inRange<Nanoseconds>(0, longest_duration);
  RC_ASSERT(parse_duration(format_duration(duration)) == duration);
}

}  // namespace
}  // namespace convene::base
