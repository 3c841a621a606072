// SPDX-License-Identifier: BSD-3-Clause
// Explanation: what decides a call, and why each other rule and each other entry of wisdom does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decide/selection.hpp"
#include "decide/wisdom_files.hpp"

namespace convene::decide {

/// A call, and where its choice comes from.
struct Question {
  CallContext context;
  std::string uses, rules_path;  ///< as in CONVENE_USE and CONVENE_RULES; may be empty
  std::vector<WisdomFile> wisdom_files;
  MachineKey here;
};

struct Explanation {
  enum class Source : std::uint8_t { use, rule, wisdom };
  /// One choice that was made beforehand.
  struct Step {
    Source source;
    std::string name;  ///< "rule 2 of rules.json"
    std::string path;  ///< of its file
    unsigned line = 0;
    Collective collective;
    std::string use;
    std::string obstacle;  ///< why it does not decide, as a clause; empty: it decides
  };

  Choice choice;
  std::vector<Step> steps;            ///< in the order of precedence
  std::vector<std::string> refusals;  ///< a sentence for each wisdom file, or part of one, that is not used
};

/// Throws Error if a file is wrong, or a forced algorithm cannot run.
Explanation explain(const Question& question);

/// True if all ranks know the bytes of a call. Otherwise rules and wisdom see 0.
bool has_known_bytes(Collective collective);

/// The context of a blocking call of `bytes` per block, with the ranks in equal parts on nodes, in order.
CallContext call_on_nodes(Collective collective, Rank procs, std::uint64_t bytes, Rank nodes);

}  // namespace convene::decide
