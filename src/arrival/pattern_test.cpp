// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/pattern.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/error.hpp"

namespace convene::arrival {
namespace {

using Delays = std::vector<Nanoseconds>;
constexpr Nanoseconds ms = 1'000'000;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}
std::string error_of(std::string_view pattern) {
  return error_of([&] { Pattern::parse(pattern); });
}

Delays delays(std::string_view pattern, std::uint32_t procs, std::uint64_t seed = 0, std::uint64_t call = 0) {
  return Pattern::parse(pattern).delays(procs, seed, call);
}

/// One of every kind that needs no file.
const std::vector<std::string> samples = {
    "none",           "late:3:10ms",    "late:any:10ms",   "alternating:1s",
    "half:5ms",       "linear:7ms",     "permutation:7ms", "uniform:5ms",
    "normal:5ms:1ms", "gamma:2:1500us", "exponential:3ms", "bernoulli:0.25:10ms"};

TEST(Pattern, KnownSequences) {
  EXPECT_EQ(delays("none", 3), (Delays{0, 0, 0}));
  EXPECT_EQ(delays("late:3:10ms", 5), (Delays{0, 0, 0, 10 * ms, 0}));
  EXPECT_EQ(delays("alternating:2ms", 5), (Delays{0, 2 * ms, 0, 2 * ms, 0}));
  EXPECT_EQ(delays("half:2ms", 5), (Delays{0, 0, 0, 2 * ms, 2 * ms}));
  EXPECT_EQ(delays("linear:8ms", 5), (Delays{0, 2 * ms, 4 * ms, 6 * ms, 8 * ms}));
}

// The same numbers on every machine.
TEST(Pattern, GoldenNumbers) {
  EXPECT_EQ(delays("uniform:5ms", 4, 1, 2), (Delays{3838207, 2308823, 4353789, 3945531}));
  EXPECT_EQ(delays("normal:5ms:1ms", 4, 1, 2), (Delays{6552496, 5391286, 5015031, 3617933}));
  EXPECT_EQ(delays("gamma:0.5:5ms", 4, 1, 2), (Delays{839549, 2202585, 8370405, 799480}));
  EXPECT_EQ(delays("exponential:5ms", 4, 1, 2), (Delays{7297366, 3097296, 10230339, 7782005}));
  EXPECT_EQ(delays("bernoulli:0.5:5ms", 8, 1, 2), (Delays{0, 5 * ms, 0, 0, 0, 5 * ms, 5 * ms, 5 * ms}));
  EXPECT_EQ(delays("permutation:3ms", 4, 1, 2), (Delays{3 * ms, 1 * ms, 0, 2 * ms}));
  EXPECT_EQ(delays("late:any:3ms", 4, 1, 2), (Delays{0, 0, 3 * ms, 0}));
}

TEST(Pattern, SeedAndCallDecideAndNothingElse) {
  for (const std::string& text : samples) {
    EXPECT_EQ(delays(text, 8, 1, 2), delays(text, 8, 1, 2)) << text;
    if (text.starts_with("uniform") || text.starts_with("permutation")) {
      EXPECT_NE(delays(text, 8, 1, 2), delays(text, 8, 1, 3)) << text;
      EXPECT_NE(delays(text, 8, 1, 2), delays(text, 8, 2, 2)) << text;
    }
  }
}

TEST(Pattern, OneProcessAndNone) {
  for (const std::string& text : samples) {
    if (text == "late:3:10ms") continue;
    EXPECT_EQ(delays(text, 1).size(), 1u) << text;
    EXPECT_TRUE(delays(text, 0).empty()) << text;
  }
  EXPECT_EQ(delays("linear:8ms", 1), Delays{0});
  EXPECT_EQ(delays("late:any:8ms", 1), Delays{8 * ms});
}

struct Moments {
  double mean, deviation;
};
Moments moments(std::string_view pattern) {
  constexpr std::uint32_t many = 200'000;
  const Delays all = delays(pattern, many, 42);
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / many;
  double square = 0;
  for (const Nanoseconds each : all)
    square += (static_cast<double>(each) - mean) * (static_cast<double>(each) - mean);
  return {mean / ms, std::sqrt(square / many) / ms};
}
void expect_moments(std::string_view pattern, double mean, double deviation) {
  const Moments found = moments(pattern);
  EXPECT_NEAR(found.mean, mean, 0.02 * mean) << pattern;
  EXPECT_NEAR(found.deviation, deviation, 0.02 * deviation) << pattern;
}

TEST(Pattern, DistributionsHaveTheirMoments) {
  expect_moments("uniform:12ms", 6, 12 / std::sqrt(12));
  expect_moments("normal:50ms:4ms", 50, 4);
  expect_moments("gamma:4:3ms", 12, 6);
  expect_moments("gamma:0.5:8ms", 4, 8 * std::sqrt(0.5));
  expect_moments("exponential:7ms", 7, 7);
  expect_moments("bernoulli:0.2:10ms", 2, 4);
  expect_moments("linear:12ms", 6, 12 / std::sqrt(12));
}

TEST(Pattern, APermutationIsOneOfTheLinearPattern) {
  Delays mixed = delays("permutation:14ms", 8, 3, 1);
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, delays("linear:14ms", 8));
}

