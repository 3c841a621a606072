// SPDX-License-Identifier: BSD-3-Clause
#include "topology/sysfs_domains.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace convene::topology {
namespace {

constexpr std::uint32_t absent = no_domain(NoDomain::absent), several = no_domain(NoDomain::several),
                        malformed = no_domain(NoDomain::malformed);

/// A folder with the files of a synthetic machine: two sockets of four CPUs; each socket has one NUMA node
/// and two L3 caches.
class Sysfs : public testing::Test {
 protected:
  Sysfs() {
    std::string made = (std::filesystem::temp_directory_path() / "sysfs-XXXXXX").string();
    root_ = mkdtemp(made.data());
    write("cpu/online", "0-7");
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-3");
    write("node/node1/cpulist", "4-7");
    for (unsigned cpu = 0; cpu < 8; ++cpu) {
      write_of(cpu, "topology/package_cpus_list", cpu < 4 ? "0-3" : "4-7");
      write_of(cpu, "cache/index0/level", "1");
      write_of(cpu, "cache/index0/shared_cpu_list", std::to_string(cpu));
      write_of(cpu, "cache/index1/level", "3");
      write_of(cpu, "cache/index1/shared_cpu_list",
               std::to_string(cpu / 2 * 2) + "-" + std::to_string(cpu / 2 * 2 + 1));
    }
  }
  ~Sysfs() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / "devices/system" / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void write_of(unsigned cpu, const std::string& path, const std::string& text) {
    write("cpu/cpu" + std::to_string(cpu) + "/" + path, text);
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ / "devices/system" / path); }

  FoundDomains find(const Cpus& cpus) const { return find_domains(root_.string(), cpus); }

  std::filesystem::path root_;
};

TEST_F(Sysfs, DomainsOfOneCpu) {
  EXPECT_EQ(find({0}).domains, (Domains{0, 0, 0}));
  EXPECT_EQ(find({3}).domains, (Domains{0, 0, 2}));
  EXPECT_EQ(find({7}).domains, (Domains{4, 4, 6}));
  EXPECT_EQ(find({7}).complaint, "");
}

TEST_F(Sysfs, AffinityOverSeveralDomainsHasNone) {
  EXPECT_EQ(find({4, 5}).domains, (Domains{4, 4, 4}));
  EXPECT_EQ(find({5, 6}).domains, (Domains{4, 4, several}));
  EXPECT_EQ(find({7, 0}).domains, (Domains{several, several, several}));
}

TEST_F(Sysfs, OfflineCpusAreLeftOut) {
  write("cpu/online", "0-5");
  EXPECT_EQ(find({4, 5, 6, 7}).domains, (Domains{4, 4, 4}));
  EXPECT_EQ(find({6, 7}).domains, (Domains{absent, absent, absent}));
  EXPECT_EQ(find({}).domains, (Domains{absent, absent, absent}));
}

TEST_F(Sysfs, CoresWithoutL3) {
  remove("cpu/cpu0/cache/index1");
  EXPECT_EQ(find({0}).domains, (Domains{0, 0, absent}));
  remove("cpu/cpu1/cache");
  EXPECT_EQ(find({1}).domains, (Domains{0, 0, absent}));
}

TEST_F(Sysfs, OlderKernelsNameSocketsOtherwise) {
  remove("cpu/cpu5/topology/package_cpus_list");
  EXPECT_EQ(find({5}).domains, (Domains{absent, 4, 4}));
  write_of(5, "topology/core_siblings_list", "4-7");
  EXPECT_EQ(find({5}).domains, (Domains{4, 4, 4}));
}

TEST_F(Sysfs, NumaNodesWithoutCpus) {
  write("node/online", "0-2");
  write("node/node0/cpulist", "");  // memory alone
  write("node/node2/cpulist", "0-3");
  EXPECT_EQ(find({2}).domains, (Domains{0, 0, 2}));
  remove("node");
  EXPECT_EQ(find({2}).domains, (Domains{0, absent, 2}));
}

TEST_F(Sysfs, MalformedFilesAreNamedAndTheirLevelIsAbsent) {
  write_of(0, "cache/index1/shared_cpu_list", "0-1;2");
  const FoundDomains found = find({0});
  EXPECT_EQ(found.domains, (Domains{0, 0, malformed}));
  EXPECT_EQ(found.complaint, root_.string() +
                                 "/devices/system/cpu/cpu0/cache/index1/shared_cpu_list has '0-1;2', not a "
                                 "list of CPUs such as 0-3,8: its level is ignored");
  write("node/online", "x");
  write_of(0, "topology/package_cpus_list", "3-0");
  EXPECT_EQ(find({0}).domains, (Domains{malformed, malformed, malformed}));
}

TEST_F(Sysfs, DomainsOfAMachineAreCounted) {
  EXPECT_EQ(count_domains(root_.string()), (Domains{2, 2, 4}));
  remove("node");
  write("cpu/online", "0-3");
  EXPECT_EQ(count_domains(root_.string()), (Domains{1, 0, 2}));
  EXPECT_EQ(count_domains("/nowhere"), (Domains{0, 0, 0}));
}

TEST_F(Sysfs, AFolderThatIsNone) {
  EXPECT_EQ(find_domains("/nowhere", Cpus{0}).domains, (Domains{absent, absent, absent}));
  EXPECT_EQ(find_domains("/nowhere", Cpus{0}).complaint, "");
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), Cpus{5});
  EXPECT_EQ(parse_cpu_list(""), Cpus{});
  for (const char* const text :
       {"-", "1-", "-1", "a", "1,,2", "1,", "3-1", "2,1", "1 2", "0-99999999", "70000"})
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
}

TEST(Affinity, HasCpus) { EXPECT_FALSE(affinity().empty()); }

}  // namespace
}  // namespace convene::topology
