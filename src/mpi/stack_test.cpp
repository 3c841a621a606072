// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/stack.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "mpi/functions.hpp"

namespace convene::mpi {
namespace {

/// The test program is linked with the MPI of its stack.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

TEST(Stack, FitsTheMpiOfThisProgram) {
  EXPECT_EQ(find_mpi(), MpiFit::fits);
  EXPECT_TRUE(stack::is_loaded());
  EXPECT_NE(std::strlen(mpi_library_version()), 0u);
  EXPECT_EQ(is_standard_abi(), std::strcmp(stack::name, "abi") == 0);
}

TEST(Stack, TraitsAgreeWithTheLibrary) {
  ASSERT_EQ(find_mpi(), MpiFit::fits);
  EXPECT_EQ(stack::can_add_progress_callback(), stack::has_progress_hook);
  EXPECT_TRUE(stack::has_extended_requests || !stack::can_extend_requests());
  for (const char* name : {stack::comm_from_fortran, stack::type_from_fortran, stack::op_from_fortran,
                           stack::request_from_fortran, stack::request_to_fortran, stack::op_to_fortran,
                           stack::info_from_fortran})
    EXPECT_TRUE(mpi_symbol(name) || !stack::handles_are_addresses) << name;
}

TEST(Functions, TableIsFilled) {
  ASSERT_EQ(find_mpi(), MpiFit::fits);
  int flag = -1;
  ASSERT_NE(pmpi.Initialized, nullptr);
  EXPECT_EQ(pmpi.Initialized(&flag), MPI_SUCCESS);
  EXPECT_EQ(flag, 0);
  for (const void* each :
       {reinterpret_cast<const void*>(pmpi.Isend), reinterpret_cast<const void*>(pmpi.Sendrecv),
        reinterpret_cast<const void*>(pmpi.Waitsome)})
    EXPECT_NE(each, nullptr);
  EXPECT_EQ(mpi_symbol("PMPI_No_such_function"), nullptr);
}

}  // namespace
}  // namespace convene::mpi
