// SPDX-License-Identifier: BSD-3-Clause
// Call site of a collective in the program.
#pragma once

#include "base/layers.hpp"

namespace convene::runtime::recorder {

/// Return address of the collective that this thread is in. (No initializer: a thread's copy must not need
/// code to be created.)
[[gnu::tls_model("initial-exec")]] inline thread_local constinit const void* caller = nullptr;

/// First statement of every function that a program calls; costs one store.
inline void note_caller(const void* address) { caller = address; }

}  // namespace convene::runtime::recorder
