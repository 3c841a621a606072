// SPDX-License-Identifier: BSD-3-Clause
#include "topology/launched_ranks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace convene::topology {
namespace {

class LaunchedRanks : public testing::Test {
 protected:
  LaunchedRanks() { clear(); }
  ~LaunchedRanks() override { clear(); }

  static std::uint32_t with(const char* name, const char* value) {
    clear();
    setenv(name, value, 1);
    return launched_ranks_per_node();
  }

 private:
  static void clear() {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"})
      unsetenv(name);
  }
};

TEST_F(LaunchedRanks, AreUnknownWithoutALauncher) { EXPECT_EQ(launched_ranks_per_node(), 0u); }

TEST_F(LaunchedRanks, AreWhatTheLauncherSays) {
  EXPECT_EQ(with("OMPI_COMM_WORLD_LOCAL_SIZE", "4"), 4u);
  EXPECT_EQ(with("MPI_LOCALNRANKS", "12"), 12u);
}

TEST_F(LaunchedRanks, OfSlurmAreThoseOfTheFullestNode) {
  EXPECT_EQ(with("SLURM_STEP_TASKS_PER_NODE", "8"), 8u);
  EXPECT_EQ(with("SLURM_STEP_TASKS_PER_NODE", "2(x3),7,1"), 7u);
  EXPECT_EQ(with("SLURM_STEP_TASKS_PER_NODE", "1,16(x2)"), 16u);
}

TEST_F(LaunchedRanks, AreUnknownWhereAValueIsNone) {
  for (const char* value : {"", "x", "-1", "4 ", "4x", "99999999999999"}) {
    EXPECT_EQ(with("MPI_LOCALNRANKS", value), 0u) << value;
    EXPECT_EQ(with("OMPI_COMM_WORLD_LOCAL_SIZE", value), 0u) << value;
  }
  for (const char* value : {"2(x", "2(x3", "2(3)", "2,x", "(x3)", "2;3"})
    EXPECT_EQ(with("SLURM_STEP_TASKS_PER_NODE", value), 0u) << value;
}

}  // namespace
}  // namespace convene::topology
