// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/summa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace convene::model {

namespace {

constexpr std::uint32_t memory = 0, network = 1, channels = 2;

/// A number of concurrent transmissions of a number of blocks each.
struct StagePhase {
  std::uint32_t number;
  std::int64_t blocks;
};
/// Successive phases in one channel.
using StagePhases = std::vector<StagePhase>;

/// Sequences that start together in one channel (A2): they contend until the next phase of any of them ends.
StagePhases together(std::vector<StagePhases> sequences) {
  StagePhases merged;
  while (true) {
    std::erase_if(sequences, [](const StagePhases& phases) { return phases.empty(); });
    if (sequences.empty()) return merged;
    std::uint32_t number = 0;
    std::int64_t shortest = sequences.front().front().blocks;
    for (const StagePhases& phases : sequences) {
      number += phases.front().number;
      shortest = std::min(shortest, phases.front().blocks);
    }
    merged.push_back({number, shortest});
    for (StagePhases& phases : sequences) {
      phases.front().blocks -= shortest;
      if (phases.front().blocks == 0) phases.erase(phases.begin());
    }
  }
}

[[noreturn]] void refuse_large() {
  throw Error("the messages of the partition exceed 2^63 bytes; use fewer blocks");
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) refuse_large();
  return sum;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) refuse_large();
  return product;
}

/// Blocks by channel and number of transmissions at a time, over all iterations (A1).
class Sum {
 public:
  void add(std::uint32_t channel, const StagePhases& phases, std::int64_t times) {
    for (const StagePhase& phase : phases) {
      std::int64_t& sum = blocks_[{channel, phase.number}];
      sum = sum_of(sum, product_of(phase.blocks, times));
      phases_[{channel, phase.number, phase.blocks}] += times;
    }
  }

  Expression expression(std::uint32_t block) const {
    std::vector<Expression> terms;
    for (const auto& [key, blocks] : blocks_)
      if (blocks > 0)
        terms.push_back(Expression::concurrent(key.second, T(key.first, {product_of(blocks, block), ""})));
    return Expression::sum(std::move(terms));
  }

  /// Before A1 adds up the iterations.
  Expression by_iteration(std::uint32_t block) const {
    std::vector<Expression> terms;
    for (const auto& [key, times] : phases_) {
      const auto [channel, number, blocks] = key;
      terms.push_back(Expression::times(
          times, Expression::concurrent(number, T(channel, {product_of(blocks, block), ""}))));
    }
    return Expression::sum(std::move(terms));
  }

 private:
  /// The nearest channel first, and there the most contended.
  struct Order {
    bool operator()(const std::pair<std::uint32_t, std::uint32_t>& a,
                    const std::pair<std::uint32_t, std::uint32_t>& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t, Order> blocks_;
  /// Iterations by channel, number of transmissions at a time, and their blocks.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::int64_t> phases_;
};

std::uint64_t height_of(const PartitionColumn& column) {
  std::uint64_t sum = 0;
  for (const Rectangle& rectangle : column.rectangles) sum += rectangle.height;
  return sum;
}

void require_good_partition(const std::vector<PartitionColumn>& partition, std::size_t processes) {
  std::uint64_t width = 0;
  std::set<std::uint32_t> seen;
  for (const PartitionColumn& column : partition) {
    width += column.width;
    if (column.width == 0) throw Error("a column of the partition has no width");
    for (const Rectangle& rectangle : column.rectangles) {
      if (rectangle.process >= processes)
        throw Error(fmt::format("process {} has a rectangle, but the layout has only {} processes",
                                rectangle.process, processes));
      if (!seen.insert(rectangle.process).second)
        throw Error(fmt::format("process {} has two rectangles; give each process one", rectangle.process));
      if (rectangle.height == 0)
        throw Error(fmt::format("the rectangle of process {} has no height", rectangle.process));
    }
  }
  if (seen.size() != processes)
    throw Error(fmt::format("the partition has rectangles for {} of {} processes; each needs one",
                            seen.size(), processes));
  for (std::size_t i = 0; i < partition.size(); ++i)
    if (height_of(partition[i]) != width)
      throw Error(
          fmt::format("column {} of the partition is {} blocks high, but all columns together are {} wide; "
                      "the matrices are squares",
                      i, height_of(partition[i]), width));
}

class Summa {
 public:
  Summa(const std::vector<PartitionColumn>& partition, const std::vector<std::uint32_t>& node_of)
      : partition_(partition), node_of_(node_of) {}

