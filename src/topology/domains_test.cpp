// SPDX-License-Identifier: BSD-3-Clause
#include "topology/domains.hpp"

#include <gtest/gtest.h>

#include "topology/mapping.hpp"

namespace convene::topology {
namespace {

using DomainList = std::vector<Domains>;
TEST(AgreedDomains, NameTheLevelsThatDivideNodes) {
  const DomainList domains = {{0, 0, 0}, {0, 0, 2}, {4, 0, 4}, {4, 0, 6}};
  const AgreedDomains agreed = agree_on_domains(std::vector<std::uint32_t>(4, 0), domains);
  EXPECT_EQ(agreed.of_rank, domains);
  EXPECT_EQ(agreed.remark, "levels within nodes: socket:2 l3:4");
}

TEST(AgreedDomains, ARankWithoutADomainLeavesItsNodeUndivided) {
  const std::vector<std::uint32_t> nodes = {0, 0, 1, 1};
  const AgreedDomains agreed = agree_on_domains(
      nodes,
      DomainList{
          {0, no_domain(NoDomain::absent), 0}, {4, 0, 4}, {0, 0, no_domain(NoDomain::several)}, {4, 0, 4}});
  EXPECT_EQ(agreed.of_rank, (DomainList{{0, 0, 0}, {4, 0, 4}, {0, 0, 0}, {4, 0, 0}}));
  EXPECT_EQ(agreed.remark,
            "levels within nodes: socket:2 l3:2; l3 is unknown: the affinity of rank 2 covers several of its "
            "domains; bind ranks to cores");
}

TEST(AgreedDomains, MayDivideNothing) {
  const std::vector<std::uint32_t> nodes = {0, 0};
  const AgreedDomains agreed =
      agree_on_domains(nodes, DomainList{{0, no_domain(NoDomain::malformed), 0}, {0, 0, 0}});
  EXPECT_TRUE(agreed.of_rank.empty());
  EXPECT_EQ(agreed.remark, "no level divides a node; numa is unknown: rank 0 found malformed files");
  EXPECT_EQ(agree_on_domains(nodes, {}).remark, "no level divides a node");
}

TEST(Mapping, HasTheDomainsOfItsMachine) {
  const auto domains = [](const char* machine, const char* placement, std::uint32_t procs) {
    return Mapping::parse(machine, placement, procs).domains_of_rank();
  };
  EXPECT_EQ(domains("node:2 socket:2 l3:2 core:1", "sequential", 6),
            (DomainList{{0, 0, 0}, {0, 0, 1}, {1, 0, 2}, {1, 0, 3}, {0, 0, 0}, {0, 0, 1}}));
  EXPECT_EQ(domains("node:2 package:2 core:2", "cyclic", 5),
            (DomainList{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}}));
  EXPECT_EQ(domains("node:2 core:4", "sequential", 4), DomainList{});
  EXPECT_EQ(domains("socket:2 node:2 core:4", "sequential", 4), DomainList{}) << "not within a node";
}

}  // namespace
}  // namespace convene::topology
