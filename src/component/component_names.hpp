// SPDX-License-Identifier: BSD-3-Clause
// Namespace of this layer: it sees the names of the layers that src/ROOMS lets it include.
#pragma once

#include "base/layers.hpp"

namespace convene::component {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
using namespace runtime;
}  // namespace convene::component
