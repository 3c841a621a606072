// SPDX-License-Identifier: BSD-3-Clause
// Times of the tree scatters and the k-port Bruck allgather in the LogGP and LogfP models: schedules are
// simulated message by message, and compared with times computed without any schedule. (Gathers are the same
// trees in reverse: rooted_test.cpp.)
//
// Literal LogGP: a message of b bytes occupies the sender for o_s, lets it start the next one g + (b − 1)G
// later, and arrives (b − 1)G + L after o_s; the receiver needs o_r. LogfP: of n messages of a round each
// costs o_s(n), and g applies from the f-th message of a rank on: the j-th of n is sent after
// o_s(n) + max{(j − 1)o_s(n), (j − f)g}.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "collective/core/algorithm.hpp"
#include "collective/parts/named_for_test.hpp"
#include "patterns/loggp_tree.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

/// A message in a model.
struct Sent {
  Rank to;
  std::uint32_t round;
  std::int64_t items;
};

/// By rank: its messages, in the order in which it sends them.
std::vector<std::vector<Sent>> messages_of(const Plan& plan) {
  std::vector<std::vector<Sent>> result(plan.size());
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id) {
      if (schedule[id].kind != StepKind::send) continue;
      std::int64_t items = 0;
      for (const Range& range : schedule.ranges(id)) items += range.count();
      result[schedule.rank()].push_back({schedule[id].peer, schedule[id].round, items});
    }
  return result;
}

std::vector<std::vector<Sent>> scatter(std::string_view name, Rank procs, std::vector<Value> parameters = {},
                                       Rank root = 0) {
  return messages_of(build_plan(algorithm(Collective::scatter, name), {.collective = Collective::scatter,
                                                                       .procs = procs,
                                                                       .root = root,
                                                                       .parameters = std::move(parameters)}));
}

/// Receive times of a rank's messages, if the rank starts at 0.
using Model = std::function<std::vector<double>(const std::vector<Sent>&)>;

/// Time when the last rank below this one has its data.
double end_of(const std::vector<std::vector<Sent>>& messages, Rank rank, const Model& model) {
  double last = 0;
  const std::vector<double> received = model(messages[rank]);
  for (std::size_t i = 0; i < received.size(); ++i)
    last = std::max(last, received[i] + end_of(messages, messages[rank][i].to, model));
  return last;
}

enum class Charge { item, message };

struct LogGP {
  double o_s, o_r, L, g, G;
  std::int64_t s;
  Charge charge = Charge::message;

  double hop() const { return o_s + L + o_r; }
  double data(std::int64_t items) const {
    const std::int64_t bytes = charge == Charge::item ? items * (s - 1) : items * s - 1;
    return static_cast<double>(bytes) * G;
  }
  std::vector<double> operator()(const std::vector<Sent>& sent) const {
    double processor = 0, link = 0;
    std::vector<double> received;
    for (const Sent& message : sent) {
      const double begin = std::max(processor, link);
      processor = begin + o_s;
      link = begin + g + data(message.items);
      received.push_back(processor + data(message.items) + L + o_r);
    }
    return received;
  }
  std::vector<Value> parameters() const {  // o_s = o_r
    return {static_cast<std::int64_t>(L),
            static_cast<std::int64_t>(o_s),
            static_cast<std::int64_t>(g),
            static_cast<std::int64_t>(1000 * G),
            s,
            charge == Charge::message};
  }
};

/// All values are whole numbers of nanoseconds, so that times are exact. o_s = o_r.
const LogGP machines[] = {
    {1750, 1750, 4500, 3000, 1, 1},     {1750, 1750, 4500, 3000, 1, 64},
    {1750, 1750, 4500, 3000, 1, 65536}, {100, 100, 50000, 120, 2, 9},
    {1000, 1000, 1000, 3000, 8, 8},     {1750, 1750, 4500, 3000, 1, 64, Charge::item},
    {100, 100, 50000, 120, 0, 8},       {300, 300, 900, 700, 3, 700, Charge::item},
};

/// The source's recurrence, over all n.
std::vector<double> shortest_times(const LogGP& model, Rank procs) {
  std::vector<double> t(procs + 1, 0);
  for (Rank p = 2; p <= procs; ++p) {
    t[p] = 1e300;
    for (Rank n = 1; n < p; ++n)
      t[p] = std::min(t[p], model.data(n) + std::max(model.hop() + t[n], model.g + t[p - n]));
  }
  return t;
}

