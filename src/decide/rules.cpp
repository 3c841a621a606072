// SPDX-License-Identifier: BSD-3-Clause
#include "decide/rules.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::decide {

namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view version_field = "convene_rules";
constexpr std::uint64_t version = 1;

/// Numbers of bytes may be written with a unit, and may be 0.
enum class Unit { count, bytes };

class RulesReader {
 public:
  explicit RulesReader(const std::string& file) : file_(file) {}

  std::vector<Rule> read(const JsonValue& root) {
    constexpr std::string_view shape = R"({"convene_rules": 1, "rules": [...]})";
    if (root.kind != Kind::object)
      fail(root.line,
           "a rules file holds an object, as in " + std::string(shape) + ", not " + root.describe());
    constexpr std::string_view known[] = {version_field, "rules"};
    check_names(root, "", known);
    check_version(root);
    const JsonValue* rules = root.find("rules");
    if (!rules) fail(root.line, "there is no \"rules\"; write " + std::string(shape));
    if (rules->kind != Kind::list)
      fail(rules->line, "\"rules\" must be a list of rules, not " + rules->describe());
    std::vector<Rule> result;
    for (const JsonValue& item : rules->items) result.push_back(read_rule(item));
    return result;
  }

 private:
  [[noreturn]] void fail(unsigned line, const std::string& what) const {
    throw Error(file_ + ":" + std::to_string(line) + ": " + what);
  }

  /// A field of the rule that is being read, for messages.
  std::string field(std::string_view name) const {
    return "\"" + std::string(name) + "\" of rule " + std::to_string(number_);
  }

  void check_names(const JsonValue& object, const std::string& of,
                   std::span<const std::string_view> known) const {
    for (const JsonValue::Key& key : object.keys) {
      bool found = false;
      for (std::string_view name : known) found = found || name == key.name;
      if (!found) fail(key.line, of + no_such("field", key.name, known));
    }
  }

  void check_version(const JsonValue& root) const {
    const std::string wanted = "\"" + std::string(version_field) + "\": " + std::to_string(version);
    const JsonValue* found = root.find(version_field);
    if (!found) fail(root.line, "this is not a rules file: there is no " + wanted);
    if (found->kind != Kind::whole || found->whole != version)
      fail(found->line, "this version of Convene reads rules with " + wanted + ", not " + found->describe());
  }

  Rule read_rule(const JsonValue& value) {
    ++number_;
    const std::string of = "rule " + std::to_string(number_) + ": ";
    if (value.kind != Kind::object) fail(value.line, of + "a rule is an object, not " + value.describe());
    constexpr std::string_view known[] = {"collective", "procs", "bytes", "nodes", "ranks_per_node", "use"};
    check_names(value, of, known);
    Rule rule;
    rule.number = number_;
    rule.line = value.line;
    rule.collective = read_collective(value);
    rule.procs = read_bounds(value, "procs", Unit::count);
    rule.bytes = read_bounds(value, "bytes", Unit::bytes);
    rule.nodes = read_bounds(value, "nodes", Unit::count);
    rule.ranks_per_node = read_bounds(value, "ranks_per_node", Unit::count);
    rule.use = read_use(value, rule.collective);
    return rule;
  }

  const JsonValue& text_of(const JsonValue& rule, std::string_view name, std::string_view example) const {
    const JsonValue* value = rule.find(name);
    const std::string write = "; write \"" + std::string(name) + "\": \"" + std::string(example) + "\"";
    if (!value)
      fail(rule.line, "rule " + std::to_string(number_) + " has no \"" + std::string(name) + "\"" + write);
    if (value->kind != Kind::text)
      fail(value->line, field(name) + " must be a text, not " + value->describe() + write);
    return *value;
  }

  Collective read_collective(const JsonValue& rule) const {
    const JsonValue& value = text_of(rule, "collective", "allgather");
    try {
      return parse_collective(value.text);
    } catch (const Error& error) {
      fail(value.line, field("collective") + ": " + error.what());
    }
  }

