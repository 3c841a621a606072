// SPDX-License-Identifier: BSD-3-Clause
// Hockney's model (1994): T(m) = α + β·m.
#pragma once

#include "base/layers.hpp"

namespace convene::model {

struct Hockney {
  double alpha = 0, beta = 0;
};

}  // namespace convene::model
