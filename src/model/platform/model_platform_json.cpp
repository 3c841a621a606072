// SPDX-License-Identifier: BSD-3-Clause
// Platform files. Whatever is wrong is said with the file and the field.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"
#include "model/platform/model_platform.hpp"
#include "model/prediction/prediction.hpp"

namespace convene::model {

namespace {

using nlohmann::json;

/// A value of the file together with where it stands.
class Field {
 public:
  Field(const json& value, std::string_view origin, std::string path)
      : value_(value), origin_(origin), path_(std::move(path)) {}

  [[noreturn]] void refuse(std::string_view why) const {
    const std::string where = path_.empty() ? "" : fmt::format("field {} ", path_);
    throw Error(fmt::format("{}: {}{}", origin_, where, why));
  }

  bool has(const char* key) const { return value_.contains(key); }
  const json& value() const { return value_; }

  Field operator[](const std::string& key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(fmt::format("lacks '{}'", key));
    return Field(*found, origin_, path_.empty() ? key : path_ + "." + key);
  }
  Field operator[](std::size_t index) const {
    return Field(value_[index], origin_, fmt::format("{}[{}]", path_, index));
  }

  const Field& object(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object()) refuse("is not an object");
    for (const auto& [key, unused] : value_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        refuse(no_such("parameter", key, std::span(known.begin(), known.size())));
    return *this;
  }
  std::size_t list(std::size_t least = 1) const {
    if (!value_.is_array() || value_.size() < least)
      refuse(least == 0 ? "is not a list" : "is not a list with at least one entry");
    return value_.size();
  }
  std::string text() const {
    if (!value_.is_string()) refuse("is not a text");
    return value_.get<std::string>();
  }
  double number() const {
    if (!value_.is_number()) refuse(fmt::format("is not a number: {}", value_.dump()));
    const auto number = value_.get<double>();
    if (!std::isfinite(number) || number < 0) refuse(fmt::format("is {}; it must be 0 or larger", number));
    return number;
  }
  double size() const {
    if (!value_.is_string()) return number();
    try {
      return static_cast<double>(parse_size(value_.get<std::string>()));
    } catch (const Error& error) {
      refuse(std::string("is not a size: ") + error.what());
    }
  }
  std::uint32_t whole(double least) const {
    const double value = size();
    // (A size may be written with its unit.)
    if (value != std::floor(value) || value < least || value > 1e9)
      refuse(fmt::format("is {}; it must be a whole number from {}", value, least));
    return static_cast<std::uint32_t>(value);
  }

 private:
  const json& value_;
  std::string_view origin_;
  std::string path_;
};

/// Reads what has the file's unit of time.
class ModelReader {
 public:
  explicit ModelReader(double unit) : unit_(unit) {}

  double time(const Field& field) const { return field.number() * unit_; }

  /// A number, a list of [size, value], or {"fixed": …, "per_byte": …}.
  Piecewise function(const Field& field) const {
    if (field.value().is_number()) return Piecewise(time(field));
    if (field.value().is_object()) {
      field.object({"fixed", "per_byte"});
      return Piecewise::line(time(field["fixed"]), time(field["per_byte"]));
    }
    std::vector<Piecewise::Point> points;
    for (std::size_t i = 0; i < field.list(); ++i) {
      if (!field[i].value().is_array() || field[i].list() != 2)
        field[i].refuse("is not a pair [size, value]");
      points.push_back({field[i][0].size(), time(field[i][1])});
    }
    try {
      return Piecewise(std::move(points));
    } catch (const Error& error) {
      field.refuse(error.what());
    }
  }

  /// A function of the message size that is the time of something: more bytes never take less.
  Piecewise growing(const Field& field) const {
    Piecewise result = function(field);
    if (!result.never_falls()) field.refuse("falls; a larger message does not take less time");
    return result;
  }

  /// Such a function for each τ; 1 among them, and larger for more.
  ByTau table_by_tau(const Field& table) const {
    if (!table.value().is_object()) table.refuse("is not an object with a function for each τ");
    ByTau result;
    for (const auto& [key, unused] : table.value().items()) {
      const auto tau = parse_whole(key);
      if (!tau || *tau == 0 || *tau > 1'000'000)
        table.refuse(fmt::format("has the key '{}', which is no τ", key));
      if (!result.emplace(static_cast<std::uint32_t>(*tau), growing(table[key])).second)
        table.refuse(fmt::format("has τ = {} a second time", *tau));
    }
    if (!result.contains(1)) table.refuse("lacks τ = 1");
    require_growth(table, result);
    return result;
  }

