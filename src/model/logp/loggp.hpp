// SPDX-License-Identifier: BSD-3-Clause
// LogGP (Alexandrov et al. 1997), and LogP (Culler et al. 1993), which ignores the size of a message. With
// one parameter set per channel this is LogGPH (Yuan et al. 2010).
#pragma once

#include <optional>

#include "model/logp/message_model.hpp"

namespace convene::model {

struct LogGP {
  double L = 0, send_overhead = 0, recv_overhead = 0, g = 0, G = 0;
  std::optional<double> synchronous_from;  ///< bytes: the S of LogGPS
};

/// The cost of a message of `bytes` bytes, with G in place of the set's.
MessageCost loggp_cost(const LogGP& parameters, double bytes, double G);

extern const ParameterSet loggp_parameters;

}  // namespace convene::model
