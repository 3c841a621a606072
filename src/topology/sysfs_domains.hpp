// SPDX-License-Identifier: BSD-3-Clause
// The domains of this process's CPUs, as Linux describes them in sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/domains.hpp"

namespace convene::topology {

/// A set of CPU numbers, ascending.
using Cpus = std::vector<std::uint32_t>;

/// Reads a list as the kernel writes it: "0-3,8". Nothing if it is malformed.
std::optional<Cpus> parse_cpu_list(std::string_view text);

/// A process's domain at each level: its lowest CPU, or no_domain().
struct FoundDomains {
  Domains domains;
  std::string complaint;  ///< the first malformed file, in a sentence; else empty
};

/// The domains that hold all these CPUs. Reads below `root`, which is /sys on a running system: the files
/// devices/system/cpu/online, …/cpuN/topology/package_cpus_list (or core_siblings_list),
/// …/cpuN/cache/indexK/{level,shared_cpu_list}, devices/system/node/online and …/nodeM/cpulist. CPUs that are
/// not online are left out. Does not throw for what the files contain.
FoundDomains find_domains(const std::string& root, std::span<const std::uint32_t> cpus);

/// The number of domains of the online CPUs, by level; 0 without such a level.
Domains count_domains(const std::string& root);

/// The CPUs on which this thread may run; empty if unknown.
Cpus affinity();

}  // namespace convene::topology
