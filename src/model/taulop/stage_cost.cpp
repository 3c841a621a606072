// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/stage_cost.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {

namespace {

/// The stages in which a rank has a message.
class Taken {
 public:
  void add(std::size_t stage) {
    if (words_.size() <= stage / 64) words_.resize(stage / 64 + 1, 0);
    words_[stage / 64] |= std::uint64_t{1} << stage % 64;
  }
  static std::size_t first_free_in_both(const Taken& a, const Taken& b) {
    for (std::size_t i = 0;; ++i) {
      const std::uint64_t taken = a.word(i) | b.word(i);
      if (~taken != 0) return i * 64 + static_cast<std::size_t>(std::countr_one(taken));
    }
  }

 private:
  std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  std::vector<std::uint64_t> words_;
};

/// Marks the messages of a stage that are exchanges, in channels with separate parameters for these.
void find_exchanges(Stage& stage, std::span<const ModelChannel> channels) {
  std::set<std::pair<Rank, Rank>> ways;
  const auto matters = [&](const StageMessage& message) {
    const TauLop* const taulop = channels[message.channel].find<TauLop>();
    return taulop && taulop->distinguishes(TransferKind::exchange);
  };
  for (const StageMessage& message : stage)
    if (matters(message)) ways.emplace(message.from, message.to);
  for (StageMessage& message : stage) message.is_exchanged = ways.contains({message.to, message.from});
}

void add_transfer(Load& load, Rational size, bool is_exchanged) {
  auto place = load.transfers.begin();
  while (place != load.transfers.end() && place->first < size) ++place;
  if (place != load.transfers.end() && place->first == size)
    ++place->second;
  else
    load.transfers.insert(place, {size, 1});
  load.has_exchanges |= is_exchanged;
}

/// For every size, a has at least as many transfers of this size or more as b: then, by A2, it costs no less.
bool exceeds(const Load& a, const Load& b) {
  if (a.has_exchanges != b.has_exchanges) return false;  // neither L bounds the other
  std::uint64_t in_a = 0, in_b = 0;
  auto at = a.transfers.rbegin();
  for (auto of_b = b.transfers.rbegin(); of_b != b.transfers.rend(); ++of_b) {
    in_b += of_b->second;
    for (; at != a.transfers.rend() && at->first >= of_b->first; ++at) in_a += at->second;
    if (in_a < in_b) return false;
  }
  return true;
}

TransferKind kind_of(bool is_exchange) {
  return is_exchange ? TransferKind::exchange : TransferKind::message;
}

std::set<std::uint32_t> channels_of(const Stage& stage) {
  std::set<std::uint32_t> used;
  for (const StageMessage& message : stage) used.insert(message.channel);
  return used;
}

Stage only(const Stage& stage, std::uint32_t channel) {
  Stage part;
  for (const StageMessage& message : stage)
    if (message.channel == channel) part.push_back(message);
  return part;
}

/// Some rank sends and receives.
bool has_both_ways(const Stage& stage) {
  std::set<Rank> senders;
  for (const StageMessage& message : stage) senders.insert(message.from);
  return std::any_of(stage.begin(), stage.end(),
                     [&](const StageMessage& m) { return senders.contains(m.to); });
}

void keep_if_worst(std::vector<Load>& kept, const Load& load) {
  for (const Load& other : kept)
    if (exceeds(other, load)) return;
  std::erase_if(kept, [&](const Load& other) { return exceeds(load, other); });
  kept.push_back(load);
}

}  // namespace

std::vector<Stage> stages_of(const std::vector<StageMessage>& messages, Rank procs,
                             std::span<const ModelChannel> channels) {
  std::vector<Stage> stages;
  std::vector<Taken> sending(procs), receiving(procs);
  for (const StageMessage& message : messages) {
    const std::size_t stage = Taken::first_free_in_both(sending[message.from], receiving[message.to]);
    sending[message.from].add(stage);
    receiving[message.to].add(stage);
    if (stage >= stages.size()) stages.resize(stage + 1);
    stages[stage].push_back(message);
  }
  for (Stage& stage : stages) find_exchanges(stage, channels);
  return stages;
}

StageCost::StageCost(const ChannelMap& channels, const TransportModel& transport, std::string unit)
    : channels_(channels), transport_(transport), unit_(std::move(unit)) {
  for (std::uint32_t channel = 0; channel < channels.channels(); ++channel)
    transfers_.push_back(transfers(channel));
}

