// SPDX-License-Identifier: BSD-3-Clause
// Arrival autotuner, for programs with repeating arrivals and without declarations (CONVENE_ARRIVALS=auto):
// the calls at each call site are watched, and get an algorithm with forecasts if that is measured to be
// faster.
//
// Design notes
// - A site is identified by what MPI makes equal on all ranks of a communicator: the collective, the number
//   of bytes, the root, whether the operator commutes. (Return addresses may differ between ranks.)
// - A rank forecasts its computation time: from the end of its last collective on the communicator, which all
//   ranks leave at about the same time, to the next call. So no clocks are compared.
// - At intervals of calls, directly after a call, the ranks exchange their forecasts and measurements on the
//   internal communicator: between two calls of the program all ranks are at the same position there. Ranks
//   wait for the answers only in a trial; otherwise they are used some calls later. decide/adaptation.hpp
//   decides from them, equally on all ranks, and its decision holds from the next call on.
// - With a progress thread on every rank, allgathers with a forecast start early
//   (runtime/arrivals/early_start.hpp): as soon as the previous one has ended.
// - Only blocking calls without a chosen algorithm, with blocks that are large enough, on enough ranks.
#pragma once

#include <memory>
#include <vector>

#include "decide/adaptation.hpp"
#include "runtime/arrivals/early_start.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

class ArrivalAutotuner : public Attachment {
 public:
  ArrivalAutotuner();
  ~ArrivalAutotuner() override;
  /// The autotuner of a communicator, attached in its first call if arrivals are watched; otherwise null.
  static ArrivalAutotuner* of(Communicator& communicator) {
    return static_cast<ArrivalAutotuner*>(communicator.attachment());
  }
  ArrivalAutotuner(const ArrivalAutotuner&) = delete;
  ArrivalAutotuner& operator=(const ArrivalAutotuner&) = delete;

  /// True if the calls of a decision are watched; equal on all ranks.
  static bool watches(const Decision& decision, const CallSignature& call, const Communicator& communicator);

  /// The decision for this call: `regular`, or one with a forecast. `now`: its arrival, in ticks.
  Decision& choose(Decision& regular, const CallSignature& call, Communicator& communicator,
                   std::uint64_t now);
  /// The early-started run of this call, if any: it must execute the call.
  EarlyStart* early_start();
  /// Records the end of a call, in ticks. Call it after every call with choose().
  void note(Communicator& communicator, std::uint64_t now);
  /// The end of any call on the communicator.
  void leave(std::uint64_t now) {
    last_exit_ = now;
    if (has_ahead_) pass_by(nullptr);
  }

 private:
  class Answers;
  struct Site;
  Site* find(const CallSignature& call, Communicator& communicator);
  void ask(Site& site, Communicator& communicator);
  void agree(Site& site, Communicator& communicator);
  void begin_ahead(Site& site, Communicator& communicator);
  void pass_by(const Site* called);

  std::vector<std::unique_ptr<Site>> sites_;
  Site* current_ = nullptr;  // of the current call
  bool was_ahead_ = false;   // the current call was started early
  std::uint64_t last_exit_ = 0, arrival_ = 0;
  bool has_ahead_ = false;  // some run may have been started early
};

}  // namespace convene::runtime
