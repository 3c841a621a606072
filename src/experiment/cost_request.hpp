// SPDX-License-Identifier: BSD-3-Clause
// Cost requests: the predicted cost of a requested plan, as numbers and as expressions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/experiment_names.hpp"
#include "experiment/schedule_request.hpp"
#include "model/platform/model_platform.hpp"

namespace convene::experiment {

/// The transport of messages within a node and between nodes, by the names of --memory and --network.
struct TransportNames {
  std::string memory, network;
};

/// Seconds for each size in bytes, under a cost model. `packed`: the program's data is not contiguous. Throws
/// Error.
std::vector<double> predict_seconds(const ScheduleRequest& request, const ModelPlatform& platform,
                                    const std::string& model, const std::vector<std::uint64_t>& sizes,
                                    bool packed);

/// Bytes times the distance of their nodes, for each size. Throws Error.
std::vector<double> count_hop_bytes(const ScheduleRequest& request, const std::vector<std::uint64_t>& sizes);

/// τ-Lop's cost as text: stage by stage, and simplified to a sum of overheads and transfers.
struct CostTexts {
  std::string stages, sum;
};
/// `platform`: null for one memory and one network. Throws Error.
CostTexts cost_texts(const ScheduleRequest& request, const ModelPlatform* platform,
                     const TransportNames& names, bool latex, bool packed);

/// A term of a cost: factor × parameter, such as L of a channel under τ transfers. By linearity, L(A·m, τ) =
/// A·L(m, τ); o counts once for each message.
struct CostTerm {
  std::string name;
  std::uint32_t channel, tau;
  double factor;
};
/// τ-Lop's cost as a sum of terms. Throws Error if it has maxima.
std::vector<CostTerm> cost_terms(const ScheduleRequest& request, const ModelPlatform* platform);

/// Compares two costs without overheads and copies: =, ≤, ≥, or ? if machines differ. Throws Error.
std::string compare_costs(const ScheduleRequest& first, const ScheduleRequest& second,
                          const ModelPlatform* platform, const TransportNames& names, bool farther_is_slower);

}  // namespace convene::experiment
