// SPDX-License-Identifier: BSD-3-Clause
// log_nP (Cameron et al. 2007) and, with one parameter set per channel, mlog_nP (Tu et al. 2012).
#pragma once

#include <vector>

#include "model/platform/piecewise.hpp"

namespace convene::model {

/// The transfers of a message in order: the first is the sender's work, the last the receiver's.
struct LogNP {
  std::vector<Piecewise> transfers;
};

}  // namespace convene::model