TEST(LogGPOptimalScatter, TakesTheTimeOfTheRecurrence) {
  for (const LogGP& model : machines) {
    const std::vector<double> shortest = shortest_times(model, 64);
    for (Rank procs = 1; procs <= 64; ++procs)
      for (const Rank root : {0u, procs / 2})
        ASSERT_EQ(end_of(scatter("loggp_optimal", procs, model.parameters(), root), root, model),
                  shortest[procs])
            << procs << ", s=" << model.s;
  }
}

/// The times of all trees of `procs` ranks in which a rank serves its children one after the other.
std::vector<double> times_of_all_trees(const LogGP& model, Rank procs) {
  // All times of the remaining children of a rank, if the first starts at 0.
  std::vector<std::vector<double>> trees{{}, {0}}, children{{0}};
  for (Rank size = 1; size < procs; ++size) {
    std::vector<double> ways;  // `size` ranks below one: the first child has n of them
    for (Rank n = 1; n <= size; ++n)
      for (const double first : trees[n])
        for (const double rest : children[size - n]) {
          const double later = size == n ? 0 : model.g + model.data(n) + rest;
          ways.push_back(std::max(model.hop() + model.data(n) + first, later));
        }
    children.push_back(ways);
    trees.push_back(ways);  // a tree of size + 1 ranks
  }
  return trees[procs];
}

TEST(LogGPOptimalScatter, NoTreeOfUpTo8RanksIsFaster) {
  const std::size_t catalan[] = {1, 1, 1, 2, 5, 14, 42, 132, 429};
  for (const LogGP& model : machines)
    for (Rank procs = 2; procs <= 8; ++procs) {
      const std::vector<double> all = times_of_all_trees(model, procs);
      ASSERT_EQ(all.size(), catalan[procs]);
      ASSERT_EQ(end_of(scatter("loggp_optimal", procs, model.parameters()), 0, model),
                *std::min_element(all.begin(), all.end()))
          << procs << ", s=" << model.s;
    }
}

TEST(LogGPOptimalScatter, IsNeverSlowerThanTheOtherTrees) {
  for (const LogGP& model : machines)
    for (Rank procs = 1; procs <= 64; ++procs) {
      const double optimal = end_of(scatter("loggp_optimal", procs, model.parameters()), 0, model);
      EXPECT_LE(optimal, end_of(scatter("binomial", procs), 0, model)) << procs;
      EXPECT_LE(optimal, end_of(scatter("linear", procs), 0, model)) << procs;
      for (const std::int64_t fanout : {1, 2, 3, 7})
        EXPECT_LE(optimal, end_of(scatter("nway_binomial", procs, {fanout}), 0, model)) << procs;
    }
}

