// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/platform_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/names.hpp"
#include "model/platform/parameter_reader.hpp"
#include "model/prediction/model_catalogue.hpp"

namespace convene::model {

namespace {

/// The parameter sets of all models, each once.
std::vector<const ParameterSet*> parameter_sets() {
  std::vector<const ParameterSet*> sets;
  for (const CostModel* model : cost_models())
    if (std::ranges::find(sets, model->parameters) == sets.end()) sets.push_back(model->parameters);
  return sets;
}

ModelChannel read_channel(const JsonField& field, const ParameterReader& reader) {
  const std::vector<const ParameterSet*> sets = parameter_sets();
  std::vector<std::string_view> known{"name", "within"};
  for (const ParameterSet* set : sets) known.push_back(set->field);
  field.object(known);
  ModelChannel channel;
  channel.name = field["name"].text();
  if (field.has("within")) channel.within = field["within"].text();
  for (const ParameterSet* set : sets)
    if (field.has(set->field)) channel.add(set->read(field[std::string(set->field)], reader));
  return channel;
}

double seconds(const JsonField& unit) {
  const std::string text = unit.text();
  static constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  for (const auto& [name, factor] : units)
    if (name == text) return factor;
  unit.refuse(fmt::format("is {}, which is not a unit of time; use s, ms, us or ns", in_quotes(text)));
}

void read_channels(ModelPlatform& platform, const JsonField& list, const ParameterReader& reader) {
  for (std::size_t i = 0; i < list.list(); ++i) {
    const JsonField field = list[i];
    ModelChannel channel = read_channel(field, reader);
    for (const ModelChannel& other : platform.channels)
      if (other.name == channel.name)
        field["name"].refuse(fmt::format("is {} a second time", in_quotes(channel.name)));
    const bool is_last = i + 1 == list.list();
    if (is_last && !channel.within.empty())
      field["within"].refuse(
          "is given for the last channel, which is for all other pairs of ranks; leave it out");
    if (!is_last && channel.within.empty())
      field.refuse("lacks 'within', the level whose ranks use this channel");
    platform.channels.push_back(std::move(channel));
  }
}

/// Checks that the channels are for levels of the machine, if that is known, the inner ones first.
void check_levels(const ModelPlatform& platform, const JsonField& list) {
  if (platform.machine.empty()) return;
  const Machine machine = Machine::parse(platform.machine);
  auto levels = std::span(machine.levels());
  for (std::size_t i = 0; i + 1 < platform.channels.size(); ++i) {
    const std::string& within = platform.channels[i].within;
    const auto at = std::ranges::find(levels, within, &Level::name);
    if (at == levels.end())
      list[i]["within"].refuse(
          fmt::format("is {}, which is not a level of the machine {} outside those of the channels before",
                      in_quotes(within), in_quotes(platform.machine)));
    levels = levels.first(static_cast<std::size_t>(at - levels.begin()));
  }
}

}  // namespace

ModelPlatform parse_model_platform(std::string_view text, std::string_view origin) {
  const JsonValue root = parse_json(text, std::string(origin));
  const JsonField file(root, origin, "");
  if (!root.is_object()) file.refuse("is not an object");
  ModelPlatform platform;
  platform.name = file["name"].text();
  if (file.has("description")) platform.description = file["description"].text();
  if (file.has("source")) platform.source = file["source"].text();
  if (file.has("machine")) {
    platform.machine = file["machine"].text();
    try {
      Machine::parse(platform.machine);
    } catch (const Error& error) {
      file["machine"].refuse(std::string("is wrong: ") + error.what());
    }
  }
  if (file.has("assumed"))
    for (std::size_t i = 0; i < file["assumed"].list(0); ++i)
      platform.assumed.push_back(file["assumed"][i].text());
  const JsonField model = file["model"].object({"time_unit", "channels", "copy", "packing", "computation"});
  const ParameterReader reader(seconds(model["time_unit"]));
  if (model.has("copy")) platform.copy = reader.by_tau(model["copy"]);
  if (model.has("packing")) platform.packing = reader.non_decreasing(model["packing"]);
  if (model.has("computation")) platform.computation = reader.by_tau(model["computation"]);
  read_channels(platform, model["channels"], reader);
  check_levels(platform, model["channels"]);
  for (const ParameterSet* set : parameter_sets())
    if (set->check) set->check(platform, model["channels"]);
  return platform;
}

ModelPlatform load_model_platform(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Error(fmt::format("{} cannot be read", in_quotes(path)));
  return parse_model_platform(text.str(), path);
}

}  // namespace convene::model
