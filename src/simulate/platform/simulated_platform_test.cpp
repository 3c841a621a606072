// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/simulated_platform.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {
namespace {

constexpr std::string_view usual = R"({
  "convene_platform": 1, "name": "small", "machine": "node:4 socket:2 core:2",
  "within": {"node": {"latency": 3e-7, "bandwidth": 5e9}, "socket": {"latency": 2e-7, "bandwidth": 8e9}},
  "network": {"shape": "one_switch", "node": {"latency": 1e-6, "bandwidth": 1e9}},
  "processor": {"send": 1e-7, "recv": 2e-7, "copy": 3e-10},
  "gap": 4e-7, "eager": "64KiB", "rendezvous_handshake": false, "ports": 2})";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string complaint(const std::string& text) {
  try {
    parse_simulated_platform(text, "p.json");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Path way(const SimulatedPlatform& platform, std::uint32_t procs, std::uint32_t from, std::uint32_t to) {
  const Seating seating = seat(platform, "sequential", procs);
  Path path;
  SimulatedNetwork(platform, seating).find(from, to, path);
  return path;
}

TEST(SimulatedPlatform, IsReadWhole) {
  const SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  EXPECT_EQ(platform.name, "small");
  EXPECT_EQ(platform.machine.text(), "node:4 socket:2 core:2");
  ASSERT_EQ(platform.within.size(), 2u);
  EXPECT_EQ(platform.within[0].bandwidth, 5e9);
  EXPECT_EQ(platform.within[0].shared, Shared::both_ways);
  EXPECT_EQ(platform.within[1].latency, 2e-7);
  EXPECT_EQ(platform.network.node.shared, Shared::each_way);
  EXPECT_EQ(platform.cpu.send, 1e-7);
  EXPECT_EQ(platform.cpu.recv, 2e-7);
  EXPECT_EQ(platform.cpu.copy, 3e-10);
  EXPECT_EQ(platform.gap, 4e-7);
  EXPECT_EQ(platform.eager, 65536);
  EXPECT_FALSE(platform.rendezvous_handshake);
  EXPECT_EQ(platform.ports, 2u);
}

TEST(SimulatedPlatform, AsksIsTheOldNameOfTheHandshake) {
  const std::string text = replaced(std::string(usual), "\"rendezvous_handshake\"", "\"asks\"");
  EXPECT_FALSE(parse_simulated_platform(text, "p.json").rendezvous_handshake);
}

TEST(SimulatedPlatform, ErrorsNameFileAndField) {
  const std::string text(usual);
  EXPECT_TRUE(complaint("{").starts_with("p.json:1: this is not JSON: "));
  EXPECT_EQ(complaint("[]"), "p.json: a platform must be an object, not a list");
  EXPECT_EQ(complaint("{}"),
            "p.json: is not a platform file that this version reads: it lacks \"convene_platform\": 1");
  EXPECT_EQ(complaint(replaced(text, "\"bandwidth\": 1e9", "\"bandwidth\": 0")),
            "p.json: \"network.node.bandwidth\" must be a number above 0, not 0");
  EXPECT_EQ(complaint(replaced(text, "\"send\": 1e-7", "\"send\": -1")),
            "p.json: \"processor.send\" must be a number, 0 or larger, not -1");
  EXPECT_EQ(complaint(replaced(text, "\"64KiB\"", "\"much\"")).find("p.json: \"eager\" is not a size"), 0u);
  EXPECT_EQ(complaint(replaced(text, "\"one_switch\"", "\"tre\"")),
            "p.json: \"network.shape\" must be one of one_switch, tree, fat_tree, dragonfly, not 'tre'");
  EXPECT_EQ(
      complaint(replaced(text, "\"gap\"", "\"gab\"")).find("p.json: there is no field 'gab'; did you mean"),
      0u);
  EXPECT_EQ(complaint(replaced(text, "\"latency\": 3e-7", "\"latncy\": 3e-7"))
                .find("p.json: in \"within.node\": there is no field 'latncy'"),
            0u);
  EXPECT_EQ(complaint(replaced(text, "node:4", "nodes:4")).find("p.json: \"machine\": the machine"), 0u);
  EXPECT_EQ(complaint(replaced(text, "\"ports\": 2", "\"ports\": 1.5")),
            "p.json: \"ports\" must be a whole number from 0 to 16777216, not 1.5");
  EXPECT_EQ(complaint(replaced(text, "\"rendezvous_handshake\": false", "\"rendezvous_handshake\": 0")),
            "p.json: \"rendezvous_handshake\" must be true or false, not 0");
  EXPECT_EQ(complaint(replaced(text, "\"within\"", "\"note\"")), "p.json: \"within\" is missing");
}

TEST(SimulatedPlatform, RemarksAreTexts) {
  const std::string text(usual);
  const auto with = [&](std::string_view field) {
    return replaced(text, "\"eager\"", std::string(field) + ", \"eager\"");
  };
  EXPECT_EQ(complaint(with(R"("assumed": [], "note": "", "source": "a book")")), "");
  EXPECT_EQ(complaint(with(R"("assumed": 5)")), "p.json: \"assumed\" must be a list of texts, not 5");
  EXPECT_EQ(complaint(with(R"("assumed": ["all", 5])")),
            "p.json: \"assumed\" must be a list of texts, and 5 in it is not a text");
  EXPECT_EQ(complaint(with(R"("source": ["a book"])")), "p.json: \"source\" must be a text, not a list");
}

TEST(SimulatedPlatform, APartOfTheNetworkThatDoesNotFitIsNamed) {
  const std::string link = R"({"latency": 1e-6, "bandwidth": 1e9})";
  EXPECT_EQ(complaint(replaced(std::string(usual), R"("one_switch")",
                               R"("tree", "leaves": [1, 2], "uplink": )" + link)),
            "p.json: the counts of \"network.leaves\" make 3 nodes, but the machine has 4; make them agree");
  EXPECT_EQ(complaint(replaced(std::string(usual), R"("one_switch")",
                               R"("fat_tree", "down": [2, 2], "up": [1, 1], "uplink": )" + link)),
            "p.json: \"network.up\" has 2 counts; a fat tree with 2 in \"network.down\" needs 1, one for "
            "each level "
            "but the last");
  EXPECT_EQ(
      complaint(replaced(std::string(usual), R"("one_switch")", R"("tree", "leaves": 4, "uplink": )" + link)),
      "p.json: \"network.leaves\" must be a list of whole numbers, not 4");
  const std::string deep = R"("fat_tree", "down": [4,1,1,1,1,1,1,1,1], "up": [1,1,1,1,1,1,1,1], "uplink": )";
  EXPECT_EQ(complaint(replaced(std::string(usual), R"("one_switch")", deep + link)),
            "p.json: \"network.down\" has 9 levels; a fat tree has at most 8");
  EXPECT_EQ(complaint(replaced(std::string(usual), "\"bandwidth\": 1e9", "\"bandwidth\": 1e999")),
            "p.json:4: this number is out of range");
}

TEST(SimulatedNetwork, MessagesTakeTheInnermostUnitThatHasBothRanks) {
  const SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  EXPECT_EQ(way(platform, 16, 0, 1).latency, 2e-7);  // one socket
  EXPECT_EQ(way(platform, 16, 0, 2).latency, 3e-7);  // one node
  EXPECT_EQ(way(platform, 16, 0, 4).latency, 2e-6);  // two nodes
  EXPECT_EQ(way(platform, 16, 0, 1).count, 1u);
  EXPECT_NE(way(platform, 16, 0, 1).channels[0], way(platform, 16, 2, 3).channels[0]);
  EXPECT_EQ(way(platform, 16, 0, 1).channels[0], way(platform, 16, 1, 0).channels[0]);
  EXPECT_EQ(way(platform, 16, 0, 4).channels[0], way(platform, 16, 3, 12).channels[0]);  // both leave node 0
}

TEST(SimulatedNetwork, ATreeHasUplinksBetweenItsLeaves) {
  SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  platform.network.shape = NetworkShape::tree;
  platform.network.leaves = {1, 3};
  platform.network.uplink = {.latency = 5e-6, .bandwidth = 1e10};
  EXPECT_EQ(way(platform, 16, 4, 8).count, 2u);
  EXPECT_EQ(way(platform, 16, 0, 8).count, 4u);
  EXPECT_DOUBLE_EQ(way(platform, 16, 0, 8).latency, 2 * 1e-6 + 2 * 5e-6);
  EXPECT_EQ(way(platform, 16, 0, 8).channels[1], way(platform, 16, 0, 12).channels[1]);
}

TEST(SimulatedNetwork, AFatTreeChoosesUplinksByDestination) {
  SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  platform.network.shape = NetworkShape::fat_tree;
  platform.network.down = {2, 2};
  platform.network.up = {2};
  platform.network.uplink = {.latency = 5e-6, .bandwidth = 1e9};
  platform.validate();
  EXPECT_EQ(way(platform, 16, 0, 4).count, 2u);  // nodes 0 and 1: one switch
  EXPECT_EQ(way(platform, 16, 0, 8).count, 4u);  // nodes 0 and 2
  EXPECT_EQ(way(platform, 16, 0, 8).channels[1], way(platform, 16, 4, 8).channels[1]);
  EXPECT_NE(way(platform, 16, 0, 8).channels[1], way(platform, 16, 0, 12).channels[1]);
}

TEST(SimulatedNetwork, ADragonflyTakesAtMostThreeLinks) {
  SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  platform.machine = Machine::parse("node:18 core:1");
  platform.within = {Link{}};
  platform.network.shape = NetworkShape::dragonfly;
  platform.network.groups = 3;
  platform.network.routers = 3;
  platform.network.nodes_per_router = 2;
  platform.network.local = platform.network.global = {.latency = 1e-6, .bandwidth = 1e9};
  platform.validate();
  EXPECT_EQ(way(platform, 18, 0, 1).count, 2u);  // one router
  EXPECT_EQ(way(platform, 18, 0, 2).count, 3u);  // two routers of a group
  // Group 0's link to group 1 leaves from its router 1 (nodes 2, 3) and ends at group 1's router 0 (nodes 6,
  // 7).
  EXPECT_EQ(way(platform, 18, 2, 6).count, 3u);
  EXPECT_EQ(way(platform, 18, 0, 6).count, 4u);
  EXPECT_EQ(way(platform, 18, 0, 8).count, 5u);
}

TEST(SimulatedNetwork, NamesItsChannels) {
  const SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  const Seating seating = seat(platform, "sequential", 16);
  const SimulatedNetwork network(platform, seating);
  Path path;
  network.find(0, 15, path);
  ASSERT_EQ(path.count, 2u);
  EXPECT_EQ(network.name(path.channels[0]), "node 0 out");
  EXPECT_EQ(network.name(path.channels[1]), "node 3 in");
  network.find(14, 15, path);
  EXPECT_EQ(network.name(path.channels[0]), "within socket 7");
}

TEST(Seating, RanksShareCoresWhereThereAreNotEnough) {
  SimulatedPlatform platform = parse_simulated_platform(usual, "p.json");
  platform.machine = Machine::parse("node:2 core:2");
  const Seating six = seat(platform, "sequential", 6);
  EXPECT_EQ(six.mapping.node_of_rank(), (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(six.cpu, (std::vector<std::uint32_t>{0, 1, 0, 2, 3, 2}));
  const Seating four = seat(platform, "sequential", 4);
  EXPECT_EQ(four.cpu, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  const Seating dealt = seat(platform, "cyclic", 5);
  EXPECT_EQ(dealt.mapping.node_of_rank(), (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(dealt.cpu, (std::vector<std::uint32_t>{0, 2, 1, 3, 0}));
}

}  // namespace
}  // namespace convene::simulate
