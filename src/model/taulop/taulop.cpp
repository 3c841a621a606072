// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/taulop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "model/taulop/cost_bounds.hpp"

namespace convene::model {

namespace {

struct Message {
  Rank from, to;
  std::uint32_t channel;
  Rational size;              ///< in units of the derivation
  bool is_exchanged = false;  ///< its receiver sends to its sender in the same stage, where that matters
};

/// One stage: each rank sends at most one of these and receives at most one.
using Stage = std::vector<Message>;

/// What happens in one round: bytes copied and combined by each rank, and messages.
struct Round {
  std::map<Rank, Rational> copied, combined;
  std::map<Rank, std::vector<Rational>>
      transferred;  ///< into shared places or from there, one after the other
  std::vector<Message> messages;
};

Rational exact(double bytes) {
  if (bytes != std::floor(bytes) || bytes > 9e15)
    throw Error(fmt::format("the cost expression needs whole bytes, not {}", bytes));
  return static_cast<std::int64_t>(bytes);
}

std::map<std::uint32_t, Round> rounds_of(const Plan& plan, const ChannelMap& channels, Rational place,
                                         const MessageSizes& sizes) {
  std::map<std::uint32_t, Round> rounds;
  for (const Schedule& schedule : plan)
    for (StepId step = 0; step < schedule.size(); ++step) {
      const Step& what = schedule[step];
      if (what.kind == StepKind::recv || what.kind == StepKind::join || what.is_shm_signal()) continue;
      const Rational size = place * exact(sizes.bytes(schedule, step));
      Round& round = rounds[what.round];
      const bool is_shared = (what.touches >> index(Buffer::shared) & 1) != 0;
      if (what.kind == StepKind::copy && is_shared) {
        round.transferred[schedule.rank()].push_back(size);
      } else if (!what.is_message()) {
        Rational& sum = (what.kind == StepKind::copy ? round.copied : round.combined)[schedule.rank()];
        sum = sum + size;
      } else {
        round.messages.push_back({schedule.rank(), what.peer,
                                  static_cast<std::uint32_t>(channels.between(schedule.rank(), what.peer)),
                                  size});
      }
    }
  return rounds;
}

/// Which stages a rank has a message in.
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

/// Notes which messages of a stage are exchanges, in channels whose parameters tell these apart.
void find_exchanges(Stage& stage, std::span<const Channel> channels) {
  std::set<std::pair<Rank, Rank>> ways;
  const auto matters = [&](const Message& message) {
    const std::optional<TauLop>& taulop = channels[message.channel].taulop;
    return taulop && taulop->tells_apart(Sort::exchange);
  };
  for (const Message& message : stage)
    if (matters(message)) ways.emplace(message.from, message.to);
  for (Message& message : stage) message.is_exchanged = ways.contains({message.to, message.from});
}

/// Puts each message into the first stage in which its two ranks have nothing yet.
std::vector<Stage> stages_of(const std::vector<Message>& messages, Rank procs,
                             std::span<const Channel> channels) {
  std::vector<Stage> stages;
  std::vector<Taken> sending(procs), receiving(procs);
  for (const Message& message : messages) {
    const std::size_t stage = Taken::first_free_in_both(sending[message.from], receiving[message.to]);
    sending[message.from].add(stage);
    receiving[message.to].add(stage);
    if (stage >= stages.size()) stages.resize(stage + 1);
    stages[stage].push_back(message);
  }
  for (Stage& stage : stages) find_exchanges(stage, channels);
  return stages;
}

/// The transfers that contend with each other: sizes, ascending, and how many there are of each.
struct Load {
  std::vector<std::pair<Rational, std::uint32_t>> transfers;
  bool has_exchanges = false;
};

void add_transfer(Load& load, Rational size, bool is_exchanged) {
  auto place = load.transfers.begin();
  while (place != load.transfers.end() && place->first < size) ++place;
  if (place != load.transfers.end() && place->first == size)
    ++place->second;
  else
    load.transfers.insert(place, {size, 1});
  load.has_exchanges |= is_exchanged;
}

/// Whether a has, for every size, at least as many transfers of this size or more as b: then, by A2, it costs no less.
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

Sort sort_of(bool is_exchange) { return is_exchange ? Sort::exchange : Sort::message; }

class StageCost {
 public:
  StageCost(const ChannelMap& channels, const Transport& transport, std::string unit)
      : channels_(channels), transport_(transport), unit_(std::move(unit)) {
    for (std::uint32_t channel = 0; channel < channels.channels(); ++channel)
      transfers_.push_back(transfers(channel));
  }

  Expression of(const Stage& stage) const {
    const bool is_segmented =
        transport_.memory == Memory::segments || transport_.memory == Memory::long_segments;
    const std::set<std::uint32_t> used = channels_of(stage);
    const bool is_mixed = used.size() > 1;
    if (!is_mixed || is_segmented) {
      // Segments of different channels do not interleave: one channel after the other (section 5.2.2).
      std::vector<Expression> parts;
      for (auto channel = used.begin(); channel != used.end(); ++channel)
        parts.push_back(of_one_channel(only(stage, *channel), *channel));
      return Expression::sum(std::move(parts));
    }
    return by_transfers(stage);
  }

