// SPDX-License-Identifier: BSD-3-Clause
// Decisions of a communicator: made once per call signature by all ranks from equal inputs, and stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decide/selection.hpp"
#include "runtime/call/neighbors.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/decision.hpp"
#include "runtime/comm/fast_path.hpp"
#include "runtime/comm/node_topology.hpp"
#include "runtime/comm/shared_wisdom.hpp"
#include "runtime/comm/tag_space.hpp"

namespace convene::runtime {

class Decisions {
 public:
  Decisions(const CommInfo& info, TagSpace& tags, NodeTopology& nodes, Neighbors& neighbors)
      : info_(info), tags_(tags), nodes_(nodes), neighbors_(neighbors) {}

  /// The decision for a call; equal on all ranks. All ranks must call it for the same call (it may
  /// communicate). Valid until the next decision: copy it for longer. A native call may decide others (a
  /// profiling tool behind Convene calls collectives).
  const std::shared_ptr<Decision>& decide(const CallSignature& call);

  /// Replaces the process's selection on this communicator.
  void use(Selection selection);
  /// Sets the expected arrival of each rank in the blocking calls that follow: seconds after a common moment,
  /// equal on all ranks; empty: not known. Local. Throws Error for an invalid time.
  void expect(std::span<const double> seconds);

  /// The candidates of trials for a call, best first, which may be none. Collective: determines the nodes and
  /// the machine.
  std::vector<Spec> candidates(const CallSignature& call, std::size_t most);
  /// Another decision for a blocking call, which is not stored: an algorithm, or native (null). Native, too,
  /// where the algorithm cannot run. Collective.
  std::shared_ptr<Decision> alternative(const CallSignature& call, const Spec* spec);
  /// Determines which ranks share a node, if a choice may depend on it or it `is_needed`. Collective if it
  /// may block.
  void find_nodes(bool may_block, bool is_needed = false);
  /// The context of a call as rules and wisdom see it.
  CallContext context_of(const CallSignature& call) const;
  /// True if all nodes are known to be alike, so that what is measured here may become wisdom. Equal on all
  /// ranks.
  bool may_add_wisdom() const { return machine_.is_known() && nodes_.is_known(); }
  /// Debug mode: verifies that all ranks have decided the same for the same call. Collective.
  void check_agreement(const CallSignature& call, const std::string& algorithm) const;

  FastPath& fast_path() { return fast_path_; }

  /// Bytes held by the table, and by the programs of its decisions.
  std::size_t memory() const;
  std::size_t program_memory() const;

 private:
  const Selection& selection() const;
  bool is_outdated(const Decision& decision, const CallSignature& call) const;
  Decision make(const CallSignature& call);
  void schedule(Decision& decision, const Spec& spec);
  Choice choose(const CallSignature& call);
  void find_wisdom(bool may_block);
  void find_machine();
  void find_all_neighbors();
  void forget_incomplete();
  std::vector<std::int32_t> expected_in(const Algorithm& algorithm, const Call& call,
                                        std::uint64_t total_bytes);
  std::optional<Reason> unmet_requirement_of(const Algorithm& algorithm, bool may_block);

  const CommInfo& info_;
  TagSpace& tags_;
  NodeTopology& nodes_;
  Neighbors& neighbors_;
  std::unique_ptr<Selection> own_selection_;
  std::shared_ptr<const SharedWisdom> wisdom_;  // null: not looked for yet
  SharedMachine machine_;                       // the wisdom's, or that of trials
  bool has_agreed_on_machine_ = false;
  std::vector<std::int64_t> expected_;  // nanoseconds, by rank; empty: not known
  /// Nanoseconds of a round, by bytes. Never evicted: ranks may decide again at different times, and
  /// measuring is collective.
  std::vector<std::pair<std::uint64_t, std::int64_t>> round_of_bytes_;
  /// Most recently made last.
  std::vector<std::shared_ptr<Decision>> decisions_;
  FastPath fast_path_;
};

}  // namespace convene::runtime
