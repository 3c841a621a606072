// SPDX-License-Identifier: BSD-3-Clause
// Workload: the steps of all ranks in the simulator's form. They are those of a plan, or from one schedule
// that is relabelled for each rank, so that a million ranks need not be stored.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::simulate {

/// The symmetry that maps rank 0's schedule to rank r's: every peer p becomes p + r modulo P, or p xor r.
enum class Relabelling : std::uint8_t { rotation, exchange };

/// A step in the simulator's form.
struct SimStep {
  Rank peer = 0;             ///< rank 0's peer, if the workload is one schedule
  StepId partner = 0;        ///< the peer's step at the other end of the message
  double bytes = 0;          ///< sent, received or copied
  StepId edges = 0;          ///< the only successor, or the start of the list of successors
  std::uint16_t degree = 0;  ///< the number of successors; `most_degree`: the list begins with it
  StepKind kind = StepKind::join;
  bool scattered : 1 = false;  ///< a message of noncontiguous blocks
  bool own_input : 1 = false;  ///< uses the rank's input, which is available when the rank arrives
  bool omitted : 1 = false;    ///< an empty message that is not sent

  static constexpr std::uint16_t most_degree = 0xffff;
};

class Workload {
 public:
  /// The number of bytes in ranges of a schedule.
  using Bytes = std::function<double(const Schedule& schedule, std::span<const Range> ranges)>;

  /// The steps of all ranks. The plan must outlive the workload. Throws Error if messages do not match.
  static Workload of(const Plan& plan);
  /// Rank 0's steps, relabelled for every rank. The schedule must outlive the workload. The caller guarantees
  /// the symmetry; throws Error if a message of rank 0 has no other end under it.
  static Workload relabelled(const Schedule& schedule, Relabelling how);

  /// Empty messages are sent, or omitted on both sides (as the executor does).
  enum class Empty : std::uint8_t { sent, omitted };

  /// Sets the size of every place, or the sizes of ranges. Until then all messages are empty.
  void set_bytes(double per_place);
  void set_bytes(const Bytes& bytes, Empty empty = Empty::sent);

  Rank procs() const { return procs_; }
  /// The number of steps of all ranks.
  std::uint64_t steps() const { return one_ ? std::uint64_t{procs_} * one_->size() : steps_.size(); }
  /// The number of the rank's first step; the steps of all ranks are numbered consecutively.
  std::uint64_t first(Rank rank) const { return one_ ? std::uint64_t{rank} * one_->size() : base_[rank]; }

  /// The number of predecessors of each step of the rank.
  std::span<const std::uint32_t> predecessors(Rank rank) const {
    return std::span(predecessors_)
        .subspan(one_ ? 0 : base_[rank], one_ ? predecessors_.size() : base_[rank + 1] - base_[rank]);
  }
  const Schedule& schedule(Rank rank) const { return one_ ? *one_ : (*plan_)[rank]; }
  const SimStep& sim_step(Rank rank, StepId step) const { return steps_[one_ ? step : base_[rank] + step]; }
  /// The steps that depend on this one. (Stored here for all ranks: the simulator switches between ranks at
  /// every event, and looking them up in the ranks' schedules would cost half of its time.)
  std::span<const StepId> successors(const SimStep& sim_step) const {
    if (sim_step.degree == 1) return {&sim_step.edges, 1};
    const StepId* const list = edges_.data() + sim_step.edges;
    return sim_step.degree < SimStep::most_degree ? std::span(list, sim_step.degree)
                                                  : std::span(list + 1, *list);
  }
  /// Prefetches that list.
  void prefetch_successors(const SimStep& sim_step) const {
    if (sim_step.degree > 1) prefetch_line(edges_.data() + sim_step.edges);
  }
  Rank peer(Rank rank, const SimStep& sim_step) const {
    if (!one_) return sim_step.peer;
    if (how_ == Relabelling::exchange) return sim_step.peer ^ rank;
    const Rank sum = sim_step.peer + rank;  // both below P, which is at most 2^31
    return sum < procs_ ? sum : sum - procs_;
  }

 private:
  void add(const Schedule& schedule);
  void set_successors(SimStep& sim_step, std::span<const StepId> successors);
  void link_own_messages();

  Rank procs_ = 0;
  const Plan* plan_ = nullptr;
  const Schedule* one_ = nullptr;
  Relabelling how_ = Relabelling::rotation;
  LargeVector<SimStep> steps_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<StepId> edges_;
  std::vector<std::uint64_t> base_;  // by rank, for a plan
};

}  // namespace convene::simulate
