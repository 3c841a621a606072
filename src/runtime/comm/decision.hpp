// SPDX-License-Identifier: BSD-3-Clause
// Decision: the algorithm for the calls of one signature on a communicator, and the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "collective/core/collective.hpp"
#include "decide/reason.hpp"
#include "execute/executor.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/schedule_cache.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {

/// Call signature: all inputs of a decision besides the communicator. Equal on all ranks, except `in_place`
/// of a rooted collective, which is the root's.
struct CallSignature {
  Collective collective = Collective::allgather;
  Rank root = 0;
  bool in_place = false;
  bool commutative = true;        ///< of a reduction: its operator
  bool order_matters = false;     ///< of a reduction: the order of operands changes its result
  std::uint64_t total_bytes = 0;  ///< equal on all ranks
  bool may_block = true;          ///< a non-blocking call may not wait for other ranks
  bool is_blocking = true;        ///< neither non-blocking nor persistent: one at a time
  bool has_native = true;         ///< the MPI has such a call
  bool may_share = true;          ///< there is shared memory for it
};

/// Decision for one signature.
struct Decision {
  CallSignature signature;
  bool depends_on_form = false;  ///< valid for blocking, non-blocking or persistent calls only
  bool any_size = false;         ///< valid for every size
  bool any_root = false;         ///< valid for every root
  bool wants_nodes = false;      ///< may change once the nodes, or all neighbours, are known
  Reason reason = Reason::by_default;
  std::shared_ptr<const Prepared> prepared;  ///< null: native
  std::uint64_t shared_places = 0;           ///< shared by the ranks of the fullest node
  std::unique_ptr<Program> program;          ///< bound to the sizes of the last call; null before the first
  Spec spec;                                 ///< the choice; its algorithm is null if the call is native
  std::string reason_detail;                 ///< see reason_text()
  std::string chosen;           ///< the choice with its parameters, before an unmet requirement was found
  CallStats* record = nullptr;  ///< of the size class that was counted last

  /// What runs, as text.
  std::string_view algorithm() const { return prepared ? std::string_view(chosen) : "native"; }

  bool is_for(const CallSignature& call) const {
    return signature.collective == call.collective && (any_root || signature.root == call.root) &&
           signature.in_place == call.in_place && signature.commutative == call.commutative &&
           signature.order_matters == call.order_matters && signature.has_native == call.has_native &&
           signature.may_share == call.may_share &&
           (!depends_on_form ||
            (signature.is_blocking == call.is_blocking && signature.may_block == call.may_block)) &&
           (any_size || signature.total_bytes == call.total_bytes);
  }
};

}  // namespace convene::runtime