  /// One function for every τ, or one for each.
  ByTau by_tau(const Field& field) const {
    const bool is_table = field.value().is_object() && !field.has("fixed") && !field.has("per_byte");
    return is_table ? table_by_tau(field) : ByTau{{1, growing(field)}};
  }

  Hockney hockney(const Field& field) const {
    field.object({"alpha", "beta"});
    return {.alpha = time(field["alpha"]), .beta = time(field["beta"])};
  }

  LogGP loggp(const Field& field) const {
    field.object({"L", "o", "o_s", "o_r", "g", "G", "S"});
    if (field.has("o") == (field.has("o_s") || field.has("o_r")))
      field.refuse("needs either o, or o_s and o_r");
    LogGP result{.L = time(field["L"]),
                 .send_overhead = time(field[field.has("o") ? "o" : "o_s"]),
                 .recv_overhead = time(field[field.has("o") ? "o" : "o_r"]),
                 .g = time(field["g"]),
                 .G = field.has("G") ? time(field["G"]) : 0};
    if (field.has("S")) result.synchronous_from = field["S"].size();
    return result;
  }

  LogfP logfp(const Field& field) const {
    field.object({"L", "g", "f", "o_s", "o_r"});
    return {.L = time(field["L"]),
            .g = time(field["g"]),
            .free = field["f"].whole(0),
            // They fall to a least value, and no further.
            .send_overhead = function(field["o_s"]).levelled(),
            .recv_overhead = function(field["o_r"]).levelled()};
  }

  PLogP plogp(const Field& field) const {
    field.object({"L", "o_s", "o_r", "g"});
    return {.L = time(field["L"]),
            .send_overhead = growing(field["o_s"]),
            .recv_overhead = growing(field["o_r"]),
            .gap = growing(field["g"])};
  }

  LogNP lognp(const Field& field) const {
    field.object({"transfers"});
    LogNP result;
    const Field list = field["transfers"];
    if (list.list() < 2) list.refuse("needs at least two transfers, the sender's and the receiver's");
    for (std::size_t i = 0; i < list.list(); ++i) result.transfers.push_back(growing(list[i]));
    return result;
  }

  TauLop taulop(const Field& field) const {
    field.object({"o", "L", "L_sr", "L_c", "transport", "segment"});
    TauLop result{.overhead = growing(field["o"])};
    if (field.has("transport")) read_transport(field["transport"], result.transport);
    if (field.has("segment")) result.segment = field["segment"].whole(1);
    if (result.transport == "segments" && result.segment == 0)
      field.refuse("lacks 'segment', how many bytes a segment of the transport has");
    result.transfer = table_by_tau(field["L"]);
    if (field.has("L_sr")) result.exchange = table_by_tau(field["L_sr"]);
    if (field.has("L_c")) result.shared = table_by_tau(field["L_c"]);
    return result;
  }

  Channel channel(const Field& field) const {
    field.object({"name", "within", "hockney", "loggp", "logfp", "plogp", "lognp", "taulop"});
    Channel result;
    result.name = field["name"].text();
    if (field.has("within")) result.within = field["within"].text();
    if (field.has("hockney")) result.hockney = hockney(field["hockney"]);
    if (field.has("loggp")) result.loggp = loggp(field["loggp"]);
    if (field.has("logfp")) result.logfp = logfp(field["logfp"]);
    if (field.has("plogp")) result.plogp = plogp(field["plogp"]);
    if (field.has("lognp")) result.lognp = lognp(field["lognp"]);
    if (field.has("taulop")) result.taulop = taulop(field["taulop"]);
    return result;
  }

 private:
  static void read_transport(const Field& field, std::string& transport) {
    const std::vector<std::string_view> known = transport_words();
    transport = field.text();
    if (std::find(known.begin(), known.end(), transport) == known.end())
      field.refuse("is wrong: " + no_such("transport", transport, known));
  }

  /// Nothing gets faster when τ grows.
  static void require_growth(const Field& table, const ByTau& transfer) {
    for (auto right = std::next(transfer.begin()); right != transfer.end(); ++right) {
      const auto left = std::prev(right);
      for (const Piecewise* side : {&left->second, &right->second})
        for (const Piecewise::Point& point : side->points())
          if (left->second(point.at) > right->second(point.at) * (1 + 1e-12))
            table.refuse(fmt::format("is larger for τ = {} than for τ = {} at {} bytes", left->first,
                                     right->first, point.at));
    }
  }

