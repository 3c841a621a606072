// SPDX-License-Identifier: BSD-3-Clause
#include "decide/selection.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "base/error.hpp"
#include "base/sizes.hpp"

namespace convene::decide {

namespace {

const Algorithm& native(Collective collective) {
  for (const Algorithm* algorithm : catalogue())
    if (algorithm->is_native() && algorithm->serves(collective)) return *algorithm;
  throw std::logic_error("the catalogue has no native algorithm of " + std::string(name(collective)));
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// True if an algorithm needs to know the nodes, which are not known yet.
bool needs_unknown_nodes(const Spec& spec, const CallContext& context) {
  return uses_nodes(*spec.algorithm) && context.node_of_rank.empty();
}

/// The requirement that a call does not meet, as a clause with the actual value; empty if all are met.
std::string unmet_requirement(const Spec& spec, const CallContext& context) {
  Call call{.collective = context.collective,
            .procs = context.procs,
            .parameters = spec.parameters,
            .parts = spec.parts,
            .nodes = context.node_of_rank,
            .domains = context.domains};
  if (const std::string unmet = unmet_requirement(*spec.algorithm, call); !unmet.empty())
    return unmet + (spec.algorithm->shared_places
                        ? "; those of this communicator are on several"
                        : "; this communicator has " + std::to_string(context.procs));
  call.commutative = context.commutative;
  if (const std::string unmet = unmet_requirement(*spec.algorithm, call); !unmet.empty())
    return unmet + ", but that of this call does not commute";
  if (context.reproducible && depends_on_arrivals(spec))
    return "combines in an order that depends on arrivals, which --reproducible excludes";
  return "";
}

/// The unmet requirement of an algorithm with shared memory.
std::string unmet_shared_memory(const Spec& spec, const CallContext& context) {
  if (!shares_memory(spec)) return "";
  if (context.may_share == 0) return "uses shared memory, but none is mapped for this call";
  const Call call{.collective = context.collective,
                  .procs = context.procs,
                  .parameters = spec.parameters,
                  .parts = spec.parts,
                  .nodes = context.node_of_rank,
                  .domains = context.domains};
  const std::uint64_t wanted = shared_bytes(*spec.algorithm, call, context.block_bytes(), 1);
  if (wanted <= context.may_share) return "";
  return "needs " + format_size(wanted) + " of shared memory per node, but CONVENE_SHARED_MEMORY allows " +
         format_size(context.may_share);
}

Choice choose_forced(const Spec& spec, const CallContext& context) {
  if (needs_unknown_nodes(spec, context))
    return {.spec = {&native(context.collective)},
            .reason = Reason::nodes_unknown,
            .declared = spec_text(spec) +
                        " is not used before the first blocking call, which determines the nodes of the " +
                        "ranks (or set CONVENE_MAPPING)",
            .wants_nodes = true};
  if (const std::string unmet = unmet_requirement(spec, context); !unmet.empty())
    throw Error(std::string(name(context.collective)) + "=" + spec_text(spec) + " " + unmet +
                "; rules skip such calls (--rules FILE, CONVENE_RULES)");
  if (const std::string why = unmet_shared_memory(spec, context); !why.empty())
    return {.spec = {&native(context.collective)},
            .reason = Reason::no_shared_memory,
            .declared = spec_text(spec) + " " + why};
  return {.spec = spec, .reason = Reason::forced};
}

/// The first algorithm that can run the call and needs no nodes, neighbours or arrivals.
const Algorithm& plainest(const CallContext& context) {
  for (const Algorithm* algorithm : catalogue(context.collective)) {
    const bool is_plain = !algorithm->is_native() && !algorithm->is_composed() && !algorithm->shared_places &&
                          !algorithm->needs_whole_graph && algorithm->arrival_source == ArrivalSource::none;
    if (is_plain && unmet_requirement(default_spec(*algorithm), context).empty()) return *algorithm;
  }
  throw std::logic_error("no algorithm of " + std::string(name(context.collective)) + " runs anywhere");
}

}  // namespace

bool can_run(const Spec& spec, const CallContext& context) {
  return !needs_unknown_nodes(spec, context) && unmet_requirement(spec, context).empty() &&
         unmet_shared_memory(spec, context).empty();
}

Selection::Selection(std::vector<Use> uses, std::vector<Rule> rules, std::string_view rules_name)
    : uses_(std::move(uses)), rules_(std::move(rules)), rules_name_(rules_name) {}

Selection Selection::from(std::string_view uses, const std::string& rules_path) {
  return {parse_uses(uses), rules_path.empty() ? std::vector<Rule>{} : load_rules(rules_path),
          file_name(rules_path)};
}

const Spec* Selection::forced(Collective collective) const {
  for (const Use& use : uses_)
    if (use.collective == collective) return &use.spec;
  return nullptr;
}

Selection Selection::with(std::shared_ptr<const Wisdom> wisdom) const {
  Selection result = *this;
  result.wisdom_ = std::move(wisdom);
  return result;
}

bool Selection::always_native(Collective collective) const {
  if (const Spec* spec = forced(collective)) return spec->algorithm->is_native();
  if (wisdom_ && wisdom_->knows(collective)) return false;
  return std::all_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.collective != collective || rule.use.algorithm->is_native();
  });
}