// Trees as deep as the number of ranks.
TEST(Trees, MayBeChains) {
  EXPECT_EQ(tree_rounds(kary_split(1), 200'000), 199'999u);
  EXPECT_EQ(tree_rounds(chain_split(2), 200'001), 100'000u);
  for (std::uint32_t size = 1; size <= 64; ++size)
    EXPECT_EQ(tree_rounds(knomial_split(1), size), static_cast<std::uint32_t>(std::bit_width(size - 1)));
}

TEST(LogGPTree, TakesAGapNoShorterThanAByte) {
  const LogGPTree tree({.hop = 100, .gap = 10, .item = 8, .base = -1}, 1024);
  for (std::uint32_t size = 2; size <= 1024; ++size) {
    EXPECT_GT(tree.time(size), tree.time(size - 1));
    EXPECT_GT(tree.part(size), 0u);
    EXPECT_LT(tree.part(size), size);
  }
}

// Size of the part for the j-th of k children of a rank that holds m items, if all parts are as equal as
// possible.
std::int64_t even_part(std::int64_t m, std::int64_t j, std::int64_t k) { return (m - j + k) / (k + 1); }

/// N-way tree, LogGP: from the sizes alone.
double nway_loggp(const LogGP& model, std::int64_t m, std::int64_t k) {
  double last = 0, begin = 0;
  for (; m > 1; m = even_part(m, 0, k))
    for (std::int64_t j = 1; j <= k && even_part(m, j, k) > 0; ++j) {
      const std::int64_t n = even_part(m, j, k);
      last = std::max(last, begin + model.hop() + model.data(n) + nway_loggp(model, n, k));
      begin += model.g + model.data(n);
    }
  return last;
}

std::int64_t rounds_of(std::int64_t k, Rank procs) {
  std::int64_t rounds = 0;
  for (std::uint64_t reached = 1; reached < procs; reached *= static_cast<std::uint64_t>(k + 1)) ++rounds;
  return rounds;
}

bool is_power(std::int64_t k, Rank procs) {
  std::uint64_t reached = 1;
  while (reached < procs) reached *= static_cast<std::uint64_t>(k + 1);
  return reached == procs;
}

TEST(NWayScatter, TakesTheTimeThatItsSizesSayInLogGP) {
  for (const LogGP& model : machines)
    for (const std::int64_t k : {1, 2, 3, 4, 7})
      for (Rank procs = 1; procs <= 64; ++procs) {
        const double time = end_of(scatter("nway_binomial", procs, {k}), 0, model);
        ASSERT_EQ(time, nway_loggp(model, procs, k)) << procs << ", k=" << k;
        // The source's formula, for full trees and Charge::item.
        if (model.charge != Charge::item || !is_power(k, procs) || model.hop() < model.g) continue;
        const auto rounds = static_cast<double>(rounds_of(k, procs)), gaps = static_cast<double>(k - 1);
        ASSERT_EQ(time, rounds * (model.hop() + gaps * model.g) + model.data(procs - 1));
      }
}

/// The source's parameters of figures 5.7 and 5.8; o(n) falls from the largest to the smallest value as 1/n.
struct LogfP {
  double f = 2;
  double L = 5, g = 3;
  double o_s(std::size_t n) const { return 0.5 + 1.5 / static_cast<double>(n); }
  double o_r(std::size_t n) const { return 0.5 + 1.0 / static_cast<double>(n); }

  std::vector<double> operator()(const std::vector<Sent>& sent) const {
    std::vector<double> received;
    double processor = 0, first_out = 0;
    for (const Sent& message : sent) {
      const auto in_round = static_cast<std::size_t>(
          std::ranges::count(sent, message.round, [](const Sent& other) { return other.round; }));
      processor += o_s(in_round);
      if (received.empty()) first_out = processor;
      const double number = static_cast<double>(received.size() + 1);
      received.push_back(std::max(processor, first_out + (number - f) * g) + L + o_r(1));
    }
    return received;
  }
};

TEST(LinearScatter, TakesTheTimeOfTheLogfPFormula) {
  for (const double f : {2.0, 4.0})
    for (Rank procs = 2; procs <= 64; ++procs) {
      const LogfP model{.f = f};
      const double messages = procs - 1, o_s = model.o_s(procs - 1), o_r = model.o_r(1);
      const double wanted =
          messages <= f ? model.L + messages * o_s + o_r
                        : model.L + o_s + o_r + std::max((messages - 1) * o_s, (messages - f) * model.g);
      EXPECT_NEAR(end_of(scatter("linear", procs), 0, model), wanted, 1e-9) << procs;
    }
}

/// N-way tree, LogfP: from the sizes alone, round by round.
double nway_logfp(const LogfP& model, std::int64_t m, std::int64_t k) {
  double last = 0, earlier = 0, before = 0;  // messages of earlier rounds, and the processor's time for them
  const double first = model.o_s(static_cast<std::size_t>(std::min(k, m - 1)));
  for (; m > 1; m = even_part(m, 0, k)) {
    const std::int64_t n = std::min(k, m - 1);
    const double o_s = model.o_s(static_cast<std::size_t>(n));
    for (std::int64_t j = 1; j <= n; ++j) {
      const auto number = static_cast<double>(j);
      const double free = before + number * o_s, waiting = first + (earlier + number - model.f) * model.g;
      const double out = earlier + number <= model.f || free > waiting ? free : waiting;
      last = std::max(last, out + model.L + model.o_r(1) + nway_logfp(model, even_part(m, j, k), k));
    }
    before += static_cast<double>(n) * o_s;
    earlier += static_cast<double>(n);
  }
  return last;
}

TEST(NWayScatter, TakesTheTimeThatItsSizesSayInLogfP) {
  for (const double f : {2.0, 4.0})
    for (const std::int64_t k : {1, 2, 3, 4, 7})
      for (Rank procs = 1; procs <= 64; ++procs) {
        const LogfP model{.f = f};
        const double time = end_of(scatter("nway_binomial", procs, {k}), 0, model);
        ASSERT_NEAR(time, nway_logfp(model, procs, k), 1e-9) << procs << ", k=" << k;
        // The source's formula, for full trees and k ≤ f.
        const auto ports = static_cast<double>(k);
        if (!is_power(k, procs) || ports > f) continue;
        const double round = ports * model.o_s(static_cast<std::size_t>(k)) + model.L + model.o_r(1);
        ASSERT_NEAR(time, static_cast<double>(rounds_of(k, procs)) * round, 1e-9) << procs << ", k=" << k;
      }
}

// The k-port Bruck allgather. All ranks run in step, so each rank receives the same messages that it sends,
// at the same times.

std::vector<std::vector<Sent>> bruck_rounds(Rank procs, std::int64_t ports, std::int64_t last) {
  const Plan plan =
      build_plan(algorithm(Collective::allgather, "bruck"), {.procs = procs, .parameters = {ports, last, 0}});
  const auto messages = messages_of(plan);
  std::vector<std::vector<Sent>> rounds(plan[0].rounds());
  for (const Sent& message : messages[0]) rounds[message.round].push_back(message);
  for (Rank rank = 1; rank < procs; ++rank) {
    EXPECT_EQ(messages[rank].size(), messages[0].size());
    for (std::size_t i = 0; i < messages[rank].size(); ++i)
      EXPECT_EQ(messages[rank][i].items, messages[0][i].items) << "not in step";
  }
  return rounds;
}

TEST(BruckAllgather, TakesTheTimeOfItsMessagesInLogGP) {
  for (const LogGP& model : machines)
    for (const std::int64_t k : {1, 2, 3, 4, 7})
      for (const std::int64_t last : {0, 1})
        for (Rank procs = 1; procs <= 64; ++procs) {
          double time = 0;
          std::int64_t messages = 0;
          const auto rounds = bruck_rounds(procs, k, last);
          for (const auto& round : rounds) {
            LogGP arriving = model;
            arriving.o_r = 0;
            double processor = static_cast<double>(round.size()) * model.o_s;
            for (const double there : arriving(round)) processor = std::max(processor, there) + model.o_r;
            time += processor;
            messages += static_cast<std::int64_t>(round.size());
          }
          // Computed independently: each round costs a hop, a gap between any two of its messages, and the
          // bytes of all.
          std::int64_t wanted_messages = 0, wanted_rounds = 0;
          for (std::int64_t held = 1; held < procs; ++wanted_rounds) {
            const std::int64_t lacking = procs - held;
            const std::int64_t share = lacking >= held * k || last == 0 ? held : (lacking + k - 1) / k;
            wanted_messages += std::min(k, (lacking + share - 1) / share);
            held = std::min<std::int64_t>(procs, held * (k + 1));
          }
          ASSERT_EQ(wanted_rounds, static_cast<std::int64_t>(rounds.size()));
          ASSERT_EQ(wanted_rounds, rounds_of(k, procs));
          ASSERT_EQ(wanted_messages, messages) << procs << ", k=" << k;
          const std::int64_t bytes =
              model.charge == Charge::item ? (procs - 1) * (model.s - 1) : (procs - 1) * model.s - messages;
          ASSERT_EQ(time, static_cast<double>(wanted_rounds) * model.hop() +
                              static_cast<double>(messages - wanted_rounds) * model.g +
                              static_cast<double>(bytes) * model.G)
              << procs << ", k=" << k << ", s=" << model.s;
        }
}

TEST(BruckAllgather, TakesTheTimeOfTheLogfPFormula) {
  const LogfP model{.f = 4};
  for (const std::size_t k : {1u, 2u, 3u, 4u})
    for (Rank procs = 2; procs <= 64; ++procs) {
      double time = 0, wanted = 0;
      const auto rounds = bruck_rounds(procs, static_cast<std::int64_t>(k), 0);
      ASSERT_EQ(rounds.size(), static_cast<std::size_t>(rounds_of(static_cast<std::int64_t>(k), procs)));
      std::uint64_t held = 1;
      for (const auto& round : rounds) {
        const std::size_t n = round.size();
        double processor = static_cast<double>(n) * model.o_s(n);
        for (const double received : model(round))
          processor = std::max(processor, received - model.o_r(1)) + model.o_r(n);
        time += processor;
        // The source's formula for a round, with the number of messages that this one has.
        const std::uint64_t messages = std::min<std::uint64_t>(k, (procs - 1) / held);
        const double m = static_cast<double>(messages), o_s = model.o_s(messages), o_r = model.o_r(messages);
        wanted += o_s + o_r + std::max((m - 1) * o_s + model.L, (m - 1) * (o_s + o_r));
        held *= k + 1;
      }
      ASSERT_NEAR(time, wanted, 1e-9) << procs << ", k=" << k;
    }
}

}  // namespace
}  // namespace convene::collective
