// SPDX-License-Identifier: BSD-3-Clause
// The one exception for requests that are wrong. Commands that see it print its sentence and exit with
// status 2.
#pragma once

#include <stdexcept>

#include "base/layers.hpp"

namespace convene::base {

/// The request was wrong. The text is one sentence: what is wrong, with which value, and what to try.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace convene::base
