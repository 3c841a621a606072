// SPDX-License-Identifier: BSD-3-Clause
// Collectives through shared memory under τ-Lop: transfers of a group within one node instead of messages.
// Source: the τ-Lop thesis, sections 4.6, 4.7.3 and 4.7.4. All in channel 0; S is a segment, m is kS.
#pragma once

#include <cstdint>
#include <vector>

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

/// Open MPI's broadcast in shared memory: the number of concurrent transfers of a segment in each stage.
///
/// A tree of this degree in which every process with children has a shared buffer of two segments. The root
/// writes a segment into its buffer every second stage. A process with children copies each segment from its
/// parent's buffer into its own, and in the next stage to its user. A process without children copies in that
/// next stage, too, if processes of its level have children, since all processes advance together (figure
/// 4.22).
std::vector<std::uint32_t> shared_broadcast_stages(std::uint32_t procs, std::uint32_t degree,
                                                   std::uint32_t segments);

/// The number of levels, ⌈log_g((g − 1)P + 1)⌉.
std::uint32_t tree_height(std::uint32_t procs, std::uint32_t degree);

/// The sum of the stages. Throws Error for a degree or number of segments or processes of 0.
Expression shared_broadcast(std::uint32_t procs, std::uint32_t degree, std::uint32_t segments);

/// Open MPI's reduction in shared memory (4.55): all but the root write a segment into shared memory, the
/// root copies one of them and combines it with the others.
Expression shared_reduce(std::uint32_t procs);

/// AzequiaMPI's reduction in place (4.58): the ranks exchange the addresses of their data (messages of
/// `address` bytes, moved once), each combines one part of all vectors, and a barrier follows.
Expression in_situ_reduce(std::uint32_t procs, std::uint32_t address = 8);

}  // namespace convene::model
