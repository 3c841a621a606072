// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/taulop_derivation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/stage_cost.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {

namespace {

/// The steps of one round: sizes copied and combined by each rank, and messages.
struct RoundSteps {
  std::map<Rank, Rational> copied, combined;
  std::map<Rank, std::vector<Rational>>
      transferred;  ///< into shared places or from there, one after the other
  std::vector<StageMessage> messages;
};

Rational exact(double bytes) {
  if (bytes != std::floor(bytes) || bytes > 9e15)
    throw Error(fmt::format("the cost expression needs whole bytes, not {}", bytes));
  return static_cast<std::int64_t>(bytes);
}

std::map<std::uint32_t, RoundSteps> rounds_of(const Plan& plan, const ChannelMap& channels, Rational place,
                                              const MessageSizes& sizes) {
  std::map<std::uint32_t, RoundSteps> rounds;
  for (const Schedule& schedule : plan)
    for (StepId step = 0; step < schedule.size(); ++step) {
      const Step& what = schedule[step];
      if (what.kind == StepKind::recv || what.kind == StepKind::join || what.is_shm_signal()) continue;
      const Rational size = place * exact(sizes.bytes(schedule, step));
      RoundSteps& round = rounds[what.round];
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

/// c(m, τ) or γ(m, τ): τ is the largest number of ranks of a node that do it, m the largest size of a rank.
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

/// Transfers between ranks and shared memory: the n-th transfers of all ranks take place together, those of
/// one node contend with each other, and the worst node counts.
std::vector<Expression> collective_transfers(const std::map<Rank, std::vector<Rational>>& transferred,
                                             const Mapping& mapping, std::uint32_t channel, TransferKind kind,
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
    for (const auto& [node, sizes] : nodes) loads.push_back(concurrent_transfers(channel, sizes, kind));
    costs.push_back(max_of_unbounded(std::move(loads)));
  }
  return costs;
}

/// The largest sizes that a rank reads from the program's memory, and writes to it.
struct Packed {
  Rational read = 0, written = 0;
};

/// A place of the program's memory that is read before it is written counts as read; one that is written
/// counts as written.
Packed packed_of(const Plan& plan, Rational place, const MessageSizes& sizes) {
  Packed most;
  for (const Schedule& schedule : plan) {
    std::set<std::pair<Buffer, Place>> read, written;
    const auto for_each = [&](std::span<const Range> ranges, auto&& visit) {
      for (const Range& range : ranges)
        if (index(range.buffer()) <= index(Buffer::output))
          for_each_place(range, schedule.places(range.buffer()),
                         [&](Place at) { visit(std::pair(range.buffer(), at)); });
    };
    const auto add_read = [&](const auto& slot) {
      if (!written.contains(slot)) read.insert(slot);
    };
    for (StepId step = 0; step < schedule.size(); ++step) {
      if (schedule[step].is_shm_signal()) continue;
      for_each(schedule.from(step), add_read);
      if (schedule[step].kind == StepKind::combine) for_each(schedule.to(step), add_read);
      for_each(schedule.to(step), [&](const auto& slot) { written.insert(slot); });
    }
    const auto size_of = [&](const std::set<std::pair<Buffer, Place>>& slots) {
      Rational sum = 0;
      for (const auto& [buffer, at] : slots) sum = sum + place * exact(sizes.of(schedule, Range(buffer, at)));
      return sum;
    };
    most.read = std::max(most.read, size_of(read));
    most.written = std::max(most.written, size_of(written));
  }
  return most;
}

/// A sum of terms in which consecutive equal terms become one with a factor.
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

Expression derive(const Plan& plan, const Mapping& mapping, std::span<const ModelChannel> channels,
                  const Derivation& how, const MessageSizes& sizes) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  const ChannelMap ways(channels, mapping);
  const std::string unit = sizes.is_uniform() ? "m" : "";
  TransportModel transport = how.transport;
  transport.network_channel = network_channel(channels);
  const StageCost cost(ways, transport, unit);
  const std::uint32_t memory = std::max<std::uint32_t>(transport.network_channel, 1) - 1;
  const TauLop* const in_memory = channels[memory].find<TauLop>();
  const TransferKind shared = in_memory && in_memory->distinguishes(TransferKind::shared)
                                  ? TransferKind::shared
                                  : TransferKind::message;
  Sequence sequence;
  const Packed packed = how.packed ? packed_of(plan, how.place, sizes) : Packed{};
  if (packed.read != 0) sequence.add(p({packed.read, unit}));
  for (const auto& [label, round] : rounds_of(plan, ways, how.place, sizes)) {
    sequence.add(local_work(round.copied, mapping, unit, c));
    for (Expression& cost_of_all : collective_transfers(round.transferred, mapping, memory, shared, unit))
      sequence.add(std::move(cost_of_all));
    for (const Stage& stage : stages_of(round.messages, mapping.procs(), channels))
      sequence.add(cost.of(stage));
    sequence.add(local_work(round.combined, mapping, unit, gamma));
  }
  if (packed.written != 0) sequence.add(p({packed.written, unit}));
  return sequence.sum();
}

}  // namespace convene::model