 private:
  static std::set<std::uint32_t> channels_of(const Stage& stage) {
    std::set<std::uint32_t> used;
    for (const Message& message : stage) used.insert(message.channel);
    return used;
  }
  static Stage only(const Stage& stage, std::uint32_t channel) {
    Stage part;
    for (const Message& message : stage)
      if (message.channel == channel) part.push_back(message);
    return part;
  }

  bool is_network(std::uint32_t channel) const { return channel >= transport_.network_channel; }
  Size size(Rational count) const { return {count, unit_}; }

  /// A ∥ T where every transfer of the stage is one of A of the same size; else by transfers.
  Expression of_one_channel(const Stage& stage, std::uint32_t channel) const {
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
                                              ? T_sr(channel, size(bytes), sort_of(is_exchanged))
                                              : T(channel, size(bytes)));
  }

  /// Whether some rank sends and receives.
  static bool has_both_ways(const Stage& stage) {
    std::set<Rank> senders;
    for (const Message& message : stage) senders.insert(message.from);
    return std::any_of(stage.begin(), stage.end(), [&](const Message& m) { return senders.contains(m.to); });
  }

  /// In which channels a message's transfers are.
  std::vector<std::uint32_t> transfers(std::uint32_t channel) const {
    if (is_network(channel)) {
      const std::uint32_t memory = transport_.network_channel - 1;
      return transport_.network == Network::rdma ? std::vector{channel}
                                                 : std::vector{memory, channel, memory};
    }
    const std::size_t number = transport_.memory == Memory::zero_copy  ? 1
                               : transport_.memory == Memory::buffered ? 3
                                                                       : 2;
    return std::vector<std::uint32_t>(number, channel);
  }

  /// The j-th transfers of all messages: by channel, the loads of units that no other unit exceeds.
  std::map<std::uint32_t, std::vector<Load>> worst_loads(const Stage& stage, std::size_t j) const {
    std::map<std::uint32_t, std::vector<Load>> by_unit;  // by channel; then by unit
    for (const Message& message : stage) {
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

  static void keep_if_worst(std::vector<Load>& kept, const Load& load) {
    for (const Load& other : kept)
      if (exceeds(other, load)) return;
    std::erase_if(kept, [&](const Load& other) { return exceeds(load, other); });
    kept.push_back(load);
  }

  Expression by_transfers(const Stage& stage) const {
    std::vector<Expression> parts{overhead(stage)};
    for (std::size_t j = 0;; ++j) {
      std::vector<Expression> loads;
      for (const auto& [channel, worst] : worst_loads(stage, j))
        for (const Load& load : worst) loads.push_back(transfer(channel, load));
      if (loads.empty()) break;
      parts.push_back(Expression::max(without_bounded(std::move(loads), false)));
    }
    return Expression::sum(std::move(parts));
  }

  /// The largest message of each channel; the maximum of the channels.
  Expression overhead(const Stage& stage) const {
    std::map<std::uint32_t, Rational> largest;
    for (const Message& message : stage)
      largest[message.channel] = std::max(largest[message.channel], message.size);
    std::vector<Expression> parts;
    for (const auto& [channel, bytes] : largest) parts.push_back(o(channel, size(bytes)));
    return Expression::max(std::move(parts));
  }

  Expression transfer(std::uint32_t channel, const Load& load) const {
    std::vector<Size> sizes;
    for (const auto& [bytes, number] : load.transfers) sizes.insert(sizes.end(), number, size(bytes));
    return concurrent_transfers(channel, std::move(sizes), sort_of(load.has_exchanges));
  }

  const ChannelMap& channels_;
  const Transport transport_;
  const std::string unit_;
  std::vector<std::vector<std::uint32_t>>
      transfers_;  // by channel of the message: the channels of its transfers
};

/// c(m, τ) or γ(m, τ) for the node with most ranks that do it; m is what one of them has at most.
Expression local_work(const std::map<Rank, Rational>& done, const Mapping& mapping, const std::string& unit,
                      Expression (*cost)(Size, std::uint32_t)) {
  std::map<std::uint32_t, std::uint32_t> ranks;
  Rational most = 0;
  std::uint32_t tau = 0;
  for (const auto& [rank, size] : done) {
    if (size == 0) continue;
    most = std::max(most, size);
    tau = std::max(tau, ++ranks[mapping.node_of(rank)]);
  }
  return most == 0 ? Expression() : cost({most, unit}, tau);
}

/// Transfers between ranks and the memory that they share: the n-th ones of all ranks take place together, those of one
/// node contend with each other, and the worst node counts.
std::vector<Expression> collective_transfers(const std::map<Rank, std::vector<Rational>>& transferred,
                                             const Mapping& mapping, std::uint32_t channel, Sort sort,
                                             const std::string& unit) {
  std::vector<std::map<std::uint32_t, std::vector<Size>>> stages;  // by node
  for (const auto& [rank, sizes] : transferred)
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      if (n == stages.size()) stages.emplace_back();
      stages[n][mapping.node_of(rank)].push_back({sizes[n], unit});
    }
  std::vector<Expression> costs;
  for (const auto& nodes : stages) {
    std::vector<Expression> loads;
    for (const auto& [node, sizes] : nodes) loads.push_back(concurrent_transfers(channel, sizes, sort));
    costs.push_back(Expression::max(without_bounded(std::move(loads), false)));
  }
  return costs;
}

/// What one rank gives of the program's memory at most, and what it puts there.
struct Packed {
  Rational given = 0, got = 0;
};

/// A place of the program's memory that is read before it is written is given; one that is written is got.
Packed packed_of(const Plan& plan, Rational place, const MessageSizes& sizes) {
  Packed most;
  for (const Schedule& schedule : plan) {
    std::set<std::pair<Buffer, Place>> given, got;
    const auto for_each = [&](std::span<const Range> ranges, auto&& visit) {
      for (const Range& range : ranges)
        if (index(range.buffer()) <= index(Buffer::output))
          for_each_place(range, schedule.places(range.buffer()),
                         [&](Place at) { visit(std::pair(range.buffer(), at)); });
    };
    const auto give = [&](const auto& slot) {
      if (!got.contains(slot)) given.insert(slot);
    };
    for (StepId step = 0; step < schedule.size(); ++step) {
      if (schedule[step].is_shm_signal()) continue;
      for_each(schedule.from(step), give);
      if (schedule[step].kind == StepKind::combine) for_each(schedule.to(step), give);
      for_each(schedule.to(step), [&](const auto& slot) { got.insert(slot); });
    }
    const auto size_of = [&](const std::set<std::pair<Buffer, Place>>& slots) {
      Rational sum = 0;
      for (const auto& [buffer, at] : slots) sum = sum + place * exact(sizes.of(schedule, Range(buffer, at)));
      return sum;
    };
    most.given = std::max(most.given, size_of(given));
    most.got = std::max(most.got, size_of(got));
  }
  return most;
}

/// Adds terms, equal ones in sequence as one with a factor.
class Sequence {
 public:
  void add(Expression term) {
    if (term.is_zero()) return;
    if (!terms_.empty() && terms_.back().second == term)
      ++terms_.back().first;
    else
      terms_.emplace_back(1, std::move(term));
  }
  Expression sum() const {
    std::vector<Expression> terms;
    for (const auto& [number, term] : terms_) terms.push_back(Expression::times(Factor(number), term));
    return Expression::sum(std::move(terms));
  }