Expression StageCost::of(const Stage& stage) const {
  const std::set<std::uint32_t> used = channels_of(stage);
  const bool is_mixed = used.size() > 1;
  if (!is_mixed || is_segmented(transport_.memory)) {
    // Segments of different channels do not interleave: one channel after the other (section 5.2.2).
    std::vector<Expression> parts;
    for (auto channel = used.begin(); channel != used.end(); ++channel)
      parts.push_back(of_one_channel(only(stage, *channel), *channel));
    return Expression::sum(std::move(parts));
  }
  return by_transfers(stage);
}

/// A ∥ T if every transfer of the stage is one of A of the same size; otherwise by transfers.
Expression StageCost::of_one_channel(const Stage& stage, std::uint32_t channel) const {
  std::set<std::pair<Rational, std::uint32_t>> worst;
  bool is_exchanged = false;
  for (std::size_t j = 0; j < transfers_[channel].size(); ++j) {
    const std::vector<Load> loads = worst_loads(stage, j).begin()->second;
    if (loads.size() != 1 || loads.front().transfers.size() != 1) return by_transfers(stage);
    worst.insert(loads.front().transfers.front());
    is_exchanged |= loads.front().has_exchanges;
  }
  if (worst.size() != 1) return by_transfers(stage);
  const auto [bytes, number] = *worst.begin();
  return Expression::concurrent(number, has_both_ways(stage)
                                            ? T_sr(channel, size(bytes), kind_of(is_exchanged))
                                            : T(channel, size(bytes)));
}

/// The channels of a message's transfers.
std::vector<std::uint32_t> StageCost::transfers(std::uint32_t channel) const {
  if (is_network(channel)) {
    const std::uint32_t memory = transport_.network_channel - 1;
    return transport_.network == NetworkTransport::rdma ? std::vector{channel}
                                                        : std::vector{memory, channel, memory};
  }
  const std::size_t number = transport_.memory == MemoryTransport::zero_copy  ? 1
                             : transport_.memory == MemoryTransport::buffered ? 3
                                                                              : 2;
  return std::vector<std::uint32_t>(number, channel);
}

/// The j-th transfers of all messages: by channel, the loads of units that no other unit exceeds.
std::map<std::uint32_t, std::vector<Load>> StageCost::worst_loads(const Stage& stage, std::size_t j) const {
  std::map<std::uint32_t, std::vector<Load>> by_unit;  // by channel; then by unit
  for (const StageMessage& message : stage) {
    const std::vector<std::uint32_t>& way = transfers_[message.channel];
    if (j >= way.size()) continue;
    const Rank where = is_network(message.channel) && j == 0 && way.size() > 1 ? message.from : message.to;
    std::vector<Load>& units = by_unit[way[j]];
    const std::uint32_t unit = channels_.unit(way[j], where);
    if (units.size() <= unit) units.resize(unit + 1);
    add_transfer(units[unit], message.size, message.is_exchanged && is_network(way[j]));
  }
  std::map<std::uint32_t, std::vector<Load>> result;
  for (const auto& [channel, units] : by_unit)
    for (const Load& load : units)
      if (!load.transfers.empty()) keep_if_worst(result[channel], load);
  return result;
}

Expression StageCost::by_transfers(const Stage& stage) const {
  std::vector<Expression> parts{overhead(stage)};
  for (std::size_t j = 0;; ++j) {
    std::vector<Expression> loads;
    for (const auto& [channel, worst] : worst_loads(stage, j))
      for (const Load& load : worst) loads.push_back(transfer(channel, load));
    if (loads.empty()) break;
    parts.push_back(max_of_unbounded(std::move(loads)));
  }
  return Expression::sum(std::move(parts));
}

/// The largest message of each channel; the maximum of the channels.
Expression StageCost::overhead(const Stage& stage) const {
  std::map<std::uint32_t, Rational> largest;
  for (const StageMessage& message : stage)
    largest[message.channel] = std::max(largest[message.channel], message.size);
  std::vector<Expression> parts;
  for (const auto& [channel, bytes] : largest) parts.push_back(o(channel, size(bytes)));
  return Expression::max(std::move(parts));
}

Expression StageCost::transfer(std::uint32_t channel, const Load& load) const {
  std::vector<Size> sizes;
  for (const auto& [bytes, number] : load.transfers) sizes.insert(sizes.end(), number, size(bytes));
  return concurrent_transfers(channel, std::move(sizes), kind_of(load.has_exchanges));
}

}  // namespace convene::model
