// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: which algorithm was measured to be faster than the native one, where, and by how much, from JSON
// files.
//
//   {"convene_wisdom": 1,
//    "entries": [{"mpi": "Open MPI 4.1.4", "cpu": "AMD EPYC 7B13", "cores": 2, "network": "",
//                 "collective": "allgather", "procs": 4, "nodes": 1, "ranks_per_node": 4, "shares_cores": true,
//                 "bytes": ["8", "4KiB"], "use": "shared", "ratio": 0.42, "upper": 0.45,
//                 "measured": "2026-11-26", "evidence": {…}}]}
//
// "mpi", "cpu", "cores" and, on several nodes, "network" are the machine of the measurement: an entry holds
// there only. An entry with "native_algorithm": "ring" and "use": "native" was measured with that algorithm
// of the MPI: it serves exports of rules, and the library skips it. "bytes" are those of a block, as in
// rules. "ratio" is the algorithm's time over that of native, the worst of all methods of measuring; "upper"
// is the upper end of its 95 % interval. "evidence" is for people. What no entry covers stays native.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decide/field_reader.hpp"
#include "decide/rules.hpp"

namespace convene::decide {

/// The machine of a measurement. An entry applies only where all fields are equal.
struct MachineKey {
  std::string mpi;           ///< name and version, see mpi_name()
  std::string cpu;           ///< model name of the processor
  std::uint64_t cores = 0;   ///< of a node
  std::string network = "";  ///< matters on several nodes only

  bool operator==(const MachineKey&) const = default;
};

struct WisdomEntry {
  MachineKey place;
  Collective collective = Collective::allgather;
  Rank procs = 1, nodes = 1, ranks_per_node = 1;  ///< of the communicator; ranks of the fullest node
  bool shares_cores = false;                      ///< more ranks than cores on a node
  Bounds bytes;                                   ///< per block
  Spec use;
  std::string native_algorithm = "";  ///< of the MPI, by its own name; empty: `use` is what was measured
  double ratio = 1, upper = 1;        ///< time over native's; upper end of its interval
  std::string measured;               ///< a date
  unsigned file = 0;                  ///< of the search path, counted from 0
  unsigned number = 0, line = 0;      ///< in that file, counted from 1

  Mismatch mismatch(const CallContext& context) const;
  bool covers(const CallContext& context) const { return !mismatch(context).any(); }
  bool is_of(const MachineKey& here) const;
};

/// Constant once made. Equal on all ranks that use it.
class Wisdom {
 public:
  Wisdom() = default;
  /// Of several entries that cover a call the newest counts, of equally new ones that with the lowest upper
  /// end.
  explicit Wisdom(std::vector<WisdomEntry> entries);

  /// The entries for communicators of at most this many ranks.
  Wisdom up_to(Rank procs) const;

  bool is_empty() const { return entries_.empty(); }
  const std::vector<WisdomEntry>& entries() const { return entries_; }
  /// True if some entry is about this collective.
  bool knows(Collective collective) const;
  /// True if a choice may share memory between ranks.
  bool may_share_memory(Collective collective) const;
  /// The newest entry that covers a blocking call. Null if there is none, or if its `upper` is above 0.97. An
  /// order-dependent reduction changes its rounding with the algorithm: its limit is 0.90, and the result is
  /// null if equal bits were requested.
  const WisdomEntry* find(const CallContext& context, Trace* trace = nullptr) const;

  /// All entries as lines of text, for other ranks; from_lines() is the inverse and throws Error. Lines have
  /// no WisdomEntry::place: all entries are of this machine.
  std::string lines() const;
  static Wisdom from_lines(std::string_view lines);

  static constexpr double most_of_native = 0.97, most_where_order_matters = 0.90;

 private:
  std::vector<WisdomEntry> entries_;
};

/// Reads entries from text; `file` is its name in messages, which begin with FILE:LINE. Throws Error.
std::vector<WisdomEntry> parse_wisdom(std::string_view text, const std::string& file);

/// "Open MPI 4.1.4", "MPICH 5.0.2", "Intel MPI 2021.18" from MPI_Get_library_version's text; the first line
/// of any other.
std::string mpi_name(std::string_view library_version);

}  // namespace convene::decide
