// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/next_symbol.hpp"

#include <gtest/gtest.h>

#include "mpi/functions.hpp"

namespace convene::mpi {
namespace {

const void* here() { return __builtin_return_address(0); }

TEST(NextSymbol, FindsTheMpiOfTheProcess) {
  void* const found = next_symbol("MPI_Allgather", here());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, reinterpret_cast<void*>(&MPI_Allgather));
}

TEST(NextSymbol, IsNullForWhatNobodyDefines) {
  EXPECT_EQ(next_symbol("MPI_No_such_function", here()), nullptr);
  EXPECT_EQ(symbol_seen_by(here(), "MPI_No_such_function"), nullptr);
  EXPECT_EQ(symbol_seen_by(nullptr, "MPI_Allgather"), nullptr);
}

TEST(NextFunction, KeepsTheAddress) {
  static NextFunction<decltype(&PMPI_Initialized)> initialized("MPI_Initialized");
  int flag = -1;
  ASSERT_NE(initialized.get(here()), nullptr);
  EXPECT_EQ(initialized.get(here())(&flag), 0);
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(initialized.get(nullptr), initialized.get(here()));
}

TEST(NextFunction, IsNullForWhatNobodyDefines) {
  static NextFunction<void (*)()> missing("MPI_No_such_function");
  EXPECT_EQ(missing.get(here()), nullptr);
}

}  // namespace
}  // namespace convene::mpi
