// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/summa_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/error.hpp"
#include "schedule/core/builder.hpp"
#include "simulate/engine/simulator.hpp"

namespace convene::experiment {

namespace {

constexpr std::uint64_t most_messages = 36'000'000;

/// A process's rectangle: its column of the partition, its place in that column, and its rows.
struct Seat {
  std::size_t column = 0, place = 0;
  std::uint32_t top = 0, bottom = 0;
};

class Summa {
 public:
  explicit Summa(const SummaRequest& request)
      : columns_(request.columns), seats_(request.nodes.size()), procs_(request.nodes.size()) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      std::uint32_t row = 0;
      for (std::size_t place = 0; place < columns_[column].rectangles.size(); ++place) {
        const Rectangle& each = columns_[column].rectangles[place];
        seats_[each.process] = {column, place, row, row + each.height};
        row += each.height;
      }
      blocks_ += columns_[column].width;
      stages_ = std::max(stages_, static_cast<int>(std::bit_width(columns_[column].rectangles.size() - 1)));
    }
    if (std::uint64_t{blocks_} * procs_ * procs_ > most_messages)
      throw Error(
          fmt::format("the partition has {} blocks and {} processes, too many to simulate; use fewer "
                      "blocks",
                      blocks_, procs_));
  }

  Schedule of(Builder& builder, Rank rank) const {
    builder.begin(static_cast<Rank>(procs_), rank);
    builder.buffer(Buffer::input, blocks_);       // of A or of B
    builder.buffer(Buffer::output, 2 * blocks_);  // A's column, then B's row
    builder.pace_rounds();
    std::uint32_t round = 0;
    std::size_t column = 0;
    for (std::uint32_t k = 0, end = columns_[0].width; k < blocks_; ++k) {
      if (k == end) end += columns_[++column].width;
      builder.round(round++);
      if (seats_[rank].column == column)
        send_rows(builder, rank);
      else
        receive_rows(builder, rank, column);
      broadcast(builder, rank, k, round);
      round += static_cast<std::uint32_t>(stages_);
    }
    return builder.finish();
  }

 private:
  void send_rows(Builder& builder, Rank rank) const {
    const Seat& own = seats_[rank];
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (column == own.column) continue;
      for (const Rectangle& other : columns_[column].rectangles)
        if (const auto [first, count] = common(own, seats_[other.process]); count > 0)
          builder.send(other.process, Range(Buffer::input, first, count));
    }
  }

  void receive_rows(Builder& builder, Rank rank, std::size_t column) const {
    for (const Rectangle& owner : columns_[column].rectangles)
      if (const auto [first, count] = common(seats_[rank], seats_[owner.process]); count > 0)
        builder.recv(owner.process, Range(Buffer::output, first, count));
  }

  struct Rows {
    std::uint32_t first, count;
  };
  static Rows common(const Seat& a, const Seat& b) {
    const std::uint32_t first = std::max(a.top, b.top), last = std::min(a.bottom, b.bottom);
    return {first, last > first ? last - first : 0};
  }

  /// Row k of B in the rank's column, in a binomial tree from the row's owner.
  void broadcast(Builder& builder, Rank rank, std::uint32_t k, std::uint32_t round) const {
    const PartitionColumn& column = columns_[seats_[rank].column];
    const std::size_t procs = column.rectangles.size();
    std::size_t root = 0;
    for (std::uint32_t end = column.rectangles[0].height; end <= k;) end += column.rectangles[++root].height;
    const std::size_t place = (seats_[rank].place + procs - root) % procs;
    const auto process = [&](std::size_t at) { return column.rectangles[(at + root) % procs].process; };
    const Range row(place == 0 ? Buffer::input : Buffer::output, place == 0 ? 0 : blocks_, column.width);
    for (std::size_t distance = std::bit_ceil(procs) / 2; distance > 0; distance /= 2, ++round) {
      builder.round(round);
      if (place % (2 * distance) == 0 && place + distance < procs)
        builder.send(process(place + distance), row);
      else if (place % (2 * distance) == distance)
        builder.recv(process(place - distance), row);
    }
  }

  const std::vector<PartitionColumn>& columns_;
  std::vector<Seat> seats_;
  std::size_t procs_;
  std::uint32_t blocks_ = 0;
  int stages_ = 0;  // of a broadcast, at most
};

}  // namespace

Plan summa_plan(const SummaRequest& request) {
  model::summa(request.columns, request.nodes);  // throws if the partition is inconsistent
  const Summa kernel(request);
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < request.nodes.size(); ++rank) plan.push_back(kernel.of(builder, rank));
  return plan;
}

SummaRun simulate_summa(const SummaRequest& request, std::uint32_t block_bytes,
                        const SimulatedPlatform& platform, bool exact) {
  const Plan plan = summa_plan(request);
  Workload workload = Workload::of(plan);
  workload.set_bytes(block_bytes);
  std::string placement;
  for (const std::uint32_t node : request.nodes)
    placement += (placement.empty() ? "" : ",") + std::to_string(node);
  const Seating seating = seat(platform, placement, workload.procs());
  const std::vector<double> together(workload.procs(), 0.0);
  const SimulationResult result =
      run_simulation(workload, platform, seating, together,
                     {.contention = exact ? Contention::max_min_fair : Contention::equal_share});
  return {result.end, result.messages, result.bytes};
}

}  // namespace convene::experiment