bool Selection::all_native() const {
  return std::all_of(std::begin(all_collectives), std::end(all_collectives),
                     [&](Collective collective) { return always_native(collective); });
}

bool Selection::needs_topology() const {
  return (wisdom_ && !wisdom_->is_empty()) ||
         std::any_of(uses_.begin(), uses_.end(),
                     [](const Use& use) { return depends_on_nodes(*use.spec.algorithm); }) ||
         std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& rule) { return rule.needs_topology() && !forced(rule.collective); });
}

bool Selection::may_share_memory(Collective collective) const {
  const auto shares = [](const Spec& spec) { return shares_memory(spec); };
  if (const Spec* spec = forced(collective)) return shares(*spec);
  if (wisdom_ && wisdom_->may_share_memory(collective)) return true;
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& rule) { return rule.collective == collective && shares(rule.use); });
}

bool Selection::may_share_memory() const {
  return std::any_of(std::begin(all_collectives), std::end(all_collectives),
                     [&](Collective collective) { return may_share_memory(collective); });
}

bool Selection::depends_on_form(Collective collective) const {
  return may_share_memory(collective) || (!forced(collective) && wisdom_ && wisdom_->knows(collective));
}

Choice Selection::choose(const CallContext& context, Trace* trace) const {
  Choice choice = choose_any(context, trace);
  if (context.has_native || !choice.spec.algorithm->is_native()) return choice;
  choice.spec = default_spec(plainest(context));
  choice.reason = Reason::no_native;
  return choice;
}

Choice Selection::choose_any(const CallContext& context, Trace* trace) const {
  if (const Spec* spec = forced(context.collective)) return choose_forced(*spec, context);
  Choice choice = choose_by_rules(context, trace);
  return choice.reason == Reason::by_default && wisdom_ ? choose_by_wisdom(context, std::move(choice), trace)
                                                        : choice;
}

/// The choice of a wisdom entry, else native. A call is also native if it does not meet the requirements of
/// the entry, such as shared memory.
Choice Selection::choose_by_wisdom(const CallContext& context, Choice native, Trace* trace) const {
  if (!wisdom_->knows(context.collective)) return native;
  if (context.nodes == 0) {
    native.wants_nodes = true;
    return native;
  }
  const WisdomEntry* const entry = wisdom_->find(context, trace);
  if (!entry) return native;
  std::string unmet = entry->use.algorithm->is_native() ? "keeps this call native" : "";
  if (unmet.empty()) unmet = unmet_requirement(entry->use, context);
  if (unmet.empty()) unmet = unmet_shared_memory(entry->use, context);
  if (trace) trace->wisdom.back().obstacle = unmet;
  if (!unmet.empty()) return native;
  native.spec = entry->use;
  native.reason = Reason::wisdom;
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", entry->ratio);
  native.detail = std::string("wisdom: ") + ratio + " of native, " + entry->measured.substr(0, 10);
  return native;
}

Choice Selection::choose_by_rules(const CallContext& context, Trace* trace) const {
  std::string skipped;
  bool wants_nodes = false;
  for (const Rule& rule : rules_) {
    const auto note = [&](bool matches, const std::string& obstacle) {
      if (trace) trace->rules.push_back({static_cast<std::size_t>(&rule - rules_.data()), matches, obstacle});
    };
    if (!rule.fits(context)) {
      note(false, "");
      wants_nodes = wants_nodes || rule.may_fit_later(context);
      continue;
    }
    const std::string detail = "rule " + std::to_string(rule.number) + " of " + rules_name_;
    std::string unmet = unmet_requirement(rule.use, context);
    if (unmet.empty() && needs_unknown_nodes(rule.use, context))
      unmet = "needs the mapping of ranks to nodes";
    if (unmet.empty()) unmet = unmet_shared_memory(rule.use, context);
    note(true, unmet);
    if (unmet.empty())
      return {.spec = rule.use,
              .reason = Reason::rule,
              .detail = detail,
              .declared = skipped,
              .wants_nodes = wants_nodes};
    wants_nodes = wants_nodes || needs_unknown_nodes(rule.use, context);
    if (!skipped.empty()) skipped += "; ";
    skipped.append(detail).append(" is skipped: ").append(spec_text(rule.use)).append(" ").append(unmet);
  }
  return {.spec = {&native(context.collective)}, .declared = skipped, .wants_nodes = wants_nodes};
}

}  // namespace convene::decide
