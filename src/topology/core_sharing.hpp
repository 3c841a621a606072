// SPDX-License-Identifier: BSD-3-Clause
// Sharing of cores: whether the processes of a node can each run on a core of their own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace convene::topology {

/// Most CPUs (hardware threads) of a node that a mask distinguishes; the number of a further one is
/// taken modulo this.
constexpr std::uint32_t most_masked_cpus = 1024;

/// The CPUs on which a process may run: CPU c is bit c mod 64 of word c / 64.
using CpuMask = std::array<std::uint64_t, most_masked_cpus / 64>;

/// The mask of these CPUs.
CpuMask mask_of(std::span<const std::uint32_t> cpus);

/// True unless each process can have a CPU of its own among those of its mask: a maximum matching of
/// processes to CPUs, by augmenting paths (H. W. Kuhn, The Hungarian method for the assignment problem,
/// 1955). A process with an empty mask is left out.
bool must_share_cores(std::span<const CpuMask> masks);

}  // namespace convene::topology
