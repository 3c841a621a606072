// SPDX-License-Identifier: BSD-3-Clause
// Reduction operator on bytes: what a combine step calls.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "base/layers.hpp"

namespace convene::base {

/// Computes right = left ∘ right over `bytes` bytes: whole elements, back to back. Returns an MPI error code.
struct Operator {
  int (*apply)(void* context, const std::byte* left, std::byte* right, std::size_t bytes) = nullptr;
  void* context = nullptr;

  int operator()(const std::byte* left, std::byte* right, std::size_t bytes) const {
    if (!apply) throw std::logic_error("a combine step without an operation");
    return bytes == 0 ? 0 : apply(context, left, right, bytes);
  }
};

}  // namespace convene::base
