// SPDX-License-Identifier: BSD-3-Clause
// Where in the program a collective was called.
#pragma once

#include "base/layers.hpp"

namespace convene::runtime::recorder {

/// Where this thread's program goes on after the collective that it is in. (No initializer: a thread's copy
/// must need no code to come into being.)
[[gnu::tls_model("initial-exec")]] inline thread_local constinit const void* caller = nullptr;

/// The first thing of every function that a program calls; costs a store.
inline void note_caller(const void* address) { caller = address; }

}  // namespace convene::runtime::recorder
