// SPDX-License-Identifier: BSD-3-Clause
// Kernel costs: the communication of a computational kernel under τ-Lop, as text and, on a platform, in
// seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment_names.hpp"
#include "model/platform/model_platform.hpp"
#include "model/taulop/summa.hpp"

namespace convene::experiment {

/// A partition of the matrices, and the node of each process.
struct SummaRequest {
  std::vector<PartitionColumn> columns;
  std::vector<std::uint32_t> nodes;
};

struct SummaTexts {
  std::string rows, columns, total;  ///< sizes in blocks
  std::optional<double> seconds;     ///< if a platform is given: of `total`
  /// If a platform is given: before A1 adds up the messages of all iterations.
  std::optional<double> by_iteration;
};
/// `platform` may be null. Throws Error.
SummaTexts summa_texts(const SummaRequest& request, std::uint32_t block_bytes, const ModelPlatform* platform,
                       bool latex);

/// Compares the transfers of two partitions: =, ≤, ≥, or ? if machines differ. Throws Error.
std::string compare_summa(const SummaRequest& first, const SummaRequest& second, bool farther_is_slower);

/// A collective within a node whose steps are transfers: shared_bcast, shared_reduce, in_situ_reduce.
struct SharedMemoryRequest {
  std::string name;
  std::uint32_t procs = 1, degree = 2, segments = 1;
  std::uint32_t segment = 0;  ///< bytes
};

struct SharedMemoryTexts {
  std::string total;
  std::optional<double> seconds;  ///< if a platform is given
};
/// `platform` may be null. Throws Error.
SharedMemoryTexts shared_memory_texts(const SharedMemoryRequest& request, const ModelPlatform* platform,
                                      bool latex);

}  // namespace convene::experiment
