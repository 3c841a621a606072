// SPDX-License-Identifier: BSD-3-Clause
// Tag window: the order of pending collectives on a communicator. The lock is never held across an MPI call:
// the progress thread ends collectives, too.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/layers.hpp"

namespace convene::runtime {

/// The pending non-blocking collectives. After a full cycle of collective numbers on the same communicator
/// the tags of a collective are reused, and the new one has to wait. (It can: all ranks have started the
/// older one.)
class TagWindow {
 public:
  void begin(std::uint32_t number);
  void end(std::uint32_t number);
  bool tag_is_free(std::uint32_t number);

  /// A non-blocking collective whose agreement (BoundCall) has not started is queued: the MPI's collectives,
  /// by which ranks agree, must start in the same order on all ranks, and ranks progress differently.
  void queue_agreement(std::uint32_t number);
  void note_agreement(std::uint32_t number);
  /// True if no earlier collective than this one or, for one that is not queued, none at all has yet to start
  /// its agreement.
  bool may_agree(std::uint32_t number);
  bool may_agree();

 private:
  std::mutex mutex_;
  std::vector<std::uint32_t> pending_, agreeing_;  // oldest first
};

}  // namespace convene::runtime
