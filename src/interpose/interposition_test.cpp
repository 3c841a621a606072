// SPDX-License-Identifier: BSD-3-Clause
// What needs no running MPI. How the decision is made is shown by programs (tests/test_mpi_dropin.py).
#include "interpose/interposition.hpp"

#include <gtest/gtest.h>

#include "runtime/progress/progress_engine.hpp"

namespace convene::interpose {
namespace {

/// The test program is linked with the MPI of its stack.
[[gnu::used]] int (*const needs_the_library)(int*) = PMPI_Initialized;

int asked = 0;

int initialized(int* flag) {
  ++asked;
  *flag = 1;
  return MPI_SUCCESS;
}

TEST(Interposition, IsNotDecidedAgain) {
  const auto native = pmpi.Initialized;
  pmpi.Initialized = initialized;
  interposition_state = 1;
  EXPECT_TRUE(is_active());
  interposition_state = 2;  // as after the sentence that the library steps aside
  EXPECT_FALSE(is_active());
  EXPECT_EQ(asked, 0);
  interposition_state = 0;
  pmpi.Initialized = native;
}

TEST(Interposition, HandlesPassThroughAWordUnchanged) {
  const auto word = [](auto handle) { return (HandleWord)(handle); };  // from a pointer or an int, by stack
  EXPECT_EQ(from_word<MPI_Comm>(word(MPI_COMM_WORLD)), MPI_COMM_WORLD);
  EXPECT_EQ(from_word<MPI_Datatype>(word(MPI_INT)), MPI_INT);
}

TEST(Interposition, WaitsAreInterceptedWhileTheLibraryIsLoaded) {
  decide_interposition();  // a call into the object whose constructor says so
  EXPECT_TRUE(progress::intercepts_waits.load());
  interposition_state = 0;
}

}  // namespace
}  // namespace convene::interpose
