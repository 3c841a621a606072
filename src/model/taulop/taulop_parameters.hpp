// SPDX-License-Identifier: BSD-3-Clause
// Parameters of τ-Lop.
#pragma once

#include <cstdint>
#include <string>

#include "model/platform/by_tau.hpp"

namespace convene::model {

/// The kind of a transfer, for platforms with parameters for each.
enum class TransferKind : std::uint8_t {
  message,   ///< of a message, or of a part of one
  exchange,  ///< of a message whose receiver sends to its sender at the same time
  shared,    ///< into memory that other ranks read, or from there
};

/// o(m), and L(m, τ) for the measured τ. The source has one L; L_sr and L_c are extensions: two ranks that
/// send to each other share a connection, and the transport of messages does not determine the duration of a
/// copy from shared memory.
struct TauLop {
  Piecewise overhead;
  ByTau transfer;
  ByTau exchange;         ///< L_sr(m, τ) of a network; may be empty
  ByTau shared;           ///< L_c(m, τ) of memory; may be empty
  std::string transport;  ///< copy_in_copy_out, …; may be empty
  double segment = 0;     ///< bytes of a segment, for the transport "segments"

  bool distinguishes(TransferKind kind) const {
    return kind == TransferKind::message || !(kind == TransferKind::exchange ? exchange : shared).empty();
  }
  double L(double bytes, std::uint32_t tau, TransferKind kind = TransferKind::message) const {
    if (kind == TransferKind::message || !distinguishes(kind)) return at(transfer, bytes, tau);
    return at(kind == TransferKind::exchange ? exchange : shared, bytes, tau);
  }
};

}  // namespace convene::model