 private:
  std::vector<std::pair<std::int64_t, Expression>> terms_;
};

}  // namespace

Expression concurrent_transfers(std::uint32_t channel, std::vector<Size> sizes, Sort sort) {
  std::sort(sizes.begin(), sizes.end(), [](const Size& a, const Size& b) { return a.count < b.count; });
  std::vector<Expression> parts;
  Rational before = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].count == before && i > 0) continue;
    parts.push_back(L(channel, {sizes[i].count - before, sizes[i].unit},
                      static_cast<std::uint32_t>(sizes.size() - i), sort));
    before = sizes[i].count;
  }
  return Expression::sum(std::move(parts));
}

Expression derive(const Plan& plan, const Mapping& mapping, std::span<const Channel> channels,
                  const Derivation& how, const MessageSizes& sizes) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  const ChannelMap ways(channels, mapping);
  const std::string unit = sizes.is_uniform() ? "m" : "";
  Transport transport = how.transport;
  transport.network_channel = network_channel(channels);
  const StageCost cost(ways, transport, unit);
  const std::uint32_t memory = std::max<std::uint32_t>(transport.network_channel, 1) - 1;
  const std::optional<TauLop>& in_memory = channels[memory].taulop;
  const Sort shared = in_memory && in_memory->tells_apart(Sort::shared) ? Sort::shared : Sort::message;
  Sequence sequence;
  const Packed packed = how.packed ? packed_of(plan, how.place, sizes) : Packed{};
  if (packed.given != 0) sequence.add(p({packed.given, unit}));
  for (const auto& [label, round] : rounds_of(plan, ways, how.place, sizes)) {
    sequence.add(local_work(round.copied, mapping, unit, c));
    for (Expression& cost_of_all : collective_transfers(round.transferred, mapping, memory, shared, unit))
      sequence.add(std::move(cost_of_all));
    for (const Stage& stage : stages_of(round.messages, mapping.procs(), channels))
      sequence.add(cost.of(stage));
    sequence.add(local_work(round.combined, mapping, unit, gamma));
  }
  if (packed.got != 0) sequence.add(p({packed.got, unit}));
  return sequence.sum();
}

}  // namespace convene::model
