// SPDX-License-Identifier: BSD-3-Clause
// Initialisation of the MPI by its next definition, for threads if Convene's progress needs them
// (interpose/init.cpp).
#pragma once

#include "interpose/interposition.hpp"

namespace convene::interpose {

/// `caller` is the return address in the module that called. Returns the MPI's code.
int init(int* argc, char*** argv, const void* caller);
int init_thread(int* argc, char*** argv, int required, int* provided, const void* caller);

}  // namespace convene::interpose
