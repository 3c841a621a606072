// SPDX-License-Identifier: BSD-3-Clause
// Namespace of the layer. It sees the names of the layers that src/ROOMS lets it include, as those of
// base/layers.hpp do.
#pragma once

#include "base/layers.hpp"

namespace convene::experiment {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
}  // namespace convene::experiment
