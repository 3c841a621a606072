// SPDX-License-Identifier: BSD-3-Clause
// The list of algorithms: each has a file and a line here.
#include "collective/core/algorithm.hpp"

#define CONVENE_ALGORITHMS(X)               \
  X(native)                                 \
  X(allgather_ring)                         \
  X(allgather_neighbor_exchange)            \
  X(allgather_recursive_doubling)           \
  X(allgather_recursive_doubling_two_phase) \
  X(allgather_bruck)                        \
  X(allgather_modified_ring)                \
  X(allgather_dissemination)                \
  X(allgather_gather_bcast)                 \
  X(allgather_segmented_ring)               \
  X(allgather_sparbit)                      \
  X(allgather_swing)                        \
  X(allgather_bine)                         \
  X(allgather_circulant)                    \
  X(allgather_aggregated_trees)             \
  X(allgather_bdr)                          \
  X(allgather_bslb)                         \
  X(allgather_list_scheduled)               \
  X(allgather_shared)                       \
  X(allgather_hier)                         \
  X(allgather_locality_bruck)               \
  X(allgather_remap)                        \
  X(allgather_by_arrival)                   \
  X(gather_linear)                          \
  X(gather_linear_sync)                     \
  X(gather_binomial)                        \
  X(gather_bine)                            \
  X(gather_nway_binomial)                   \
  X(gather_loggp_optimal)                   \
  X(gather_sls)                             \
  X(gather_bsls)                            \
  X(gather_sbn)                             \
  X(gather_bsbn)                            \
  X(gather_shared)                          \
  X(gather_shared_head)                     \
  X(gather_hier)                            \
  X(gather_remap)                           \
  X(gather_by_arrival)                      \
  X(scatter_linear)                         \
  X(scatter_linear_sync)                    \
  X(scatter_binomial)                       \
  X(scatter_bine)                           \
  X(scatter_nway_binomial)                  \
  X(scatter_loggp_optimal)                  \
  X(scatter_sln)                            \
  X(scatter_bsln)                           \
  X(scatter_sbn)                            \
  X(scatter_bsbn)                           \
  X(scatter_shared)                         \
  X(scatter_shared_head)                    \
  X(scatter_hier)                           \
  X(scatter_remap)                          \
  X(scatter_by_arrival)                     \
  X(bcast_linear)                           \
  X(bcast_binomial)                         \
  X(bcast_bine)                             \
  X(bcast_knomial)                          \
  X(bcast_chain)                            \
  X(bcast_binary)                           \
  X(bcast_split_binary)                     \
  X(bcast_scatter_allgather)                \
  X(bcast_list_scheduled)                   \
  X(bcast_arrival_b)                        \
  X(bcast_arrival_nb)                       \
  X(bcast_shared)                           \
  X(bcast_hier)                             \
  X(bcast_remap)                            \
  X(bcast_by_arrival)                       \
  X(alltoall_linear)                        \
  X(alltoall_pairwise)                      \
  X(alltoall_bruck)                         \
  X(alltoall_shared)                        \
  X(alltoall_shared_head)                   \
  X(alltoall_hier)                          \
  X(alltoall_remap)                         \
  X(barrier_dissemination)                  \
  X(barrier_recursive_doubling)             \
  X(barrier_tree)                           \
  X(barrier_tournament)                     \
  X(barrier_adaptive_tree)                  \
  X(barrier_shared)                         \
  X(barrier_hier)                           \
  X(barrier_remap)                          \
  X(reduce_linear)                          \
  X(reduce_binomial)                        \
  X(reduce_bine)                            \
  X(reduce_binary)                          \
  X(reduce_in_order_binary)                 \
  X(reduce_two_tree)                        \
  X(reduce_pipeline)                        \
  X(reduce_butterfly)                       \
  X(reduce_radix_k)                         \
  X(reduce_ring)                            \
  X(reduce_clairvoyant)                     \
  X(reduce_list_scheduled)                  \
  X(reduce_local_redirect)                  \
  X(reduce_shared)                          \
  X(reduce_in_situ)                         \
  X(reduce_hier)                            \
  X(reduce_remap)                           \
  X(reduce_by_arrival)                      \
  X(allreduce_recursive_doubling)           \
  X(allreduce_rabenseifner)                 \
  X(allreduce_ring)                         \
  X(allreduce_segmented_ring)               \
  X(allreduce_swing)                        \
  X(allreduce_bine)                         \
  X(allreduce_circulant)                    \
  X(allreduce_reduce_bcast)                 \
  X(allreduce_slt)                          \
  X(allreduce_prr)                          \
  X(allreduce_stragglar)                    \
  X(allreduce_list_scheduled)               \
  X(allreduce_adaptive_tree)                \
  X(allreduce_in_situ)                      \
  X(allreduce_shared)                       \
  X(allreduce_hier)                         \
  X(allreduce_remap)                        \
  X(allreduce_by_arrival)                   \
  X(reduce_scatter_recursive_halving)       \
  X(reduce_scatter_pairwise)                \
  X(reduce_scatter_ring)                    \
  X(reduce_scatter_butterfly)               \
  X(reduce_scatter_swing)                   \
  X(reduce_scatter_bine)                    \
  X(reduce_scatter_circulant)               \
  X(reduce_scatter_aggregated_trees)        \
  X(reduce_scatter_shared)                  \
  X(reduce_scatter_remap)                   \
  X(scan_recursive_doubling)                \
  X(scan_binomial)                          \
  X(scan_shared)                            \
  X(neighbor_linear)                        \
  X(neighbor_combining)                     \
  X(neighbor_alltoall_linear)               \
  X(neighbor_alltoall_combining)

namespace convene::collective {

#define CONVENE_DECLARE(algorithm) extern const Algorithm algorithm;
CONVENE_ALGORITHMS(CONVENE_DECLARE)
#undef CONVENE_DECLARE

std::span<const Algorithm* const> catalogue() {
#define CONVENE_LIST(algorithm) &algorithm,
  static const Algorithm* const list[] = {CONVENE_ALGORITHMS(CONVENE_LIST)};
#undef CONVENE_LIST
  return list;
}

}  // namespace convene::collective
