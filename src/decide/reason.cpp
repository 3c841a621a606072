// SPDX-License-Identifier: BSD-3-Clause
#include "decide/reason.hpp"

namespace convene::decide {

std::string_view reason_text(Reason reason, std::string_view detail) {
  switch (reason) {
    case Reason::by_default:
      return "default";
    case Reason::forced:
      return "forced";
    case Reason::rule:
    case Reason::wisdom:
    case Reason::learned:
    case Reason::observed:
    case Reason::guard:
    case Reason::no_schedule:
      return detail;
    case Reason::trial:
      return "trial";
    case Reason::forecast:
      return "forecast";
    case Reason::no_native:
      return "the MPI has none";
    case Reason::nodes_unknown:
      return "nodes unknown";
    case Reason::no_shared_memory:
      return "no shared memory";
    case Reason::intercommunicator:
      return "intercommunicator";
    case Reason::no_communicator:
      return "no communicator available";
    case Reason::no_communicator_yet:
      return "no internal communicator yet";
    case Reason::device_memory:
      return "device memory";
    case Reason::neighbors_unknown:
      return "neighbours of other ranks unknown";
    case Reason::neighbors_contradict:
      return "the ranks' lists of neighbours contradict each other";
  }
  return "?";
}

}  // namespace convene::decide
