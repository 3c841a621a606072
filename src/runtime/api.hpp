// SPDX-License-Identifier: BSD-3-Clause
// What the public C functions share.
#pragma once

#define CONVENE_API extern "C" __attribute__((visibility("default")))

namespace convene {

/// Every collective's first line: the MPI is looked up once. Without a fitting one nothing can be done.
void need_mpi();

}  // namespace convene
