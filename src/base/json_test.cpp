// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace convene::base {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string nested(std::size_t depth) {
  std::string text(depth, '[');
  return text.append(depth, ']');
}

TEST(Json, LimitsDepth) {
  EXPECT_EQ(error_of(nested(json_depth)), "");
  EXPECT_EQ(error_of(nested(json_depth + 1)),
            "x.json:1: this is nested too deeply; at most 64 levels are read");
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":\n";
  EXPECT_EQ(error_of(objects), "x.json:65: this is nested too deeply; at most 64 levels are read");
}

TEST(Json, NumbersHaveTheirValue) {
  const JsonValue list = parse_json("[1, -2, 2.5, 1e3, 18446744073709551615]", "x.json");
  const double wanted[] = {1, -2, 2.5, 1000, 18446744073709551615.0};
  for (std::size_t i = 0; i < list.items.size(); ++i) EXPECT_EQ(list.items[i].number, wanted[i]);
  EXPECT_EQ(list.items[4].whole, 18446744073709551615u);
  EXPECT_EQ(error_of("[1,\n1e999]"), "x.json:2: this number is out of range");
}

TEST(Json, RefusesNul) {
  using namespace std::string_literals;
  EXPECT_EQ(error_of("[1,\n2]\n\0"s), "x.json:2: this is not JSON: a NUL byte");
  EXPECT_EQ(error_of("[1\0]"s), "x.json:1: this is not JSON: a NUL byte");
}

TEST(Json, RefusesWhatIsNoText) {
  EXPECT_TRUE(error_of("\"\xff\"").starts_with("x.json:1: this is not JSON: ")) << error_of("\"\xff\"");
  EXPECT_TRUE(error_of("\"\\ud800\"").starts_with("x.json:1: this is not JSON: "));
  EXPECT_EQ(error_of("{\"a\": 1,\n \"a\": 2}"), "x.json:2: the name 'a' is given twice; leave one out");
}

RC_GTEST_PROP(Json, LinesAreTrue, ()) {
  // A list of values with any number of line ends between them: each must know the line where it was put.
  const auto gaps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  const char* const values[] = {"1", "-2", "2.5", "true", "null", "\"x\"", "[]", "{\"a\":\n1}"};
  std::string text = "[0";
  std::vector<unsigned> lines{1};
  unsigned line = 1;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const std::string before(static_cast<std::size_t>(gaps[i]), '\n');
    text += before + ",";
    line += static_cast<unsigned>(gaps[i]);
    text += values[i % 8];
    lines.push_back(line);
    if (i % 8 == 7) ++line;
  }
  const JsonValue list = parse_json(text + "]", "x");
  RC_ASSERT(list.items.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) RC_ASSERT(list.items[i].line == lines[i]);
}

}  // namespace
}  // namespace convene::base
