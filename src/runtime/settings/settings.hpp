// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment: CONVENE_*, read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/durations.hpp"
#include "decide/selection.hpp"
#include "decide/wisdom_files.hpp"
#include "topology/mapping.hpp"
#include "transport/fabric_protocol.hpp"

namespace convene::runtime {

enum class LogLevel : std::uint8_t { quiet, info };
enum class DeviceMemory : std::uint8_t { detect, never, always };
enum class Execution : std::uint8_t { automatic, compiled, dynamic };
enum class SharedWait : std::uint8_t { automatic, poll, sleep };

struct Settings {
  Selection selection;                         ///< CONVENE_USE, CONVENE_RULES
  bool rules_may_be_absent = false;            ///< CONVENE_RULES=-FILE
  std::string optional_rules_path;             ///< FILE
  std::size_t optional_rules_hash = 0;         ///< of its text; 0: it is absent here
  std::vector<WisdomFile> wisdom_files;        ///< CONVENE_WISDOM; none under a simulator
  std::string profile_directory;               ///< CONVENE_PROFILE_DIR; empty: no profile is written
  std::string record_directory;                ///< CONVENE_RECORD; empty: no recording is written
  std::size_t record_calls = 1u << 16;         ///< CONVENE_RECORD_CALLS: calls kept per communicator
  Nanoseconds wait_warning = 0;                ///< CONVENE_WAIT_WARNING: seconds; 0: none
  LogLevel log = LogLevel::quiet;              ///< CONVENE_LOG=quiet|info
  Execution execution = Execution::automatic;  ///< CONVENE_EXECUTE=compiled|dynamic
  bool uses_fabric = false;  ///< CONVENE_TRANSPORT=fabric[:PROVIDER[:PROTOCOL]]; never under a simulator
  FabricProtocol fabric_protocol;                     ///< PROTOCOL: tagged|notified|hybrid[:SIZE]
  std::string fabric_library;                         ///< CONVENE_LIBFABRIC: its file; empty: found by name
  std::string fabric_provider;                        ///< empty: the first that libfabric lists
  DeviceMemory device_memory = DeviceMemory::detect;  ///< CONVENE_DEVICE_MEMORY=detect|never|always
  std::string machine, mapping;                       ///< CONVENE_MACHINE, CONVENE_MAPPING
  std::string sysfs = "/sys";                         ///< CONVENE_SYSFS: where domains of nodes are read
  bool check_agreement = false;                       ///< CONVENE_CHECK=agreement
  bool refuses_schedules = false;                     ///< CONVENE_CHECK=no_schedules: every generator fails
  bool slows_choices = false;                         ///< CONVENE_CHECK=slow_choices: see learning.cpp
  bool assumes_gpu = false;              ///< CONVENE_CHECK=gpu: this node counts as one with a GPU
  bool reproducible = false;             ///< CONVENE_REPRODUCIBLE=yes: equal bits from run to run
  int communicators = 1000;              ///< CONVENE_COMMUNICATORS: maximum number of internal communicators
                                         ///< at one time
  std::size_t cache_bytes = 64u << 20;   ///< CONVENE_CACHE: maximum bytes of cached schedules
  std::size_t shared_bytes = 64u << 20;  ///< CONVENE_SHARED_MEMORY: maximum bytes shared by the ranks of a
                                         ///< node
  SharedWait shared_wait{};              ///< CONVENE_SHARED_WAIT=automatic|poll|sleep
  bool watches_arrivals = false;         ///< CONVENE_ARRIVALS=auto
  bool learns = false;                   ///< CONVENE_LEARN=yes|observe|reductions; never under a simulator
  bool learns_reductions = false;        ///< CONVENE_LEARN=reductions: also those whose rounding may change
  bool only_observes = false;            ///< CONVENE_LEARN=observe: measures, and changes nothing
  double learning_share = 0.005;         ///< CONVENE_LEARN_BUDGET: of elapsed time; in percent there
  bool progress_thread = false;          ///< CONVENE_PROGRESS_THREAD=1: progress in the background
  int progress_core = -1;                ///< CONVENE_PROGRESS_CORE: core of that thread; -1: any
  std::uint64_t shuffle = 0;             ///< CONVENE_SHUFFLE: a seed; ready steps are issued in random order

  /// True if the nodes of MPI_COMM_WORLD's ranks are declared; and the ranks' places. Throws Error.
  bool has_declared_nodes() const { return !machine.empty() || !mapping.empty(); }
  Mapping declared_places(Rank procs) const;
};

/// The settings of this process. The first call reads them; an invalid one is reported in one sentence and
/// ends the program with status 2 (all ranks, through MPI_Abort).
const Settings& settings();

/// Ends the program because of an invalid setting: rank 0 of the program reports it, status 2.
[[noreturn]] void refuse(const std::string& why, bool speaks);

}  // namespace convene::runtime
