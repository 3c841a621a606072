// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/platform_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/logp/hockney.hpp"
#include "model/logp/logfp.hpp"
#include "model/logp/loggp.hpp"
#include "model/logp/lognp.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {
namespace {

using testing::HasSubstr;

template <class Function>
std::string complaint(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr const char* good = R"({
  "name": "example", "machine": "node:2 socket:2 core:2", "assumed": ["G"],
  "simulate": {"anything": "of other rooms"},
  "model": {
    "time_unit": "us",
    "copy": {"fixed": 0.5, "per_byte": 0.001},
    "channels": [
      {"name": "cache", "within": "socket", "hockney": {"alpha": 1, "beta": 0.5},
       "taulop": {"o": 0.1, "L": {"1": [[0, 1], ["1KiB", 2]], "2": [[0, 1], ["1KiB", 3]]}}},
      {"name": "memory", "within": "node", "logfp": {"L": 1, "g": 3, "f": 2, "o_s": [[1, 2], [4, 1]], "o_r": 1},
       "plogp": {"L": 1, "o_s": 1, "o_r": 2, "g": [[0, 1], [10, 2]]}},
      {"name": "network", "loggp": {"L": 5, "o": 1, "g": 2, "G": 0.01, "S": "64KiB"},
       "lognp": {"transfers": [1, 5, 1]}}
    ]}})";

TEST(PlatformFile, IsReadIntoSecondsAndBytes) {
  const ModelPlatform platform = parse_model_platform(good, "file");
  ASSERT_EQ(platform.channels.size(), 3u);
  EXPECT_NEAR(at(platform.copy, 1000, 1), 1.5e-6, 1e-18);
  EXPECT_DOUBLE_EQ(platform.channels[0].get<Hockney>().beta, 5e-7);
  EXPECT_DOUBLE_EQ(platform.channels[0].get<TauLop>().L(512, 2), 2e-6);
  EXPECT_DOUBLE_EQ(platform.channels[1].get<LogfP>().send_overhead(4), 1e-6);
  EXPECT_DOUBLE_EQ(platform.channels[1].get<LogfP>().send_overhead(400), 1e-6);  // and no less
  EXPECT_DOUBLE_EQ(*platform.channels[2].get<LogGP>().synchronous_from, 65536);
  EXPECT_DOUBLE_EQ(platform.channels[2].get<LogGP>().recv_overhead, 1e-6);
  EXPECT_EQ(platform.channels[2].get<LogNP>().transfers.size(), 3u);
  EXPECT_FALSE(platform.channels[2].find<Hockney>());
}

TEST(PlatformFile, ChannelsFollowTheLevelsThatTwoRanksShare) {
  const ModelPlatform platform = parse_model_platform(good, "file");
  const Mapping mapping = Mapping::sequential(Machine::parse(platform.machine), 8);
  const ChannelMap channels(platform.channels, mapping);
  EXPECT_EQ(channels.between(0, 1), 0u);
  EXPECT_EQ(channels.between(1, 2), 1u);
  EXPECT_EQ(channels.between(3, 4), 2u);
  EXPECT_EQ(channels.unit(0, 3), 1u);
  EXPECT_EQ(channels.unit(2, 5), 1u);
  // In a machine without sockets no ranks share one.
  const Mapping flat = Mapping::sequential(Machine::parse("node:2 core:4"), 8);
  EXPECT_EQ(ChannelMap(platform.channels, flat).between(0, 1), 1u);
}

