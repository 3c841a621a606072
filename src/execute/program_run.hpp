// SPDX-License-Identifier: BSD-3-Clause
// Interpreter of programs.
#pragma once

#include "base/arena.hpp"
#include "execute/binding.hpp"
#include "execute/program.hpp"

namespace convene::execute {

/// Runs a program that fits the binding's buffers. Returns MPI_SUCCESS or the transport's first error. The
/// arena must have been reset.
int run_program(const Binding& binding, const Program& program, Arena& arena);

}  // namespace convene::execute