  Spec read_use(const JsonValue& rule, Collective collective) const {
    const JsonValue& value = text_of(rule, "use", "sparbit");
    try {
      return parse_spec(collective, value.text);
    } catch (const Error& error) {
      fail(value.line, field("use") + ": " + error.what());
    }
  }

  std::uint64_t read_number(const JsonValue& value, std::string_view name, Unit unit) const {
    std::uint64_t number = 0;
    if (value.kind == Kind::whole) {
      number = value.whole;
    } else if (unit == Unit::bytes && value.kind == Kind::text) {
      number = read_size(value, name);
    } else {
      const std::string_view wanted = unit == Unit::bytes ? "a size such as 8 or \"4KiB\"" : "a whole number";
      fail(value.line, field(name) + " must be " + std::string(wanted) + ", not " + value.describe());
    }
    if (unit == Unit::count && number == 0) fail(value.line, field(name) + " must be at least 1, not 0");
    return number;
  }

  std::uint64_t read_size(const JsonValue& value, std::string_view name) const {
    try {
      return parse_size(value.text);
    } catch (const Error& error) {
      fail(value.line, field(name) + ": " + error.what());
    }
  }

  Bounds read_bounds(const JsonValue& rule, std::string_view name, Unit unit) const {
    const JsonValue* value = rule.find(name);
    if (!value) return {};
    Bounds bounds;
    if (value->kind == Kind::list) {
      if (value->items.size() != 2)
        fail(value->line, field(name) + " must be a list of two, the least and the most, not of " +
                              std::to_string(value->items.size()));
      bounds = {read_number(value->items[0], name, unit), read_number(value->items[1], name, unit)};
    } else if (value->kind == Kind::object) {
      bounds = read_min_max(*value, name, unit);
    } else {
      bounds.least = bounds.most = read_number(*value, name, unit);
    }
    if (bounds.least > bounds.most)
      fail(value->line, field(name) + " fits nothing: its least, " + std::to_string(bounds.least) +
                            ", is above its most, " + std::to_string(bounds.most));
    return bounds;
  }

  Bounds read_min_max(const JsonValue& value, std::string_view name, Unit unit) const {
    constexpr std::string_view known[] = {"min", "max"};
    check_names(value, field(name) + ": ", known);
    if (value.items.empty())
      fail(value.line, field(name) + " is empty; give it a \"min\", a \"max\" or both");
    Bounds bounds;
    if (unit == Unit::count) bounds.least = 1;  // an unknown count is 0, and fits no rule that asks for it
    if (const JsonValue* least = value.find("min")) bounds.least = read_number(*least, name, unit);
    if (const JsonValue* most = value.find("max")) bounds.most = read_number(*most, name, unit);
    return bounds;
  }

  const std::string& file_;
  unsigned number_ = 0;
};

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text;
  if (file) {
    char part[4096];
    std::size_t got = 0;
    while ((got = std::fread(part, 1, sizeof part, file.get())) > 0) text.append(part, got);
  }
  if (!file || std::ferror(file.get()))
    throw Error("the rules file " + path + " cannot be read: " + std::strerror(errno));
  return text;
}

}  // namespace

bool Rule::fits(const Situation& situation) const {
  return collective == situation.collective && procs.hold(situation.procs) &&
         bytes.hold(situation.block_bytes()) && nodes.hold(situation.nodes) &&
         ranks_per_node.hold(situation.ranks_per_node);
}

bool Rule::may_fit_later(const Situation& situation) const {
  if (situation.nodes != 0) return false;
  Rule rest = *this;
  rest.nodes = rest.ranks_per_node = {};
  return rest.fits(situation);
}

std::vector<Rule> parse_rules(std::string_view text, const std::string& file) {
  return RulesReader(file).read(parse_json(text, file));
}

std::vector<Rule> load_rules(const std::string& path) { return parse_rules(read_file(path), path); }

}  // namespace convene::decide
