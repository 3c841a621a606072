// SPDX-License-Identifier: BSD-3-Clause
// For tests: the checker's verdicts on all mutants of a rank's schedule. Not part of the library.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "schedule/check/checker.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::schedule {

/// The number of mutants of a rank's schedule that the checker rejects. The test fails for each wrong
/// verdict: a fault that passes, or an equivalent schedule that does not. `commutes`: as for Mutants; `of`:
/// which plan, for messages.
inline int caught_mutants(const Plan& plan, Rank rank, bool commutes, const Contract& wanted,
                          const std::string& of = {}) {
  int caught = 0;
  Mutants(plan, rank, commutes).each([&](const Mutant& mutant) {
    const std::string why = check(mutant.plan, wanted).why;
    EXPECT_EQ(why.empty(), mutant.equivalent) << mutant.what << " at step " << mutant.step << " of rank "
                                              << rank << (of.empty() ? "" : ", ") << of << ": " << why;
    caught += !why.empty();
  });
  return caught;
}

}  // namespace convene::schedule