  void add_rows(Sum& sum) const {
    for (const PartitionColumn& column : partition_) {
      std::array<std::vector<StagePhases>, channels> sent;
      std::int64_t top = 0;
      for (const Rectangle& owner : column.rectangles) {
        for (std::uint32_t channel = 0; channel < channels; ++channel)
          if (const std::int64_t blocks = blocks_to_others(column, owner, top, channel); blocks > 0)
            sent[channel].push_back({{1, blocks}});
        top += owner.height;
      }
      for (std::uint32_t channel = 0; channel < channels; ++channel)
        sum.add(channel, together(sent[channel]), column.width);
    }
  }

  /// Rows of B with the same owners in all columns cost the same.
  void add_columns(Sum& sum) const {
    std::set<std::int64_t> edges{0};
    for (const PartitionColumn& column : partition_) {
      std::int64_t row = 0;
      for (const Rectangle& rectangle : column.rectangles) edges.insert(row += rectangle.height);
    }
    for (auto begin = edges.begin(), end = std::next(begin); end != edges.end(); ++begin, ++end) {
      std::array<std::vector<StagePhases>, channels> sent;
      for (const PartitionColumn& column : partition_) {
        const auto broadcast = binomial(column, owner_of(column, *begin));
        for (std::uint32_t channel = 0; channel < channels; ++channel)
          sent[channel].push_back(broadcast[channel]);
      }
      for (std::uint32_t channel = 0; channel < channels; ++channel)
        sum.add(channel, together(sent[channel]), *end - *begin);
    }
  }

 private:
  std::uint32_t channel(std::uint32_t a, std::uint32_t b) const {
    return node_of_[a] == node_of_[b] ? memory : network;
  }

  /// Messages of the owner of the rows from `top` on through this channel, as a sequence (A4, A1).
  std::int64_t blocks_to_others(const PartitionColumn& own, const Rectangle& owner, std::int64_t top,
                                std::uint32_t wanted) const {
    const std::int64_t bottom = top + owner.height;
    std::int64_t blocks = 0;
    for (const PartitionColumn& column : partition_) {
      if (&column == &own) continue;
      std::int64_t row = 0;
      for (const Rectangle& other : column.rectangles) {
        const std::int64_t end = row + other.height;
        if (channel(owner.process, other.process) == wanted)
          blocks += std::max<std::int64_t>(0, std::min(bottom, end) - std::max(top, row));
        row = end;
      }
    }
    return blocks;
  }

  static std::size_t owner_of(const PartitionColumn& column, std::int64_t row) {
    std::size_t place = 0;
    for (std::int64_t end = column.rectangles[0].height; end <= row;)
      end += column.rectangles[++place].height;
    return place;
  }

  /// The stages of a binomial broadcast among the processes of a column, by channel.
  std::array<StagePhases, channels> binomial(const PartitionColumn& column, std::size_t root) const {
    std::array<StagePhases, channels> stages;
    const std::size_t procs = column.rectangles.size();
    const auto process = [&](std::size_t place) { return column.rectangles[(place + root) % procs].process; };
    std::size_t distance = 1;
    while (distance * 2 < procs) distance *= 2;
    for (; distance > 0 && procs > 1; distance /= 2) {
      std::array<std::uint32_t, channels> messages{};
      for (std::size_t place = 0; place + distance < procs; place += 2 * distance)
        ++messages[channel(process(place), process(place + distance))];
      for (std::uint32_t way = 0; way < channels; ++way)
        if (messages[way] > 0) stages[way].push_back({messages[way], column.width});
    }
    return stages;
  }

  const std::vector<PartitionColumn>& partition_;
  const std::vector<std::uint32_t>& node_of_;
};

}  // namespace

SummaCost summa(const std::vector<PartitionColumn>& partition, const std::vector<std::uint32_t>& node_of,
                std::uint32_t block) {
  require_good_partition(partition, node_of.size());
  const Summa kernel(partition, node_of);
  Sum rows, columns, total;
  for (Sum* sum : {&rows, &total}) kernel.add_rows(*sum);
  for (Sum* sum : {&columns, &total}) kernel.add_columns(*sum);
  return {rows.expression(block), columns.expression(block), total.expression(block),
          total.by_iteration(block)};
}

}  // namespace convene::model
