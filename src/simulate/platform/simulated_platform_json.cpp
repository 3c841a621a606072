// SPDX-License-Identifier: BSD-3-Clause
// Reader of simulated platforms in JSON. Errors name the file and the field.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {
namespace {

constexpr std::string_view version_field = "convene_platform";
constexpr std::uint32_t most_count = 1u << 24;

constexpr std::string_view shape_names[] = {"one_switch", "tree", "fat_tree", "dragonfly"};
constexpr std::string_view shared_names[] = {"each_way", "both_ways", "no"};

/// An object of the file and its path, for error messages.
class Fields {
 public:
  Fields(const JsonValue& object, std::string place, const std::string& file)
      : object_(object), place_(std::move(place)), file_(file) {
    if (!object.is_object()) fail(place_, "must be an object, not " + object.describe());
  }

  void allow(std::span<const std::string_view> known) const {
    for (const auto& [name, line] : object_.keys)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw Error(file_ + ": " + (place_.empty() ? "" : "in \"" + place_ + "\": ") +
                    no_such("field", name, known));
  }

  bool has(std::string_view name) const { return object_.find(name) != nullptr; }

  Fields object(std::string_view name) const { return {required(name), below(name), file_}; }

  std::string text(std::string_view name) const {
    const JsonValue& value = required(name);
    if (!value.is_text()) fail(below(name), "must be a text, not " + value.describe());
    return value.text;
  }

  /// An optional comment: a text; or a list of texts.
  void remark(std::string_view name) const {
    if (has(name)) text(name);
  }
  void remarks(std::string_view name) const {
    if (!has(name)) return;
    const JsonValue& list = required(name);
    if (!list.is_list()) fail(below(name), "must be a list of texts, not " + list.describe());
    for (const JsonValue& item : list.items)
      if (!item.is_text())
        fail(below(name), "must be a list of texts, and " + item.describe() + " in it is not a text");
  }

  std::size_t word(std::string_view name, std::span<const std::string_view> words,
                   std::size_t fallback) const {
    if (!has(name)) return fallback;
    const std::string given = text(name);
    const auto found = std::find(words.begin(), words.end(), given);
    if (found == words.end())
      fail(below(name), "must be one of " + joined(words) + ", not " + in_quotes(given));
    return static_cast<std::size_t>(found - words.begin());
  }

  /// A number from 0 on.
  double number(std::string_view name, double fallback) const {
    if (!has(name)) return fallback;
    const JsonValue& value = required(name);
    if (!value.is_number() || value.number < 0)
      fail(below(name), "must be a number, 0 or larger, not " + value.describe());
    return value.number;
  }

  double positive(std::string_view name) const {
    const JsonValue& value = required(name);
    if (!value.is_number() || value.number <= 0)
      fail(below(name), "must be a number above 0, not " + value.describe());
    return value.number;
  }

  /// Bytes, also as "64KiB".
  double bytes(std::string_view name, double fallback) const {
    if (!has(name) || !required(name).is_text()) return number(name, fallback);
    try {
      return static_cast<double>(parse_size(text(name)));
    } catch (const Error& error) {
      fail(below(name), std::string("is not a size: ") + error.what());
    }
  }

  bool flag(std::string_view name) const {
    const JsonValue& value = required(name);
    if (value.kind != JsonValue::Kind::boolean)
      fail(below(name), "must be true or false, not " + value.describe());
    return value.text == "true";
  }

  std::uint32_t count(std::string_view name, std::uint32_t least) const {
    return count_of(required(name), below(name), least);
  }

  std::vector<std::uint32_t> counts(std::string_view name) const {
    const JsonValue& value = required(name);
    if (!value.is_list()) fail(below(name), "must be a list of whole numbers, not " + value.describe());
    std::vector<std::uint32_t> result;
    for (const JsonValue& item : value.items)
      result.push_back(count_of(item, fmt::format("{}[{}]", below(name), result.size()), 1));
    return result;
  }

  const JsonValue& json() const { return object_; }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& what) const {
    throw Error(file_ + ": " + (where.empty() ? "a platform" : "\"" + where + "\"") + " " + what);
  }

  std::string below(std::string_view name) const {
    return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
  }

  const JsonValue& required(std::string_view name) const {
    const JsonValue* found = object_.find(name);
    if (!found) fail(below(name), "is missing");
    return *found;
  }

  std::uint32_t count_of(const JsonValue& value, const std::string& where, std::uint32_t least) const {
    if (value.kind != JsonValue::Kind::whole || value.whole < least || value.whole > most_count)
      fail(where,
           fmt::format("must be a whole number from {} to {}, not {}", least, most_count, value.describe()));
    return static_cast<std::uint32_t>(value.whole);
  }

  const JsonValue& object_;
  const std::string place_;
  const std::string& file_;
};

Link read_link(const Fields& fields, Shared usual) {
  constexpr std::string_view known[] = {"latency", "bandwidth", "shared", "note"};
  fields.allow(known);
  return {
      .latency = fields.number("latency", 0),
      .bandwidth = fields.positive("bandwidth"),
      .shared = static_cast<Shared>(fields.word("shared", shared_names, static_cast<std::size_t>(usual)))};
}

Link read_link(const Fields& parent, std::string_view name) {
  return read_link(parent.object(name), Shared::each_way);
}

