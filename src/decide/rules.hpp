// SPDX-License-Identifier: BSD-3-Clause
// Rules: choice of algorithms by call, from a JSON file. The first rule that matches a call decides.
//
//   {"convene_rules": 1,
//    "rules": [{"collective": "allgather", "procs": [2, 64], "bytes": ["8", "4KiB"], "use":
//    "sparbit;send=packed"},
//              {"collective": "allgather", "nodes": {"min": 2}, "use": "ring"}]}
//
// "procs", "bytes", "nodes" and "ranks_per_node" take a value, a list of the minimum and the maximum, or an
// object with "min" and/or "max"; omitted fields match any value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collective/core/spec.hpp"
#include "decide/field_reader.hpp"
#include "decide/mismatch.hpp"

namespace convene::decide {

/// Number of non-blocking calls that share the memory of a node at once: each may have this part of it.
inline constexpr std::uint64_t non_blocking_parts = 4;

/// CallContext: a call and its communicator, as far as a choice depends on them. MPI makes all of it equal on
/// all ranks.
struct CallContext {
  Collective collective = Collective::allgather;
  Rank procs = 1;
  std::uint64_t total_bytes = 0;         ///< of all blocks together
  Rank nodes = 0, ranks_per_node = 0;    ///< 0: not known yet; ranks of the fullest node
  std::vector<Rank> node_of_rank = {};   ///< empty: not known yet
  std::vector<Domains> domains = {};     ///< by rank; empty: no level divides a node, or not known yet
  bool commutative = true;               ///< of a reduction: its operator
  bool reproducible = false;             ///< results must be equal to the bit from run to run
  bool has_native = true;                ///< the MPI has such a call
  bool is_blocking = true;               ///< neither non-blocking nor persistent
  bool order_matters = false;            ///< of a reduction: the order of operands changes its result
  bool shares_cores = false;             ///< more ranks than cores on a node
  std::uint64_t may_share = UINT64_MAX;  ///< bytes that the ranks of a node may share; 0: none are mapped

  /// Bytes per block; of the mean block if blocks differ. A bcast has only one, the vector; so have
  /// reductions, except reduce_scatter.
  std::uint64_t block_bytes() const {
    return has_one_vector(collective) ? total_bytes : procs == 0 ? 0 : total_bytes / procs;
  }
};

struct Rule {
  unsigned number = 0;  ///< counted from 1
  unsigned line = 0;
  Collective collective = Collective::allgather;
  Bounds procs, bytes, nodes, ranks_per_node;
  Spec use;

  Mismatch mismatch(const CallContext& context) const;
  bool fits(const CallContext& context) const { return !mismatch(context).any(); }
  /// True if it may match once the nodes are known.
  bool may_fit_later(const CallContext& context) const;
  bool needs_topology() const {
    return !nodes.is_anything() || !ranks_per_node.is_anything() || depends_on_nodes(*use.algorithm);
  }
};

/// Reads rules from text; `file` is its name in messages, which begin with FILE:LINE. Throws Error.
std::vector<Rule> parse_rules(std::string_view text, const std::string& file);

/// Reads rules from a file. Throws Error, also if it cannot be read.
std::vector<Rule> load_rules(const std::string& path);

}  // namespace convene::decide
