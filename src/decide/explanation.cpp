// SPDX-License-Identifier: BSD-3-Clause
#include "decide/explanation.hpp"

#include <memory>

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "decide/mismatch_text.hpp"

namespace convene::decide {

namespace {

using Source = Explanation::Source;
using Step = Explanation::Step;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Step step_of(const Rule& rule, const std::string& path) {
  return {.source = Source::rule,
          .name = "rule " + std::to_string(rule.number) + " of " + base_name(path),
          .path = path,
          .line = rule.line,
          .collective = rule.collective,
          .use = spec_text(rule.use),
          .obstacle = ""};
}

Step step_of(const WisdomEntry& entry, const std::vector<WisdomFile>& files) {
  const std::string& path = files[entry.file].path;
  return {.source = Source::wisdom,
          .name = "entry " + std::to_string(entry.number) + " of " + base_name(path),
          .path = path,
          .line = entry.line,
          .collective = entry.collective,
          .use = entry.native_algorithm.empty() ? spec_text(entry.use) : entry.native_algorithm,
          .obstacle = ""};
}

/// Steps in the order of precedence. What comes after the one that ends the search is not reached.
class Steps {
 public:
  explicit Steps(const CallContext& context) : context_(context) {}

  /// A step that was considered.
  void add(Step step, const std::string& obstacle, bool ends_search) {
    step.obstacle = obstacle;
    if (ends_search) end_ = step.name;
    steps_.push_back(std::move(step));
  }

  /// A step that was not considered.
  void add_unreached(Step step) {
    step.obstacle = step.collective != context_.collective ? "is for " + std::string(name(step.collective))
                                                           : "not reached: " + end_ + " comes first";
    steps_.push_back(std::move(step));
  }

  std::vector<Step> take() { return std::move(steps_); }

 private:
  const CallContext& context_;
  std::vector<Step> steps_;
  std::string end_;
};

void add_uses(Steps& steps, const std::vector<Use>& uses, Collective collective, const Choice& choice) {
  bool is_decided = false;
  for (const Use& use : uses) {
    Step step{.source = Source::use,
              .name = "--use",
              .path = "",
              .collective = use.collective,
              .use = spec_text(use.spec),
              .obstacle = ""};
    if (use.collective != collective || is_decided)
      steps.add_unreached(std::move(step));
    else
      steps.add(std::move(step), choice.reason == Reason::forced ? "" : choice.declared, true);
    is_decided = is_decided || use.collective == collective;
  }
}

void add_rules(Steps& steps, const std::vector<Rule>& rules, const Trace& trace, const Question& question) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    Step step = step_of(rules[i], question.rules_path);
    if (i >= trace.rules.size()) {
      steps.add_unreached(std::move(step));
    } else {
      const auto& [index, matches, obstacle] = trace.rules[i];
      const std::string why = matches ? obstacle : mismatch_text(rules[i], question.context);
      steps.add(std::move(step), why, why.empty());
    }
  }
}

/// Entries that cover the call end the search, even if their algorithm cannot run.
void add_wisdom(Steps& steps, const Wisdom& wisdom, const Trace& trace, const Question& question) {
  for (std::size_t i = 0; i < wisdom.entries().size(); ++i) {
    const WisdomEntry& entry = wisdom.entries()[i];
    Step step = step_of(entry, question.wisdom_files);
    if (i >= trace.wisdom.size()) {
      steps.add_unreached(std::move(step));
    } else {
      const auto& [index, matches, obstacle] = trace.wisdom[i];
      steps.add(std::move(step), matches ? obstacle : mismatch_text(entry, question.context), matches);
    }
  }
}

}  // namespace

Explanation explain(const Question& question) {
  const std::vector<Use> uses = parse_uses(question.uses);
  const std::string& path = question.rules_path;
  const std::vector<Rule> rules = path.empty() ? std::vector<Rule>{} : load_rules(path);
  std::vector<WisdomEntry> others;
  FoundWisdom found = read_wisdom(question.wisdom_files, question.here, &others);
  const auto wisdom = std::make_shared<const Wisdom>(std::move(found.wisdom));
  const Selection selection = Selection(uses, rules, base_name(path)).with(wisdom);

  Trace trace;
  Explanation result;
  result.choice = selection.choose(question.context, &trace);
  result.refusals = std::move(found.refusals);
  Steps steps(question.context);
  add_uses(steps, uses, question.context.collective, result.choice);
  add_rules(steps, rules, trace, question);
  add_wisdom(steps, *wisdom, trace, question);
  for (const WisdomEntry& entry : others) {
    Step step = step_of(entry, question.wisdom_files);
    const std::string obstacle =
        entry.collective != question.context.collective ? "is for " + std::string(name(entry.collective))
        : entry.is_of(question.here) ? "names an algorithm of the MPI, for convene rules export"
                                     : machine_mismatch_text(entry, question.here);
    steps.add(std::move(step), obstacle, false);
  }
  result.steps = steps.take();
  return result;
}

bool has_known_bytes(Collective collective) {
  return sizes_known(collective) == SizesKnown::by_all && collective != Collective::barrier;
}

CallContext call_on_nodes(Collective collective, Rank procs, std::uint64_t bytes, Rank nodes) {
  CallContext context{.collective = collective, .procs = procs, .nodes = nodes};
  if (procs == 0 || nodes == 0 || nodes > procs)
    throw Error("there must be at least 1 rank per node; give at most " + std::to_string(procs) + " nodes");
  if (!has_known_bytes(collective)) bytes = 0;
  if (bytes > UINT64_MAX / procs) throw Error("blocks of " + format_size(bytes) + " are too large");
  context.total_bytes = has_one_vector(collective) ? bytes : bytes * procs;
  context.ranks_per_node = (procs + nodes - 1) / nodes;
  for (Rank rank = 0; rank < procs; ++rank)
    context.node_of_rank.push_back(static_cast<Rank>(std::uint64_t{rank} * nodes / procs));
  return context;
}

}  // namespace convene::decide
