// SPDX-License-Identifier: BSD-3-Clause
// Exception for invalid requests. Commands catch it, print its sentence and exit with status 2.
#pragma once

#include <stdexcept>

#include "base/layers.hpp"

namespace convene::base {

/// An invalid request. The text is one sentence: what is wrong, with which value, and what to try.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace convene::base
