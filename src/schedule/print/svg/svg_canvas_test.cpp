// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/svg_canvas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace convene::schedule::svg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(SvgCanvas, NumbersHaveAtMostOneDecimal) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(3), "3");
  EXPECT_EQ(number(2.25), "2.3");
  EXPECT_EQ(number(-0.04), "0");
  EXPECT_EQ(number(-1.26), "-1.3");
}

TEST(SvgCanvas, EscapesReservedCharacters) {
  EXPECT_EQ(escaped("a<b & \"c\">d"), "a&lt;b &amp; &quot;c&quot;&gt;d");
}

TEST(SvgCanvas, WidthGrowsWithTextAndSize) {
  EXPECT_EQ(text_width("", 10), 0);
  EXPECT_GT(text_width("round 10", 10), text_width("round 1", 10));
  EXPECT_DOUBLE_EQ(text_width("abc", 20), 2 * text_width("abc", 10));
  EXPECT_DOUBLE_EQ(text_width("Σ", 10), text_width("×", 10));  // one character of two bytes
}

TEST(SvgCanvas, WidthsAreThoseOfTheWidestCommonFont) {
  EXPECT_NEAR(text_width("8 messages", 10), 59.6, 0.1);
  EXPECT_NEAR(bold_width("Round 0", 12), 55.7, 0.1);
  EXPECT_NEAR(bold_width("Round 12", 12), 64.1, 0.1);
}

TEST(SvgCanvas, LinesBreakAtTheirSeparator) {
  const TextStyle style{.size = 10};
  const double width = text_width("8 ranks · 3 rounds", 10) + 0.01;
  EXPECT_THAT(in_lines("8 ranks · 3 rounds · 8 blocks", width, style, " · "),
              ElementsAre("8 ranks · 3 rounds", "8 blocks"));
  EXPECT_THAT(in_lines("8 ranks · 3 rounds", width - 1, style, " · "), ElementsAre("8 ranks", "3 rounds"));
  EXPECT_THAT(in_lines("a_long_name b c", 12, style), ElementsAre("a_long_name", "b", "c"));
  EXPECT_THAT(in_lines("WW WW", text_width("WW WW", 10), {.size = 10, .bold = true}),
              ElementsAre("WW", "WW"));
  EXPECT_THAT(in_lines("", 12, style), ElementsAre(""));
}

TEST(SvgCanvas, HuesDiffer) {
  std::set<std::string> colours;
  for (unsigned i = 0; i < 16; ++i) {
    const Hue one = hue(i, 16);
    for (const std::string& colour : {one.full, one.light, one.line}) {
      EXPECT_THAT(colour, MatchesRegex("#[0-9a-f]{6}"));
      colours.insert(colour);
    }
  }
  EXPECT_EQ(colours.size(), 48u);
}

TEST(SvgCanvas, OverlapIsTheCommonArea) {
  const Box box{0, 0, 4, 3};
  EXPECT_EQ(box.overlap({2, 1, 10, 10}), 4);
  EXPECT_EQ(box.overlap({4, 0, 1, 1}), 0);
  EXPECT_EQ(box.overlap({-1, -1, 1, 1}), 0);
}

TEST(SvgCanvas, WritesElementsInOrder) {
  Canvas canvas;
  canvas.rectangle({1, 2, 3, 4}, "red", {.colour = "blue", .width = 2, .dashes = "1 2"}, 5);
  canvas.text(1, 2, "a & b", {.size = 8, .anchor = "end", .bold = true});
  const std::string document = canvas.document(10, 20, "title", "<description>");
  EXPECT_THAT(document, HasSubstr("<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" rx=\"5\" fill=\"red\" "
                                  "stroke=\"blue\" stroke-width=\"2\" stroke-dasharray=\"1 2\"/>\n<text"));
  EXPECT_THAT(document, HasSubstr("text-anchor=\"end\" font-weight=\"bold\">a &amp; b</text>"));
  EXPECT_THAT(document, HasSubstr("viewBox=\"0 0 10 20\""));
  EXPECT_THAT(document, HasSubstr("<desc>&lt;description&gt;</desc>"));
}

}  // namespace
}  // namespace convene::schedule::svg
