// SPDX-License-Identifier: BSD-3-Clause
// Selection: which algorithm runs a call, and why. Precedence: forced choices, rules, wisdom, native.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/reason.hpp"
#include "decide/rules.hpp"
#include "decide/wisdom.hpp"

namespace convene::decide {

struct Choice {
  Spec spec;
  Reason reason = Reason::by_default;
  std::string detail = "";    ///< of the reason: "rule 2 of rules.json"; else empty
  std::string declared = "";  ///< a sentence for the log if a matching rule was skipped; else empty
  bool wants_nodes = false;   ///< the choice might differ if the nodes were known
};

/// True if an algorithm can run in a context: its requirements are met, and it may share the memory it
/// needs.
bool can_run(const Spec& spec, const CallContext& context);

/// Immutable; any thread may call choose(). Equal situations give equal choices on all ranks.
class Selection {
 public:
  /// Native for all collectives.
  Selection() = default;

  /// From a user's settings: "allgather=sparbit,…" and the path of a rules file; either may be empty. Throws
  /// Error.
  static Selection from(std::string_view uses, const std::string& rules_path);
  Selection(std::vector<Use> uses, std::vector<Rule> rules, std::string_view rules_name);

  /// The same choices, and wisdom for what they leave native.
  Selection with(std::shared_ptr<const Wisdom> wisdom) const;

  /// True if every call of this collective is native.
  bool always_native(Collective collective) const;
  bool all_native() const;

  /// True if a choice may share memory between ranks: it then depends on the call's size and on whether it
  /// blocks.
  bool may_share_memory(Collective collective) const;
  /// The same of any collective.
  bool may_share_memory() const;
  /// True if a choice may differ between blocking and other calls.
  bool depends_on_form(Collective collective) const;
  /// True if choose() needs the nodes and the ranks per node.
  bool needs_topology() const;

  /// Throws Error if a forced algorithm cannot run with this number of processes: the call must fail with its
  /// text. If the choice is native and the MPI has no such call, it is the first suitable algorithm of the
  /// catalogue. What is considered is added to `trace`.
  Choice choose(const CallContext& context, Trace* trace = nullptr) const;

 private:
  const Spec* forced(Collective collective) const;
  Choice choose_any(const CallContext& context, Trace* trace) const;
  Choice choose_by_rules(const CallContext& context, Trace* trace) const;
  Choice choose_by_wisdom(const CallContext& context, Choice native, Trace* trace) const;

  std::vector<Use> uses_;
  std::vector<Rule> rules_;
  std::string rules_name_;
  std::shared_ptr<const Wisdom> wisdom_;  // null: none
};

}  // namespace convene::decide
