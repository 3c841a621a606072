// SPDX-License-Identifier: BSD-3-Clause
// Selection: which algorithm runs a call, and why. Forced choices come first, then rules, then the MPI's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/reason.hpp"
#include "decide/rules.hpp"

namespace convene::decide {

struct Choice {
  Spec spec;
  Reason reason = Reason::by_default;
  std::string detail = "";    ///< of the reason: "rule 2 of rules.json"; else empty
  std::string declared = "";  ///< a sentence for the log where a rule that fits was skipped; else empty
  bool wants_nodes = false;   ///< it might be another one if the nodes were known
};

/// Constant once made; any thread may ask. All ranks that ask with equal situations get equal answers.
class Selection {
 public:
  /// Everything native.
  Selection() = default;

  /// From what a user gave: "allgather=sparbit,…" and the path of a rules file, either may be empty. Throws
  /// Error.
  static Selection from(std::string_view uses, const std::string& rules_path);
  Selection(std::vector<Use> uses, std::vector<Rule> rules, std::string_view rules_name);

  /// Whether no call of this collective can get anything but the MPI's own.
  bool always_native(Collective collective) const;
  bool all_native() const;

  /// Whether ranks may come to share memory: then a decision depends on whether the call blocks, and on its size.
  bool may_share_memory(Collective collective) const;
  /// Whether nodes and ranks per node must be found before choose() can answer.
  bool needs_topology() const;

  /// Throws Error where a forced algorithm cannot run with so many processes: the call must fail with its
  /// text. Where the MPI's own would be the answer and there is none, the first of the catalogue that fits is.
  Choice choose(const Situation& situation) const;

 private:
  const Spec* forced(Collective collective) const;
  Choice choose_any(const Situation& situation) const;
  Choice choose_by_rules(const Situation& situation) const;

  std::vector<Use> uses_;
  std::vector<Rule> rules_;
  std::string rules_name_;
};

}  // namespace convene::decide