  double unit_;
};

double seconds(const Field& unit) {
  const std::string text = unit.text();
  static constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  for (const auto& [name, factor] : units)
    if (name == text) return factor;
  unit.refuse(fmt::format("is {}, which is no unit of time; use s, ms, us or ns", in_quotes(text)));
}

void read_channels(Platform& platform, const Field& list, const ModelReader& reader) {
  for (std::size_t i = 0; i < list.list(); ++i) {
    const Field field = list[i];
    Channel channel = reader.channel(field);
    for (const Channel& other : platform.channels)
      if (other.name == channel.name)
        field["name"].refuse(fmt::format("is '{}' a second time", channel.name));
    const bool is_last = i + 1 == list.list();
    if (is_last && !channel.within.empty())
      field["within"].refuse(
          "is given for the last channel, which is for all other pairs of ranks; leave it out");
    if (!is_last && channel.within.empty())
      field.refuse("lacks 'within', the level whose ranks use this channel");
    platform.channels.push_back(std::move(channel));
  }
}

/// A channel is for a level of the machine, if that is known; inner ones come first.
void check_levels(const Platform& platform, const Field& list) {
  if (platform.machine.empty()) return;
  const Machine machine = Machine::parse(platform.machine);
  auto levels = std::span(machine.levels());
  for (std::size_t i = 0; i + 1 < platform.channels.size(); ++i) {
    const std::string& within = platform.channels[i].within;
    const auto at = std::ranges::find(levels, within, &Level::name);
    if (at == levels.end())
      list[i]["within"].refuse(
          fmt::format("is {}, which is no level of the machine {} outside of those before", in_quotes(within),
                      in_quotes(platform.machine)));
    levels = levels.first(static_cast<std::size_t>(at - levels.begin()));
  }
}

/// How messages travel is taken from the channel of all ranks of a node, and from the last one: others may say nothing else.
void check_transports(const Platform& platform, const Field& list) {
  const std::size_t network = network_channel(platform.channels), memory = network - 1;
  for (std::size_t i = 0; i < platform.channels.size(); ++i) {
    const auto& taulop = platform.channels[i].taulop;
    if (taulop && !taulop->exchange.empty() && i < network)
      list[i]["taulop"]["L_sr"].refuse("is for a network, where ranks of different nodes send to each other");
    if (taulop && !taulop->shared.empty() && i != memory)
      list[i]["taulop"]["L_c"].refuse("is for the memory that all ranks of a node share");
    if (!taulop || (taulop->transport.empty() && taulop->segment == 0)) continue;
    const Field field = list[i]["taulop"];
    const Channel& leading = i < network ? platform.channels[memory] : platform.channels.back();
    if (leading.taulop &&
        (leading.taulop->transport != taulop->transport || leading.taulop->segment != taulop->segment))
      field.refuse(fmt::format(
          "has another transport, or other segments, than the channel {}, from which these are taken",
          in_quotes(leading.name)));
    if (taulop->transport.empty()) continue;
    try {
      if (i < network)
        parse_memory(taulop->transport);
      else
        parse_network(taulop->transport);
    } catch (const Error& error) {
      field["transport"].refuse(std::string("is wrong here: ") + error.what());
    }
  }
}

}  // namespace

Platform parse_platform(std::string_view text, std::string_view origin) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::parse_error& error) {
    throw Error(fmt::format("{}: is not JSON: at byte {}", origin, error.byte));
  } catch (const json::out_of_range&) {
    throw Error(fmt::format("{}: has a number that is too large for any computer", origin));
  }
  const Field file(root, origin, "");
  if (!root.is_object()) file.refuse("is not an object");
  Platform platform;
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
  const Field model = file["model"].object({"time_unit", "channels", "copy", "packing", "computation"});
  const ModelReader reader(seconds(model["time_unit"]));
  if (model.has("copy")) platform.copy = reader.by_tau(model["copy"]);
  if (model.has("packing")) platform.packing = reader.growing(model["packing"]);
  if (model.has("computation")) platform.computation = reader.by_tau(model["computation"]);
  read_channels(platform, model["channels"], reader);
  check_levels(platform, model["channels"]);
  check_transports(platform, model["channels"]);
  return platform;
}

Platform load_platform(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Error(fmt::format("{} cannot be read", in_quotes(path)));
  return parse_platform(text.str(), path);
}

}  // namespace convene::model
