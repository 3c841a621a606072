// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/read/plan_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/read/rank_reader.hpp"

namespace convene::schedule {
namespace {

constexpr std::uint32_t most_procs = 1u << 20, most_segments = 1u << 20;

std::string read_name(const FileField& field) {
  const std::string text = field.text();
  if (text.empty() || text.size() > 200 ||
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }))
    field.refuse("must be of 1 to 200 printable ASCII characters");
  return text;
}

std::vector<std::pair<std::string, std::string>> read_parameters(const FileField& field) {
  std::vector<std::pair<std::string, std::string>> result;
  const JsonValue& object = field.object();
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    if (!object.items[i].is_text() && object.items[i].kind != JsonValue::Kind::whole)
      field.refuse("must have texts and whole numbers as values");
    result.emplace_back(object.keys[i].name, object.items[i].text);
  }
  return result;
}

std::vector<std::int32_t> read_arrivals(const FileField& field, Rank procs) {
  std::vector<std::int32_t> result;
  for (const FileField& each : field.entries(procs, procs))
    result.push_back(static_cast<std::int32_t>(each.whole(0, INT32_MAX)));
  return result;
}

PlanInfo read_info(const FileField& plan) {
  constexpr std::array<std::string_view, 13> known{
      "collective", "algorithm", "procs",  "root",     "parameters", "arrivals", "segments",
      "in_place",   "graph",     "rounds", "messages", "blocks",     "ranks"};
  plan.object(known);
  PlanInfo info;
  info.collective = read_name(plan["collective"]);
  info.algorithm = "schedule";
  if (const auto name = plan.find("algorithm")) info.algorithm = read_name(*name);
  info.procs = plan["procs"].whole(1, most_procs);
  if (const auto root = plan.find("root")) info.root = root->whole(0, info.procs - 1);
  if (const auto parameters = plan.find("parameters")) info.parameters = read_parameters(*parameters);
  if (const auto arrivals = plan.find("arrivals")) info.arrivals = read_arrivals(*arrivals, info.procs);
  if (const auto segments = plan.find("segments")) info.segments = segments->whole(1, most_segments);
  if (const auto in_place = plan.find("in_place")) info.in_place = in_place->boolean();
  if (const auto graph = plan.find("graph")) info.graph = read_name(*graph);
  plan["ranks"].entries(info.procs, info.procs);
  return info;
}

/// Throws Error if ranks name different groups for the places that they share.
void require_sharers(const Plan& plan, const std::string& file) {
  for (const Schedule& schedule : plan) {
    const std::uint32_t shared = schedule.places(Buffer::shared);
    const Rank first = schedule.first_sharer();
    if (shared == 0) continue;
    if (plan[first].places(Buffer::shared) != shared || plan[first].first_sharer() != first)
      throw Error(
          fmt::format("{}: rank {} shares {} places with rank {}, which has {} and \"first_sharer\" {}; "
                      "give all ranks of a node the same",
                      file, schedule.rank(), shared, first, plan[first].places(Buffer::shared),
                      plan[first].first_sharer()));
  }
}

}  // namespace

PlanReader::PlanReader(std::string_view text, std::string file)
    : root_(parse_json(text, file)), file_(std::move(file)), info_(read_info(FileField(root_, file_, ""))) {}

Plan PlanReader::read(std::span<const CallBuffers> buffers, bool sends_empty_messages) const {
  const FileField root(root_, file_, "");
  Plan plan;
  RankReader reader(info_.procs, sends_empty_messages);
  for (const FileField& field : root["ranks"].entries(info_.procs, info_.procs)) {
    const auto rank = static_cast<Rank>(plan.size());
    plan.push_back(reader.read(field, rank, buffers[rank].input, buffers[rank].output, root.find("rounds")));
  }
  require_sharers(plan, file_);
  if (const MessageMatching matching = link(plan); !matching.fault.empty())
    throw Error(
        fmt::format("{}: {}; give every send one recv of the same number of slots", file_, matching.fault));
  return plan;
}

}  // namespace convene::schedule