std::string replaced(const std::string& what, const std::string& with) {
  std::string text = good;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string refusal(const std::string& what, const std::string& with) {
  return complaint([&] { parse_model_platform(replaced(what, with), "FILE"); });
}

TEST(PlatformFile, ChannelsBehindThatOfANodeAreNetworks) {
  ModelPlatform platform = parse_model_platform(good, "file");
  EXPECT_EQ(network_channel(platform.channels), 2u);
  platform.channels[0].within = "node";
  platform.channels[1].within = "rack";
  EXPECT_EQ(network_channel(platform.channels), 1u);
  // In the network, messages to the same node contend.
  const Mapping mapping = Mapping::sequential(Machine::parse("rack:2 node:2 core:1"), 4);
  const ChannelMap channels(platform.channels, mapping);
  EXPECT_EQ(channels.between(0, 1), 1u);
  EXPECT_NE(channels.unit(1, 0), channels.unit(1, 1));
  platform.channels.resize(1);
  EXPECT_EQ(network_channel(platform.channels), 1u);
}

TEST(PlatformFile, CopiesAndReductionsMayContend) {
  const std::string line = R"("copy": {"fixed": 0.5, "per_byte": 0.001})";
  const std::string tables =
      R"("copy": {"1": 1, "3": 2}, "computation": {"1": [[0, 0], [8, 4]], "2": [[0, 0], [8, 6]]})";
  const ModelPlatform platform = parse_model_platform(replaced(line, tables), "file");
  EXPECT_NEAR(at(platform.copy, 10, 2), 1.5e-6, 1e-18);
  EXPECT_NEAR(at(*platform.computation, 4, 2), 3e-6, 1e-18);
  EXPECT_DOUBLE_EQ(at({}, 10, 2), 0);
  EXPECT_THAT(refusal(line, R"("copy": {"1": 1, "2": 0.5})"), HasSubstr("copy is larger for τ = 1"));
  EXPECT_THAT(refusal(line, R"("computation": {"2": 1})"), HasSubstr("model.computation lacks τ = 1"));
  EXPECT_THAT(refusal(line, R"("copy": {"fix": 1})"),
              HasSubstr("model.copy has the key 'fix', which is not a number of ranks τ"));
}

TEST(PlatformFile, WhatIsWrongIsSaidWithTheFieldsName) {
  EXPECT_THAT(refusal("{", ""), HasSubstr(": this is not JSON: "));
  EXPECT_THAT(refusal("\"us\"", "\"hours\""), HasSubstr("FILE: field model.time_unit is 'hours'"));
  EXPECT_THAT(refusal("\"time_unit\": \"us\",", ""), HasSubstr("FILE: field model lacks 'time_unit'"));
  EXPECT_THAT(refusal("\"alpha\": 1", "\"alpha\": -1"),
              HasSubstr("FILE: field model.channels[0].hockney.alpha is -1; it must be 0 or larger"));
  EXPECT_THAT(refusal("\"alpha\": 1", "\"alpha\": \"fast\""),
              HasSubstr("hockney.alpha is not a number: 'fast'"));
  EXPECT_THAT(refusal("\"alpha\": 1", "\"alpah\": 1"), HasSubstr("did you mean alpha?"));
  EXPECT_THAT(refusal("[10, 2]", "[10, 0.5]"), HasSubstr("channels[1].plogp.g decreases"));
  EXPECT_THAT(refusal("[[0, 1], [10, 2]]", "[[10, 1], [0, 2]]"),
              HasSubstr("plogp.g has a point at 0 after one"));
  EXPECT_THAT(refusal("[\"1KiB\", 3]", "[\"1KiB\", 1.5]"),
              HasSubstr("taulop.L is larger for τ = 1 than for τ = 2 at 1024 bytes"));
  EXPECT_THAT(refusal("\"1\": [[0", "\"3\": [[0"), HasSubstr("taulop.L lacks τ = 1"));
  EXPECT_THAT(refusal("\"within\": \"node\", ", ""), HasSubstr("field model.channels[1] lacks 'within'"));
  EXPECT_THAT(refusal("\"within\": \"node\"", "\"within\": \"nod\""),
              HasSubstr("channels[1].within is 'nod', which is not a level of the machine"));
  EXPECT_THAT(refusal("\"within\": \"socket\"", "\"within\": \"node\""),
              HasSubstr("channels[1].within is 'node', which is not a level of the machine"));
  EXPECT_THAT(refusal("\"2\": [[0", "\"01\": [[0"), HasSubstr("taulop.L has τ = 1 a second time"));
  EXPECT_THAT(refusal("\"2\": [[0", "\"2\\n\": [[0"),
              HasSubstr("taulop.L has the key '2\\x0a', which is not a number of ranks τ"));
  EXPECT_THAT(refusal("\"o\": 0.1,", "\"o\": 0.1, \"transport\": \"segments\","),
              HasSubstr("channels[0].taulop lacks 'segment'"));
  EXPECT_THAT(refusal("\"memory\"", "\"cache\""), HasSubstr("channels[1].name is 'cache' a second time"));
  EXPECT_THAT(refusal(R"("cache", "within": "socket")",
                      R"("a\nb", "within": "socket"}, {"name": "a\nb", "within": "node")"),
              HasSubstr(R"(channels[1].name is 'a\x0ab' a second time)"));
  EXPECT_THAT(refusal("\"f\": 2", "\"f\": 1.5"), HasSubstr("logfp.f is 1.5; it must be a whole number"));
  EXPECT_THAT(refusal("\"o\": 1,", "\"o\": 1, \"o_s\": 1,"),
              HasSubstr("loggp needs either o, or o_s and o_r"));
  EXPECT_THAT(refusal("\"o\": 0.1,", "\"o\": 0.1, \"L_sr\": {\"2\": 1},"),
              HasSubstr("taulop.L_sr lacks τ = 1"));
  EXPECT_THAT(refusal("\"o\": 0.1,", "\"o\": 0.1, \"L_sr\": {\"1\": 1},"),
              HasSubstr("taulop.L_sr is for a network"));
  EXPECT_THAT(refusal("\"model\": {", "\"model\": {\"packing\": [[0, 2], [8, 1]], "),
              HasSubstr("field model.packing decreases"));
  EXPECT_THAT(refusal("[\"G\"]", "5"), HasSubstr("field assumed is not a list"));
  EXPECT_EQ(refusal("[\"G\"]", "[]"), "");
  EXPECT_THAT(refusal("node:2 socket", "nod:2 socket"), HasSubstr("FILE: field machine is wrong"));
  EXPECT_THAT(refusal("\"o\": 0.1,", "\"o\": 0.1, \"transport\": \"rdma\","),
              HasSubstr("channels[0].taulop.transport is invalid here"));
  EXPECT_THAT(refusal("\"alpha\": 1", "\"alpha\": 1e999"), HasSubstr("out of range"));
  EXPECT_THAT(complaint([] { load_model_platform("/no/such/file"); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace convene::model
