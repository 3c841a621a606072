// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/logp/logp_play.hpp"
#include "model/taulop/taulop.hpp"

namespace convene::model {

namespace {

constexpr std::string_view taulop = "taulop";

constexpr std::array<std::pair<std::string_view, Memory>, 4> memories{
    {{"copy_in_copy_out", Memory::copy_in_copy_out},
     {"zero_copy", Memory::zero_copy},
     {"buffered", Memory::buffered},
     {"segments", Memory::segments}}};
constexpr std::array<std::pair<std::string_view, Network>, 2> networks{
    {{"copies", Network::copies}, {"rdma", Network::rdma}}};

template <class Words>
auto parse_word(const Words& words, std::string_view kind, std::string_view wanted) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == wanted) return value;
    known.push_back(word);
  }
  throw Error(no_such(kind, wanted, known));
}

const Channel& memory_channel(const Platform& platform) {
  return platform.channels[network_channel(platform.channels) - 1];
}

bool is_segmented(Memory memory) { return memory == Memory::segments || memory == Memory::long_segments; }

void require_taulop(const Platform& platform) {
  for (const Channel& channel : platform.channels)
    if (!channel.taulop)
      throw Error(fmt::format(
          "the platform {} has no parameters taulop for the channel {}; take another model or platform",
          in_quotes(platform.name), in_quotes(channel.name)));
}

/// What was measured on one node says nothing of messages between nodes.
void require_network(const Platform& platform, const Mapping& mapping) {
  const bool is_of_one_node = platform.channels.size() == 1 && !platform.machine.empty() &&
                              Machine::parse(platform.machine).nodes() == 1;
  for (Rank rank = 1; is_of_one_node && rank < mapping.procs(); ++rank)
    if (mapping.node_of(rank) != mapping.node_of(0))
      throw Error(
          fmt::format("the platform {} is of one node and has no network; take one node (--nodes 1), or a "
                      "platform that was measured on several",
                      in_quotes(platform.name)));
}

}  // namespace

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (Model model : all_models) names.push_back(name(model));
  names.push_back(taulop);
  return names;
}

std::vector<std::string_view> model_names(const Platform& platform) {
  std::vector<std::string_view> names;
  for (Model model : all_models)
    if (has_parameters(model, platform)) names.push_back(name(model));
  if (std::all_of(platform.channels.begin(), platform.channels.end(),
                  [](const Channel& c) { return c.taulop; }))
    names.push_back(taulop);
  return names;
}

std::vector<std::string_view> transport_words() {
  std::vector<std::string_view> words;
  for (const auto& [word, memory] : memories) words.push_back(word);
  for (const auto& [word, network] : networks) words.push_back(word);
  return words;
}

Memory parse_memory(std::string_view word) { return parse_word(memories, "transport in memory", word); }
Network parse_network(std::string_view word) {
  return parse_word(networks, "transport in the network", word);
}

double segment(const Platform& platform) {
  const Channel& channel = memory_channel(platform);
  return channel.taulop ? channel.taulop->segment : 0;
}

Transport transport(const Platform& platform, double bytes) {
  Transport result;
  result.network_channel = network_channel(platform.channels);
  const Channel &memory = memory_channel(platform), &last = platform.channels.back();
  if (memory.taulop && !memory.taulop->transport.empty())
    result.memory = parse_memory(memory.taulop->transport);
  if (&last != &memory && last.taulop && !last.taulop->transport.empty())
    result.network = parse_network(last.taulop->transport);
  if (is_segmented(result.memory) && bytes <= segment(platform)) result.memory = Memory::copy_in_copy_out;
  return result;
}

Predictor::Predictor(const Plan& plan, const Mapping& mapping, const Platform& platform,
                     std::string_view model, Rational place, bool packed)
    : plan_(plan), mapping_(mapping), platform_(platform), model_(model), place_(place) {
  require_network(platform, mapping);
  if (model_ != taulop) {
    const std::vector<std::string_view> known = model_names();
    if (std::find(known.begin(), known.end(), model_) == known.end())
      throw Error(no_such("model", model_, known));
    if (packed) throw Error("only taulop has a cost of packing, not " + model_ + "; leave out --packed");
    require_parameters(parse_model(model_), platform);
    return;
  }
  require_taulop(platform);
  const Transport small = transport(platform, 0), large = transport(platform, INFINITY);
  short_ = derive(plan, mapping, platform.channels, {.transport = small, .place = place, .packed = packed});
  if (!is_segmented(large.memory)) return;
  segmented_ =
      derive(plan, mapping, platform.channels, {.transport = large, .place = place, .packed = packed});
  const MessageSizes sizes = MessageSizes::uniform(1);
  for (const Schedule& schedule : plan)
    for (StepId step = 0; step < schedule.size(); ++step)
      if (schedule[step].kind == StepKind::send)
        largest_ = std::max(largest_, sizes.bytes(schedule, step) * place.value());
}

double Predictor::seconds(double bytes) const {
  if (model_ == taulop) {
    // The largest message decides; in the segmented form those of one segment are as in the other.
    const Transport way = transport(platform_, bytes * largest_);
    return evaluate(is_segmented(way.memory) ? segmented_ : short_, platform_, bytes, way,
                    segment(platform_));
  }
  const auto done =
      play(plan_, mapping_, platform_, parse_model(model_), MessageSizes::uniform(bytes * place_.value()));
  return done.empty() ? 0 : *std::max_element(done.begin(), done.end());
}

double hop_bytes(const Plan& plan, const Mapping& mapping, double bytes, Rational place) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  const MessageSizes sizes = MessageSizes::uniform(bytes * place.value());
  double sum = 0;
  for (const Schedule& schedule : plan)
    for (StepId step = 0; step < schedule.size(); ++step) {
      if (schedule[step].kind != StepKind::send) continue;
      const std::uint32_t from = mapping.node_of(schedule.rank()), to = mapping.node_of(schedule[step].peer);
      sum += sizes.bytes(schedule, step) * (from > to ? from - to : to - from);
    }
  return sum;
}

}  // namespace convene::model
