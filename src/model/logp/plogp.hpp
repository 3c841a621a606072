// SPDX-License-Identifier: BSD-3-Clause
// PLogP (Kielmann, Bal, Verstoep 2000): end-to-end latency; overheads and gap are functions of the size.
#pragma once

#include "model/platform/piecewise.hpp"

namespace convene::model {

struct PLogP {
  double L = 0;
  Piecewise send_overhead, recv_overhead, gap;
};

}  // namespace convene::model
