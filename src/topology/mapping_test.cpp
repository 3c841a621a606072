// SPDX-License-Identifier: BSD-3-Clause
#include "topology/mapping.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene::topology {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(Machine, ReadsLevelsOutermostFirst) {
  const Machine machine = Machine::parse(" rack:2, node:3 core:4 ");
  EXPECT_EQ(machine.levels(), (std::vector<Level>{{"rack", 2}, {"node", 3}, {"core", 4}}));
  EXPECT_EQ(machine.seats(), 24u);
  EXPECT_EQ(machine.nodes(), 6u);
  EXPECT_EQ(machine.seats_per_node(), 4u);
  EXPECT_EQ(machine.text(), "rack:2 node:3 core:4");
}

TEST(Mapping, SequentialFillsOneNodeAfterTheOther) {
  const Mapping mapping = Mapping::parse("node:4 core:4", "sequential", 16);
  EXPECT_EQ(mapping.node_of_rank(), (Nodes{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(Mapping::parse("node:2 core:3", "sequential", 5).node_of_rank(), (Nodes{0, 0, 0, 1, 1}));
}

TEST(Mapping, CyclicDealsTheRanksOut) {
  const Mapping mapping = Mapping::parse("node:4 core:4", "cyclic", 10);
  EXPECT_EQ(mapping.node_of_rank(), (Nodes{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(mapping.seat_of(9), 6u);
}

TEST(Mapping, ListNamesOneNodePerRank) {
  EXPECT_EQ(Mapping::parse("node:3 core:2", "2,0, 2,1", 4).node_of_rank(), (Nodes{2, 0, 2, 1}));
  const Mapping found = Mapping::parse("", "0,1,1,1", 4);
  EXPECT_EQ(found.machine().text(), "node:2 core:3");
  EXPECT_EQ(found.node_of_rank(), (Nodes{0, 1, 1, 1}));
}

TEST(Mapping, DistanceCountsTheLevelsToClimb) {
  const Mapping mapping = Mapping::parse("rack:2 node:2 core:2", "sequential", 8);
  EXPECT_EQ(mapping.levels(), 3u);
  EXPECT_EQ(mapping.distance(3, 3), 0u);
  EXPECT_EQ(mapping.distance(2, 3), 1u);
  EXPECT_EQ(mapping.distance(1, 2), 2u);
  EXPECT_EQ(mapping.distance(3, 4), 3u);
  EXPECT_EQ(mapping.distance(4, 3), 3u);
  EXPECT_FALSE(mapping.crosses_node(2, 3));
  EXPECT_TRUE(mapping.crosses_node(1, 2));
}

// A ring of distance d over m machines with c cores each, placed sequentially: d hops over each of the m - 1
// borders on the way up, and the d messages around the end go back over the whole row (d <= c).
TEST(Mapping, HopBytesOfARing) {
  const std::uint32_t machines = 4, cores = 8, procs = machines * cores;
  const Mapping sequential = Mapping::sequential(Machine::parse("node:4 core:8"), procs);
  for (std::uint32_t d : {1u, 2u, 4u, 8u}) {
    std::vector<Traffic> ring;
    for (std::uint32_t rank = 0; rank < procs; ++rank) ring.push_back({rank, (rank + d) % procs, 100});
    EXPECT_EQ(sequential.hop_bytes(ring), 100u * 2 * d * (machines - 1)) << "distance " << d;
  }
}

// Bruck's last rounds stay on their machines under cyclic mapping where the number of machines is a power of
// two.
TEST(Mapping, CyclicKeepsDistancesOfTheNodeCountLocal) {
  const Mapping cyclic = Mapping::cyclic(Machine::parse("node:4 core:4"), 16);
  std::vector<Traffic> local, crossing;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    local.push_back({rank, (rank + 8) % 16, 1});
    crossing.push_back({rank, (rank + 1) % 16, 1});
  }
  EXPECT_EQ(cyclic.hop_bytes(local), 0u);
  EXPECT_EQ(cyclic.hop_bytes(crossing), 12u * 1 + 4u * 3);
}

TEST(Mapping, PrintsItself) {
  EXPECT_EQ(Mapping::parse("node:3 core:2", "0,2,0", 3).text(),
            "3 ranks on node:3 core:2\n"
            "node 0: 0 2\n"
            "node 2: 1\n");
}

std::string why(std::string_view machine, std::string_view placement, std::uint32_t procs) {
  try {
    Mapping::parse(machine, placement, procs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Mapping, SaysWhatIsWrong) {
  EXPECT_EQ(why("node:2 core:2", "sequential", 5),
            "5 processes do not fit on \"node:2 core:2\", which has 4 seats; name more nodes or more cores, "
            "or fewer "
            "processes");
  EXPECT_EQ(why("node:2 core:x", "cyclic", 2),
            "the machine's level \"core:x\" is not of the form NAME:COUNT with a count of at least 1; an "
            "example is "
            "\"node:4 core:8\"");
  for (const char* bad :
       {"node", "node:", "node:0", "node:-1", ":3", "no de:3", "node:3:4", "4", "node:99999999999"})
    EXPECT_NE(why(bad, "sequential", 1).find("NAME:COUNT"), std::string::npos) << bad;
  EXPECT_EQ(why("node:2\ncore:2", "cyclic", 2).find("the machine's level \"node:2\\x0acore:2\" is not"), 0u);
  EXPECT_EQ(why("socket:2 core:8", "sequential", 4),
            "the machine \"socket:2 core:8\" has no level named \"node\"; an example is \"node:4 core:8\"");
  EXPECT_EQ(why("node:2 node:2", "sequential", 4),
            "the machine \"node:2 node:2\" has two levels named \"node\"");
  EXPECT_NE(why("node:100000 core:100000", "cyclic", 4).find("more than 268435456 seats"), std::string::npos);
  EXPECT_NE(why("", "cyclic", 4).find("needs a machine"), std::string::npos);
  EXPECT_EQ(
      why("node:2 core:2", "random", 4),
      "the placement \"random\" is unknown (at \"random\"); use \"sequential\", \"cyclic\" or one node per "
      "rank, such as \"0,0,1,1\"");
  EXPECT_EQ(why("node:2 core:2", "0,1", 4),
            "the placement \"0,1\" names 2 nodes for 4 processes; name one node per rank");
  EXPECT_EQ(why("node:2 core:2", "0,1,2,0", 4),
            "rank 2 is mapped to node 2, but \"node:2 core:2\" has nodes 0 to 1");
  EXPECT_EQ(why("node:2 core:2", "0,0,0,1", 4),
            "rank 2 is mapped to node 0, whose 2 seats are taken; name more cores or another node");
}

}  // namespace
}  // namespace convene::topology
