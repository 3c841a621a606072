// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/simgrid.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene::simulate {
namespace {

constexpr const char* text = R"({
  "convene_platform": 1, "name": "a & b", "machine": "node:2 core:2",
  "within": {"node": {"latency": 3e-7, "bandwidth": 5e9}},
  "network": {"shape": "one_switch", "node": {"latency": 1e-6, "bandwidth": 1e9}}})";

std::size_t count(const std::string& whole, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) ++found;
  return found;
}

TEST(SimGrid, APlatformHasAHostPerRankAndARoutePerPair) {
  const SimulatedPlatform platform = parse_simulated_platform(text, "p.json");
  const std::string xml = simgrid_platform(platform, seat(platform, "sequential", 4));
  EXPECT_EQ(count(xml, "<host "), 4u);
  EXPECT_EQ(count(xml, "<route "), 12u);
  EXPECT_EQ(count(xml, "a &amp; b"), 1u);
  // Between nodes: one link out, one in, each with its latency.
  EXPECT_NE(xml.find("<route src=\"r0\" dst=\"r2\" symmetrical=\"NO\"><link_ctn id=\"node 0 out\"/>"
                     "<link_ctn id=\"node 1 in\"/></route>"),
            std::string::npos)
      << xml;
  EXPECT_EQ(
      count(xml,
            "id=\"node 0 out\" bandwidth=\"1000000000Bps\" latency=\"1e-06s\" sharing_policy=\"SHARED\""),
      1u)
      << xml;
  EXPECT_EQ(count(xml, "FATPIPE"), 0u) << xml;
}

TEST(SimGrid, LinksThatAreNotSharedAreOneOfTheirOwn) {
  SimulatedPlatform platform = parse_simulated_platform(text, "p.json");
  platform.network.node.shared = Shared::no;
  const std::string xml = simgrid_platform(platform, seat(platform, "sequential", 4));
  EXPECT_EQ(count(xml, "symmetrical=\"NO\"><link_ctn id=\"way 1\"/></route>"), 8u) << xml;
  EXPECT_EQ(
      count(xml,
            "<link id=\"way 1\" bandwidth=\"1000000000Bps\" latency=\"2e-06s\" sharing_policy=\"FATPIPE\"/>"),
      1u)
      << xml;
}

TEST(SimGrid, TooManyRanksAreRefused) {
  const SimulatedPlatform platform = parse_simulated_platform(text, "p.json");
  EXPECT_THROW(simgrid_platform(platform, seat(platform, "sequential", 513)), Error);
}

}  // namespace
}  // namespace convene::simulate
