// SPDX-License-Identifier: BSD-3-Clause
// Whose turn it is on a communicator, where several collectives are outstanding. The lock is never held
// across a call of the MPI's: the thread that progresses in the background ends collectives, too.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/layers.hpp"

namespace convene::runtime {

/// Which non-blocking collectives are not over yet: after so many further ones on the same communicator the
/// tags of one come again, and that collective has to wait. (It can: all ranks have started the older one.)
class TagWindow {
 public:
  void begin(std::uint32_t number);
  void end(std::uint32_t number);
  bool tag_is_free(std::uint32_t number);

  /// A non-blocking collective that has yet to begin its agreement (BoundCall) stands in a queue: the MPI's
  /// collectives, by which ranks agree, must begin in the same order on all of them, and not all come as far
  /// at the same time.
  void queue_agreement(std::uint32_t number);
  void note_agreement(std::uint32_t number);
  /// Whether none before that of this collective, or (for one that is not in the queue) none at all has yet
  /// to begin.
  bool may_agree(std::uint32_t number);
  bool may_agree();

 private:
  std::mutex mutex_;
  std::vector<std::uint32_t> pending_, agreeing_;  // oldest first
};

}  // namespace convene::runtime
