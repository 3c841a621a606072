// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/print_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "schedule/print/svg/svg_arrows.hpp"
#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ring_picture(Rank procs, const SvgOptions& options = {}) {
  return to_svg(ring_plan(procs), {.collective = "allgather", .algorithm = "ring", .procs = procs},
                ring_contract(procs), options);
}

constexpr std::string_view entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

/// Empty if a text is well-formed XML of the kind that the printer writes, else the fault.
std::string xml_fault(std::string_view text) {
  std::vector<std::string> open;
  if (!text.starts_with("<?xml ")) return "no declaration";
  text.remove_prefix(text.find("?>") + 2);
  while (!text.empty()) {
    const std::size_t tag = text.find('<');
    const std::string_view between = text.substr(0, tag);
    if (between.find('>') != between.npos) return "a > between elements";
    for (std::size_t at = between.find('&'); at != between.npos; at = between.find('&', at + 1))
      if (std::none_of(std::begin(entities), std::end(entities),
                       [&](std::string_view known) { return between.substr(at).starts_with(known); }))
        return "an & that begins no entity";
    if (open.empty() && between.find_first_not_of(" \n") != between.npos)
      return "text outside of the document";
    if (tag == text.npos) break;
    const std::size_t end = text.find('>', tag);
    if (end == text.npos) return "an element without an end";
    const std::string_view inside = text.substr(tag + 1, end - tag - 1);
    const std::string name(inside.substr(0, inside.find_first_of(" /")));
    if (std::count(inside.begin(), inside.end(), '"') % 2 || inside.find('<') != inside.npos)
      return "quotes in " + name;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "an end of " + std::string(inside);
      open.pop_back();
    } else if (!inside.ends_with('/')) {
      open.push_back(name);
    }
    text.remove_prefix(end + 1);
  }
  return open.empty() ? "" : "no end of " + open.back();
}

TEST(XmlFault, FindsFaults) {
  EXPECT_EQ(xml_fault("<?xml ?><a b=\"1\"><c/>x &amp; y</a>\n"), "");
  for (const char* bad : {"<a/>", "<?xml ?><a>", "<?xml ?><a></b>", "<?xml ?><a>x & y</a>",
                          "<?xml ?><a b=\"1/>", "<?xml ?><a/>x", "<?xml ?><a>x > y</a>"})
    EXPECT_NE(xml_fault(bad), "") << bad;
}

TEST(Svg, IsWellFormedAndAlwaysTheSame) {
  for (Rank procs : {1u, 2u, 3u, 8u, 17u, 33u, 40u}) {
    SvgOptions options{.rings = procs % 2 == 0};
    if (procs > 2)
      for (Rank rank = 0; rank < procs; ++rank) options.node_of_rank.push_back(rank % 3);
    if (procs > 30) options.rounds = {0, 7};
    const std::string picture = ring_picture(procs, options);
    EXPECT_EQ(xml_fault(picture), "") << procs;
    EXPECT_EQ(picture, ring_picture(procs, options)) << procs;
  }
}

TEST(Svg, EscapesWhatItIsGiven) {
  const PlanInfo info{.collective = "a<b", .algorithm = "c&\"d\"", .procs = 2, .parameters = {{"x", ">1"}}};
  const std::string picture = to_svg(ring_plan(2), info, ring_contract(2));
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_THAT(picture, HasSubstr("a&lt;b: c&amp;&quot;d&quot;"));
  EXPECT_THAT(picture, HasSubstr("x=&gt;1"));
}

TEST(Svg, CountsWhatCrossesNodes) {
  const std::string picture = ring_picture(6, {.node_of_rank = {0, 0, 0, 1, 1, 1}});
  EXPECT_THAT(
      picture,
      HasSubstr("6 processes · 5 rounds · 30 messages · 30 blocks · between nodes: 10 messages, 10 blocks"));
  EXPECT_THAT(picture, HasSubstr("between nodes: 2 messages, 2 blocks"));
  EXPECT_THAT(picture, HasSubstr(">node 1<"));
  EXPECT_THAT(ring_picture(6), Not(HasSubstr("node")));
}

TEST(Svg, NamesTheRings) {
  EXPECT_THAT(ring_picture(6, {.rings = true}), HasSubstr(">1 ring of 6 ranks<"));
  EXPECT_THAT(ring_picture(6), Not(HasSubstr("ring of")));
}

TEST(Svg, DrawsOnlyTheWantedRounds) {
  const std::string picture = ring_picture(6, {.rounds = {1, 3}});
  EXPECT_THAT(picture, HasSubstr(">Round 1<"));
  EXPECT_THAT(picture, HasSubstr(">Round 3<"));
  EXPECT_THAT(picture, Not(HasSubstr(">Round 0<")));
}