NetworkSpec read_network(const Fields& fields) {
  NetworkSpec network;
  network.shape = static_cast<NetworkShape>(fields.word("shape", shape_names, 0));
  network.node = read_link(fields, "node");
  switch (network.shape) {
    case NetworkShape::one_switch: {
      constexpr std::string_view known[] = {"shape", "node", "note"};
      fields.allow(known);
      break;
    }
    case NetworkShape::tree: {
      constexpr std::string_view known[] = {"shape", "node", "leaves", "uplink", "note"};
      fields.allow(known);
      network.leaves = fields.counts("leaves");
      network.uplink = read_link(fields, "uplink");
      break;
    }
    case NetworkShape::fat_tree: {
      constexpr std::string_view known[] = {"shape", "node", "down", "up", "uplink", "note"};
      fields.allow(known);
      network.down = fields.counts("down");
      network.up = fields.counts("up");
      network.uplink = read_link(fields, "uplink");
      break;
    }
    case NetworkShape::dragonfly: {
      constexpr std::string_view known[] = {"shape", "node",   "groups", "routers", "nodes_per_router",
                                            "local", "global", "note"};
      fields.allow(known);
      network.groups = fields.count("groups", 1);
      network.routers = fields.count("routers", 1);
      network.nodes_per_router = fields.count("nodes_per_router", 1);
      network.local = read_link(fields, "local");
      network.global = read_link(fields, "global");
      break;
    }
  }
  return network;
}

/// The links of messages within a unit of each level: from the file, else the same as in the next larger
/// unit.
std::vector<Link> read_within(const Fields& fields, const Machine& machine) {
  std::vector<std::string_view>
      names;  // from `node` on, without the innermost: a rank does not send to itself
  for (const Level& level : machine.levels())
    if (level.name == "node" || !names.empty()) names.push_back(level.name);
  names.pop_back();
  std::vector<std::string_view> known = names;
  known.push_back("note");
  fields.allow(known);
  std::vector<Link> within{read_link(fields.object("node"), Shared::both_ways)};
  for (std::size_t i = 1; i < names.size(); ++i)
    within.push_back(fields.has(names[i]) ? read_link(fields.object(names[i]), Shared::both_ways)
                                          : within.back());
  return within;
}

/// A machine of nodes without cores gets one core per node, since several ranks may share a node.
Machine read_machine(const Fields& fields, const std::string& file) {
  try {
    Machine machine = Machine::parse(fields.text("machine"));
    if (machine.levels().back().name != "node") return machine;
    return Machine::parse(machine.text() + " core:1");
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.starts_with(file) ? what : file + ": \"machine\": " + what);
  }
}

ProcessorCost read_processor(const Fields& fields) {
  constexpr std::string_view known[] = {"send", "recv", "copy", "combine", "note"};
  fields.allow(known);
  const double copy = fields.number("copy", 0);
  return {.send = fields.number("send", 0),
          .recv = fields.number("recv", 0),
          .copy = copy,
          .combine = fields.number("combine", copy)};
}

IncastSpec read_incast(const Fields& fields) {
  constexpr std::string_view known[] = {"buffer", "window", "timeout", "note"};
  fields.allow(known);
  const IncastSpec usual;
  return {.buffer = fields.bytes("buffer", usual.buffer),
          .window = fields.bytes("window", usual.window),
          .timeout = fields.number("timeout", usual.timeout)};
}

void require_version(const Fields& fields, const std::string& file) {
  const JsonValue* version = fields.json().find(version_field);
  if (version && version->is_number() && version->number == 1) return;
  throw Error(file + ": is not a platform file that this version reads: it lacks \"" +
              std::string(version_field) + "\": 1");
}

}  // namespace

SimulatedPlatform parse_simulated_platform(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  const Fields fields(root, "", file);
  require_version(fields, file);
  constexpr std::string_view known[] = {
      version_field, "name",    "description", "source", "assumed", "machine",
      "within",      "network", "processor",   "gap",    "eager",   "rendezvous_handshake",
      "asks",        "ports",   "time_slice",  "incast", "note"};
  fields.allow(known);
  SimulatedPlatform platform;
  platform.name = fields.has("name") ? fields.text("name") : file;
  platform.machine = read_machine(fields, file);
  platform.within = read_within(fields.object("within"), platform.machine);
  platform.network = read_network(fields.object("network"));
  if (fields.has("processor")) platform.cpu = read_processor(fields.object("processor"));
  platform.gap = fields.number("gap", platform.gap);
  platform.eager = fields.bytes("eager", platform.eager);
  for (const char* handshake : {"asks", "rendezvous_handshake"})  // "asks" is the name before version 0.2
    if (fields.has(handshake)) platform.rendezvous_handshake = fields.flag(handshake);
  if (fields.has("incast")) platform.incast = read_incast(fields.object("incast"));
  platform.time_slice = fields.number("time_slice", platform.time_slice);
  if (fields.has("ports")) platform.ports = fields.count("ports", 0);
  for (const char* name : {"description", "source", "note"}) fields.remark(name);
  fields.remarks("assumed");
  try {
    platform.validate();
  } catch (const Error& error) {
    throw Error(file + ": " + error.what());
  }
  return platform;
}

}  // namespace convene::simulate