TEST(Pattern, AnyRankIsEachOneEquallyOften) {
  std::vector<int> late(5, 0);
  for (std::uint64_t call = 0; call < 5000; ++call) {
    const Delays all = delays("late:any:1ms", 5, 9, call);
    ASSERT_EQ(std::count(all.begin(), all.end(), 1 * ms), 1);
    ++late[static_cast<std::size_t>(std::find(all.begin(), all.end(), 1 * ms) - all.begin())];
  }
  for (const int count : late) EXPECT_NEAR(count, 1000, 150);
}

TEST(Pattern, TextIsParsedBack) {
  for (const std::string& text : samples) {
    EXPECT_EQ(Pattern::parse(text).text(), text);
  }
}

TEST(Pattern, ErrorsSayWhatToWrite) {
  EXPECT_EQ(error_of("unifrom:5ms").substr(0, 69),
            "there is no arrival pattern 'unifrom'; did you mean uniform? Known: n");
  EXPECT_EQ(error_of("uniform"),
            "the arrival pattern 'uniform' lacks a parameter; give it as uniform:MAXIMUM");
  EXPECT_EQ(error_of("none:1ms"), "the arrival pattern 'none:1ms' has more than its name; give it as none");
  EXPECT_EQ(
      error_of("uniform:1ms:2ms"),
      "the arrival pattern 'uniform:1ms:2ms' has more than its one parameter; give it as uniform:MAXIMUM");
  EXPECT_EQ(error_of("late:x:1ms"),
            "the arrival pattern 'late:x:1ms' has an invalid rank 'x'; give it as late:RANK:DELAY");
  EXPECT_EQ(error_of("uniform:5"),
            "the arrival pattern 'uniform:5' has an invalid delay: '5' is not a time: the unit is missing; "
            "give it as in "
            "5ms, 1.5s, 200us or 80ns; give it as uniform:MAXIMUM");
  EXPECT_EQ(error_of("bernoulli:2:1ms"),
            "the arrival pattern 'bernoulli:2:1ms' needs a probability from 0 to 1, not '2'; give it as "
            "bernoulli:PROBABILITY:DELAY");
  EXPECT_NE(error_of("bernoulli:nan:1ms").find("needs a probability"), std::string::npos);
  EXPECT_NE(error_of("gamma:0:1ms").find("needs a shape"), std::string::npos);
  EXPECT_NE(error_of("uniform:nanms").find("is not a time"), std::string::npos);
  EXPECT_NE(error_of("uniform:-1ms").find("is not a time"), std::string::npos);
  EXPECT_NE(error_of("trace:").find("names no file"), std::string::npos);
  EXPECT_NE(error_of("trace:/no/such/file").find("cannot be read"), std::string::npos);
  EXPECT_NE(error_of("trace:" + testing::TempDir()).find("cannot be read"), std::string::npos);
  EXPECT_EQ(error_of([] { delays("late:3:1ms", 3); }),
            "the arrival pattern 'late:3:1ms' names rank 3, which is out of range (3 processes); name a "
            "smaller rank, or any");
}

std::string temporary_file() {
  return (std::filesystem::path(testing::TempDir()) / "arrival_pattern_test.trace").string();
}

TEST(Pattern, TraceGoesRoundItsLines) {
  const std::string path = temporary_file();
  std::ofstream(path) << "# two calls\n0, 5ms 0.001\n\n1us 0 0 # the second\n";
  const std::string text = "trace:" + path;
  EXPECT_EQ(Pattern::parse(text).text(), text);
  EXPECT_EQ(Pattern::parse(text).period(), 2);
  EXPECT_EQ(delays(text, 3, 7, 0), (Delays{0, 5 * ms, 1 * ms}));
  EXPECT_EQ(delays(text, 3, 7, 1), (Delays{1000, 0, 0}));
  EXPECT_EQ(delays(text, 3, 7, 4), (Delays{0, 5 * ms, 1 * ms}));
  EXPECT_NE(error_of([&] { delays(text, 4); }).find("has 3 processes, not 4"), std::string::npos);
}

