// SPDX-License-Identifier: BSD-3-Clause
// Prepared plan: the schedules of a simulation, with the bytes of their messages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "experiment/experiment_names.hpp"
#include "experiment/given_plan.hpp"
#include "schedule/core/order.hpp"
#include "simulate/engine/workload.hpp"

namespace convene::experiment {

/// True if one rank's schedule can represent all ranks: there are many, and the algorithm has a symmetry.
bool has_representative(const Algorithm& algorithm, const Call& call, SharedWork& work);

/// What a simulation is refused for: too many steps or, before anything is simulated, too much time to build
/// schedules as well. (The time is not checked again for each run: measurements differ, and hours of work
/// would be lost.)
enum class Limit : std::uint8_t { steps, steps_and_time };

/// The estimated size of a simulation.
struct SimulationExtent {
  std::string refusal;      ///< the reason why it is too large; empty if it is not
  std::uint64_t steps = 0;  ///< of one run; 0: not known
};
SimulationExtent extent_of_simulation(const Spec& spec, const Call& call, bool represented, Limit limit,
                                      SharedWork& work, const std::stop_token& stop);

/// All ranks' schedules or, if one rank can represent them, rank 0's.
class PreparedPlan {
 public:
  /// `unequal_blocks`: blocks have sizes of their own, so that no rank represents the others. Throws Error if
  /// the plan is too large, and Interrupted if `stop` is requested.
  PreparedPlan(const Spec& spec, const Call& call, bool unequal_blocks, const std::stop_token& stop);

  /// A plan from a file. Throws Error if it is not correct.
  explicit PreparedPlan(const GivenPlan& given);

  /// Gives all blocks the same size.
  void set_bytes(double per_block, std::uint32_t segments);
  /// Gives blocks these sizes, by rank. Empty messages are omitted, as by the executor.
  void set_blocks(const std::vector<double>& blocks, const Spec& spec, std::uint32_t segments);
  /// Compiles the executor's order of steps, for ranks that do not take messages as they arrive.
  void compile_orders();

  const Workload& workload() const { return *workload_; }
  std::span<const Order> orders() const { return orders_; }
  std::uint32_t rounds() const { return std::max(one_->rounds(), 1u); }

 private:
  /// The unit that a block is not cut within. Vectors of a reduction are of doubles if their size allows it.
  double item_bytes(double per_block) const;

  const Collective collective_;
  std::unique_ptr<Schedule> one_;
  std::unique_ptr<Plan> plan_;  // null if rank 0 represents all
  std::unique_ptr<Workload> workload_;
  std::vector<Order> orders_;
};

}  // namespace convene::experiment