TEST(Svg, SaysWhatIsTooMuch) {
  const auto why = [](Rank procs, const SvgOptions& options) -> std::string {
    try {
      ring_picture(procs, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why(65, {}),
            "a picture supports at most 64 processes, not 65; use fewer processes, or --format text or json");
  EXPECT_THAT(why(64, {}), HasSubstr("63 rounds of 64 processes has 258048 cells"));
  EXPECT_EQ(why(64, {.rounds = {0, 62}}), "");
  EXPECT_EQ(why(4, {.rounds = {3}}), "round 3 is out of range; this plan has 3 rounds, counted from 0");
  EXPECT_EQ(why(4, {.node_of_rank = {0, 1}}),
            "the mapping places 2 ranks, but the plan has 4; use equal numbers");
}

TEST(Svg, LabelsNeverCoverEachOther) {
  for (Rank procs : {4u, 8u, 13u, 16u})
    for (Rank distance = 1; distance < procs; ++distance) {
      std::vector<Arrow> arrows;
      std::vector<double> x;
      std::vector<std::vector<std::string>> labels(1);
      for (Rank rank = 0; rank < procs; ++rank) {
        arrows.push_back({rank, (rank + distance) % procs, 1, {}});
        x.push_back(20 + 36.0 * rank);
        labels[0].push_back("0-3,8");
      }
      const svg::ArrowLayout layout = svg::lay_out_arrows(arrows, x, 36, labels);
      ASSERT_EQ(layout.label_level, 0u) << procs << " ranks, distance " << distance;
      for (std::size_t i = 0; i < layout.curves.size(); ++i) {
        const svg::Curve& curve = layout.curves[i];
        EXPECT_GT(curve.label.y, 0) << "a label on the columns";
        EXPECT_LE(curve.label.y + curve.label.height, curve.above ? layout.above : layout.below);
        for (std::size_t j = 0; j < i; ++j)
          if (layout.curves[j].above == curve.above) {
            EXPECT_EQ(curve.label.overlap(layout.curves[j].label), 0);
          }
      }
    }
}

TEST(Svg, ShorterLabelsWhereLongOnesHaveNoRoom) {
  const std::vector<Arrow> arrows = {{0, 1, 1, {}}, {1, 2, 1, {}}};
  const std::vector<double> x = {10, 30, 50};
  const std::vector<std::vector<std::string>> labels = {{"0,2,4,6,8", "1,3,5,7,9"}, {"×5", "×5"}};
  EXPECT_EQ(svg::lay_out_arrows(arrows, x, 20, labels).label_level, 1u);
}

/// The width that a picture declares.
double width_of(const std::string& picture) {
  const std::string_view key = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
  return std::stod(picture.substr(picture.find(key) + key.size()));
}

TEST(Svg, RowsOfRoundsFitIntoTheWantedWidth) {
  for (Rank procs : {2u, 5u, 8u, 13u, 16u})
    for (double wanted : {400.0, 720.0, 1300.0, 2000.0}) {
      const std::string picture = ring_picture(procs, {.width = wanted});
      EXPECT_LE(width_of(picture), wanted) << procs;
      EXPECT_EQ(xml_fault(picture), "") << procs;
    }
  EXPECT_GT(width_of(ring_picture(16)), 1000);
  EXPECT_LT(width_of(ring_picture(40, {.rounds = {0}, .width = 400})), 600) << "one round is never divided";
}

TEST(Svg, Golden) {
  EXPECT_EQ(ring_picture(2), R"svg(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="299.9" height="318.5" viewBox="0 0 299.9 318.5" style="--width:299.9px;max-width:100%;height:auto" role="img" font-family="Helvetica, Arial, sans-serif" text-anchor="middle">
<title>allgather: ring</title>
<desc>2 processes · 1 round · 2 messages · 2 blocks</desc>
<rect width="299.9" height="318.5" fill="#ffffff"/>
<text x="16" y="29" font-size="16" fill="#1f2937" text-anchor="start" font-weight="bold">allgather: ring</text>
<text x="16" y="46" font-size="11" fill="#6b7280" text-anchor="start">2 processes · 1 round · 2 messages · 2 blocks</text>
<text x="42" y="75" text-anchor="start"><tspan font-size="12" fill="#1f2937" font-weight="bold">Round 0</tspan><tspan dx="10" font-size="10" fill="#6b7280">2 messages, 2 blocks</tspan></text>
<text x="37" y="115.3" font-size="8" fill="#6b7280" text-anchor="end">rank</text>
<text x="37" y="138" font-size="9" fill="#6b7280" text-anchor="end">0</text>
<text x="37" y="156" font-size="9" fill="#6b7280" text-anchor="end">1</text>
<path d="M43 126.8h32v16h-32z" fill="#ffe4e1" stroke="#d9dce1" stroke-width="0.6"/>
<path d="M77 144.8h32v16h-32z" fill="#d3f4f8" stroke="#d9dce1" stroke-width="0.6"/>
<path d="M77 126.8h32v16h-32z" fill="#ff9d95" stroke="#1f2937" stroke-width="1.4"/>
<path d="M43 144.8h32v16h-32z" fill="#39d4e4" stroke="#1f2937" stroke-width="1.4"/>
<text x="59" y="138.4" font-size="10" fill="#6b7280">0</text>
<text x="59" y="156.4" font-size="10" fill="#1f2937" font-weight="bold">1</text>
<text x="93" y="138.4" font-size="10" fill="#1f2937" font-weight="bold">0</text>
<text x="93" y="156.4" font-size="10" fill="#6b7280">1</text>
<circle cx="59" cy="112.3" r="8.5" fill="#ff9d95" stroke="#1f2937" stroke-width="0.9"/>
<text x="59" y="115.9" font-size="10" fill="#1f2937" font-weight="bold">0</text>
<circle cx="93" cy="112.3" r="8.5" fill="#39d4e4" stroke="#1f2937" stroke-width="0.9"/>
<text x="93" y="115.9" font-size="10" fill="#1f2937" font-weight="bold">1</text>
<circle cx="59" cy="175.3" r="8.5" fill="#ff9d95" stroke="#1f2937" stroke-width="0.9"/>
<text x="59" y="178.9" font-size="10" fill="#1f2937" font-weight="bold">0</text>
<circle cx="93" cy="175.3" r="8.5" fill="#39d4e4" stroke="#1f2937" stroke-width="0.9"/>
<text x="93" y="178.9" font-size="10" fill="#1f2937" font-weight="bold">1</text>
<path d="M65.5 102.8C65.5 82.8 86.5 82.8 86.5 98.5" fill="none" stroke="#1f2937" stroke-width="1"/>
<path d="M86.5 102.8L83.8 97.5L89.3 97.5Z" fill="#1f2937"/>
<path d="M86.5 184.8C86.5 204.8 65.5 204.8 65.5 189" fill="none" stroke="#1f2937" stroke-width="1"/>
<path d="M65.5 184.8L62.7 190L68.2 190Z" fill="#1f2937"/>
<rect x="70.8" y="82" width="10.4" height="11.5" fill="#ffe4e1"/>
<rect x="70.8" y="82" width="10.4" height="11.5" rx="1.5" fill="none" stroke="#1f2937" stroke-width="0.8"/>
<text x="76" y="90.8" font-size="8.5" fill="#1f2937">0</text>
<rect x="70.8" y="194" width="10.4" height="11.5" fill="#d3f4f8"/>
<rect x="70.8" y="194" width="10.4" height="11.5" rx="1.5" fill="none" stroke="#1f2937" stroke-width="0.8"/>
<text x="76" y="202.8" font-size="8.5" fill="#1f2937">1</text>
<rect x="16" y="228.5" width="24" height="14" fill="#ffe4e1" stroke="#d9dce1" stroke-width="0.6"/>
<text x="28" y="239" font-size="9.5" fill="#6b7280">0</text>
<text x="46" y="239" font-size="9.5" fill="#6b7280" text-anchor="start">block of rank 0, held before</text>
<rect x="16" y="248.5" width="24" height="14" fill="#ff9d95" stroke="#1f2937" stroke-width="1.4"/>
<text x="28" y="259" font-size="9.5" fill="#1f2937" font-weight="bold">0</text>
<text x="46" y="259" font-size="9.5" fill="#6b7280" text-anchor="start">arrives in this round</text>
<path d="M16 275.5L37 275.5" fill="none" stroke="#1f2937" stroke-width="1.1"/>
<path d="M42 275.5L35.5 272.3L35.5 278.7Z" fill="#1f2937"/>
<text x="48" y="279" font-size="9.5" fill="#6b7280" text-anchor="start">message and its blocks</text>
<text x="16" y="299" font-size="9.5" fill="#6b7280" text-anchor="start">columns: ranks, rows: places of the output</text>
</svg>
)svg");
}

}  // namespace
}  // namespace convene::schedule