TEST(Pattern, ATraceNeedNotBeAFile) {
  const auto read = [](const std::string& name) { return Trace::parse("0 5ms\n", name); };
  const Pattern pattern = Pattern::parse("trace:given", read);
  EXPECT_EQ(pattern.text(), "trace:given");
  EXPECT_EQ(pattern.delays(2), (Delays{0, 5 * ms}));
}

TEST(Pattern, PeriodIsWhenDelaysComeAgain) {
  const auto period = [](std::string_view text) { return Pattern::parse(text).period(); };
  for (const auto* text : {"none", "late:1:5ms", "alternating:5ms", "half:5ms", "linear:5ms"})
    EXPECT_EQ(period(text), 1) << text;
  for (const auto* text : {"late:any:5ms", "permutation:5ms", "uniform:5ms", "bernoulli:0.5:5ms"})
    EXPECT_EQ(period(text), 0) << text;
}

TEST(Trace, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return error_of([&] { Trace::parse(text, "a.trace"); }); };
  EXPECT_EQ(error(""),
            "a.trace has no values; write one line for each call, with one value for each process");
  EXPECT_EQ(error("# nothing\n"), error(""));
  EXPECT_EQ(error("0 1\n0\n"),
            "a.trace, line 2: there are 1 values, but 2 in the lines before; each line needs one value for "
            "each process");
  EXPECT_EQ(error("0 1\n\n0 x\n"),
            "a.trace, line 3: 'x' is not a time; give it as in 5ms, 1.5s, 200us or 80ns");
  EXPECT_NE(error("nan").find("line 1: 'nan' is not a time"), std::string::npos);
  EXPECT_NE(error("-1").find("line 1: '-1' is not a time"), std::string::npos);
  EXPECT_NE(error("1e400s").find("not a time"), std::string::npos);
}

TEST(Trace, IsWrittenAndReadBack) {
  const Trace trace({{0, 1, 1'500'000'000}, {longest_duration, 2, 3}});
  EXPECT_EQ(Trace::parse(trace.text()).calls(), trace.calls());
  trace.write(temporary_file());
  EXPECT_EQ(Trace::read(temporary_file()).calls(), trace.calls());
  EXPECT_THROW(trace.write("/no/such/folder/a.trace"), Error);
}

RC_GTEST_PROP(Trace, TextIsParsedBack, ()) {
  const auto procs = *rc::gen::inRange<std::size_t>(1, 6);
  const auto line = rc::gen::container<Delays>(procs, rc::gen::inRange<Nanoseconds>(0, longest_duration));
  const auto calls = *rc::gen::nonEmpty(rc::gen::container<std::vector<Delays>>(line));
  RC_ASSERT(Trace::parse(Trace(calls).text()).calls() == calls);
}

RC_GTEST_PROP(PatternFuzz, AnyTextIsAPatternOrAnError, (const std::string& text)) {
  try {
    Pattern::parse(text);
  } catch (const Error&) {
  }
}

// Texts with a valid beginning.
RC_GTEST_PROP(PatternFuzz, BrokenPatterns, ()) {
  std::string text = *rc::gen::elementOf(samples);
  for (int i = *rc::gen::inRange(1, 4); i > 0 && !text.empty(); --i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, *rc::gen::elementOf(std::string("0159.:-en mxs")));
        break;
      default:
        text[at] = *rc::gen::arbitrary<char>();
    }
  }
  if (text.starts_with("trace")) return;
  try {
    const Pattern pattern = Pattern::parse(text);
    for (const Nanoseconds each : pattern.delays(4)) RC_ASSERT(each >= 0 && each <= longest_duration);
    RC_ASSERT(Pattern::parse(pattern.text()).delays(4) == pattern.delays(4));
  } catch (const Error&) {
  }
}

RC_GTEST_PROP(TraceFuzz, AnyBytesAreATraceOrAnError, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::weightedOneOf<char>(
      {{6, rc::gen::elementOf(std::string("0123456789.,# \n\tmsun"))}, {1, rc::gen::arbitrary<char>()}}));
  try {
    const Trace trace = Trace::parse(text);
    RC_ASSERT(Trace::parse(trace.text()).calls() == trace.calls());
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace convene::arrival
