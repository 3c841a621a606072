// SPDX-License-Identifier: BSD-3-Clause
// Reasons for a choice.
#pragma once

#include <cstdint>
#include <string_view>

namespace convene::decide {

/// Reason for the algorithm of a call. The same on all ranks.
enum class Reason : std::uint8_t {
  by_default,            ///< native: no other choice was made
  forced,                ///< by the user
  rule,                  ///< the detail names rule and file
  wisdom,                ///< measured here; the detail gives ratio and date
  trial,                 ///< on trial in the running program
  learned,               ///< measured in the running program; the detail gives ratio and number of calls
  observed,              ///< as without trials, which only observe; the detail gives what they would choose
  guard,                 ///< native again: the choice was slower; the detail gives its ratio
  no_schedule,           ///< native: the generator failed; the detail has its message
  forecast,              ///< ranks are expected late
  no_native,             ///< the MPI has no such call: the first suitable algorithm of the catalogue
  nodes_unknown,         ///< native, until a blocking call finds the nodes
  no_shared_memory,      ///< native: shared memory is not allowed, or not available
  intercommunicator,     ///< native
  no_communicator,       ///< native: the internal communicator could not be created
  no_communicator_yet,   ///< native: a non-blocking call, before the internal communicator was made
  device_memory,         ///< native: a GPU runtime is loaded, and buffers may be device memory
  neighbors_unknown,     ///< native, until a blocking call collects all lists of neighbours
  neighbors_contradict,  ///< native: the ranks' lists of neighbours do not match
};

/// As reports show it. `detail` is the text of a rule, "rule 2 of rules.json", of wisdom, "wisdom: 0.42 of
/// native, 2026-11-26", of learned, observed and guard, "learned: 0.61 after 512
/// calls", and of no_schedule.
std::string_view reason_text(Reason reason, std::string_view detail = "");

}  // namespace convene::decide
