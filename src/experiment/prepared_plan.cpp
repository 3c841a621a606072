// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/prepared_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "experiment/plan_extent.hpp"
#include "simulate/engine/simulation_options.hpp"

namespace convene::experiment {

namespace {

// Limit of a plan that is stored: some gigabytes, enough for the linear algorithms of 4,096 ranks.
constexpr std::uint64_t most_steps = 36'000'000;
constexpr std::uint64_t most_represented = 1ull << 28;  // limit of a relabelled one

/// The places that those of a scratch buffer are sized like; empty for the call's own buffers.
std::span<const Place> likeness(const Schedule& schedule, Buffer buffer) {
  return buffer >= Buffer::scratch ? schedule.sized_like(buffer) : std::span<const Place>();
}

/// The bytes of places if each rank's block has a size of its own (allgather, gather, scatter and their
/// irregular forms: a buffer has the own block, or all).
class BlockSizes {
 public:
  BlockSizes(const std::vector<double>& blocks, const Spec& spec, std::uint32_t segments)
      : blocks_(blocks),
        cut_(spec.algorithm->cut),
        segments_(segments),
        head_(static_cast<double>(head_bytes(*spec.algorithm, spec.parameters))) {}

  double of(const Schedule& schedule, std::span<const Range> ranges) const {
    double sum = 0;
    for (const Range& range : ranges) {
      const std::uint32_t places = schedule.places(range.buffer());
      const std::span<const Place> like = likeness(schedule, range.buffer());
      const Place own = places == segments_ && blocks_.size() > 1 ? schedule.rank() * segments_ : 0;
      for_each_place(range, places,
                     [&](Place place) { sum += of(like.empty() ? own + place : like[place]); });
    }
    return sum;
  }

 private:
  static constexpr double tiny = 8;  // bytes: the first part of a block, which announces the rest

  double of(Place place) const {
    const double block = blocks_.at(place / segments_);
    if (cut_ == Cut::evenly) return block / segments_;
    const double first = cut_ == Cut::tiny_first ? std::min(tiny, block / 2) : std::min(head_, block);
    return place % segments_ == 0 ? first : block - first;
  }

  const std::vector<double>& blocks_;
  const Cut cut_;
  const std::uint32_t segments_;
  const double head_;
};

/// The items of a part of a block, cut as by the executor (execute/memory.hpp).
double items_of_part(double items, std::uint32_t part, std::uint32_t parts) {
  return std::floor(items * (part + 1) / parts) - std::floor(items * part / parts);
}

}  // namespace

bool has_representative(const Algorithm& algorithm, const Call& call, SharedWork& work) {
  constexpr Rank many = 4096;  // fewer are built in a second
  if (call.procs < many || algorithm.symmetry == Symmetry::none) return false;
  if (segments(algorithm, call) > 1) return false;  // segments may be unequal
  Builder builder;
  const auto steps = [&](Rank rank) { return extent_of(algorithm, call, rank, builder, &work).steps; };
  return steps(call.procs - 1) == steps(0);
}

SimulationExtent extent_of_simulation(const Spec& spec, const Call& call, bool represented, Limit limit,
                                      SharedWork& work, const std::stop_token& stop) {
  const std::uint64_t most = represented ? most_represented : most_steps;
  Extent extent = expected_extent(*spec.algorithm, call, most, stop, &work);
  if (represented || limit == Limit::steps) extent.seconds = 0;
  const std::string task =
      "simulating " + spec_text(spec) + " on " + std::to_string(call.procs) + " processes";
  return {extent.refusal(task, most), extent.steps};
}

PreparedPlan::PreparedPlan(const Spec& spec, const Call& call, bool unequal_blocks,
                           const std::stop_token& stop)
    : collective_(call.collective) {
  const Algorithm& algorithm = *spec.algorithm;
  SharedWork work;
  const bool represented = !unequal_blocks && has_representative(algorithm, call, work);
  const SimulationExtent extent = extent_of_simulation(spec, call, represented, Limit::steps, work, stop);
  if (!extent.refusal.empty()) throw Error(extent.refusal);
  if (stop.stop_requested()) throw Interrupted();
  Builder builder;
  one_ = std::make_unique<Schedule>(build_schedule(algorithm, call, work, builder));
  if (!represented) {
    plan_ = std::make_unique<Plan>(build_plan(algorithm, call, work, stop));
    if (stop.stop_requested()) throw Interrupted();
    workload_ = std::make_unique<Workload>(Workload::of(*plan_));
    return;
  }
  workload_ = std::make_unique<Workload>(Workload::relabelled(
      *one_, algorithm.symmetry == Symmetry::exchange ? Relabelling::exchange : Relabelling::rotation));
}

PreparedPlan::PreparedPlan(const GivenPlan& given) : collective_(given.call().collective) {
  plan_ = std::make_unique<Plan>(given.plan());
  one_ = std::make_unique<Schedule>(plan_->front());
  workload_ = std::make_unique<Workload>(Workload::of(*plan_));
}

void PreparedPlan::set_bytes(double per_block, std::uint32_t segments) {
  const double item = item_bytes(per_block), items = per_block / item;
  if (items >= segments || items != std::floor(items)) return workload_->set_bytes(per_block / segments);
  // Fewer items than segments: some segments are empty, and their messages are omitted.
  workload_->set_bytes(
      [&](const Schedule& schedule, std::span<const Range> ranges) {
        double sum = 0;
        for (const Range& range : ranges) {
          const std::span<const Place> like = likeness(schedule, range.buffer());
          for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
            sum += item * items_of_part(items, (like.empty() ? place : like[place]) % segments, segments);
          });
        }
        return sum;
      },
      Workload::Empty::omitted);
}

void PreparedPlan::set_blocks(const std::vector<double>& blocks, const Spec& spec, std::uint32_t segments) {
  const BlockSizes sizes(blocks, spec, segments);
  workload_->set_bytes(
      [&](const Schedule& schedule, std::span<const Range> ranges) { return sizes.of(schedule, ranges); },
      Workload::Empty::omitted);
}

void PreparedPlan::compile_orders() {
  const auto compile = [&](const Schedule& schedule) {
    const bool takes_any = schedule.places(Buffer::shared) == 0 && has_independent_arrivals(schedule);
    orders_.push_back(takes_any ? Order() : compile_order(schedule));
  };
  if (plan_)
    std::ranges::for_each(*plan_, compile);
  else
    compile(*one_);
}

double PreparedPlan::item_bytes(double per_block) const {
  constexpr double of_double = 8;
  return is_reduction(collective_) && std::fmod(per_block, of_double) == 0 ? of_double : 1;
}

}  // namespace convene::experiment
