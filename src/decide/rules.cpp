// SPDX-License-Identifier: BSD-3-Clause
#include "decide/rules.hpp"

#include "decide/field_reader.hpp"

namespace convene::decide {

namespace {

using Unit = FieldReader::Unit;

constexpr FieldReader::FileKind rules_file{
    .file = "rules file", .version_field = "convene_rules", .version = 1, .list = "rules", .item = "rule"};

Rule read_rule(FieldReader& reader, const JsonValue& item) {
  constexpr std::string_view known[] = {"collective",     "procs", "bytes",  "nodes",
                                        "ranks_per_node", "use",   "comment"};
  reader.begin_item(item, known);
  Rule rule;
  rule.number = reader.number();
  rule.line = item.line;
  rule.collective = reader.read_collective(item);
  rule.procs = reader.read_bounds(item, "procs", Unit::count);
  rule.bytes = reader.read_bounds(item, "bytes", Unit::bytes);
  rule.nodes = reader.read_bounds(item, "nodes", Unit::count);
  rule.ranks_per_node = reader.read_bounds(item, "ranks_per_node", Unit::count);
  rule.use = reader.read_use(item, rule.collective);
  return rule;
}

}  // namespace

Mismatch Rule::mismatch(const CallContext& context) const {
  if (collective != context.collective) return {.collective = true};
  return {.procs = !procs.hold(context.procs),
          .bytes = !bytes.hold(context.block_bytes()),
          .nodes = !nodes.hold(context.nodes),
          .ranks_per_node = !ranks_per_node.hold(context.ranks_per_node)};
}

bool Rule::may_fit_later(const CallContext& context) const {
  if (context.nodes != 0) return false;
  Rule rest = *this;
  rest.nodes = rest.ranks_per_node = {};
  return rest.fits(context);
}

std::vector<Rule> parse_rules(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  FieldReader reader(rules_file, file);
  std::vector<Rule> rules;
  for (const JsonValue& item : reader.items(root).items) rules.push_back(read_rule(reader, item));
  return rules;
}

std::vector<Rule> load_rules(const std::string& path) {
  return parse_rules(read_whole_file(path, rules_file.file), path);
}

}  // namespace convene::decide
