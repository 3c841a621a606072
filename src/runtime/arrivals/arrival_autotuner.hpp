// SPDX-License-Identifier: BSD-3-Clause
// Arrivals that repeat, in programs that declare nothing (CONVENE_ARRIVALS=auto): the calls at one place are
// watched, and get an algorithm with forecasts where that was measured to be faster.
//
// Design notes
// - A place is what MPI makes equal on all ranks of a communicator: the collective, the number of bytes, the
//   root, whether the operator commutes. (Return addresses may differ between ranks.)
// - A rank forecasts how long it computes: from the end of its last collective on the communicator, which all
//   ranks leave at about the same time, to the next call. So no clocks are compared.
// - Every so many calls, right after one, the ranks tell each other what they expect and what they have seen,
//   on Convene's own communicator: between two calls of the program all ranks are at the same place there. No
//   rank waits for the answers but in a trial: they are used some calls later. decide/adaptation.hpp decides
//   from them, equally on all ranks, and what it decides holds from the next call on.
// - With a thread for the background on every rank, allgathers under a forecast begin ahead
//   (runtime/arrivals/early_start.hpp): as soon as the one before is over.
// - Only blocking calls that nobody has chosen an algorithm for, of blocks that are worth it, on enough
//   ranks.
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
  /// The one of a communicator, attached in its first call where arrivals are watched; null elsewhere.
  static ArrivalAutotuner* of(Communicator& communicator) {
    return static_cast<ArrivalAutotuner*>(communicator.attachment());
  }
  ArrivalAutotuner(const ArrivalAutotuner&) = delete;
  ArrivalAutotuner& operator=(const ArrivalAutotuner&) = delete;

  /// Whether the calls of a decision are watched; equal on all ranks.
  static bool watches(const Decision& decision, const CallSignature& call, const Communicator& communicator);

  /// Which decision runs this call: `regular`, or one of a forecast. Arrival at `now`, in ticks.
  Decision& choose(Decision& regular, const CallSignature& call, Communicator& communicator,
                   std::uint64_t now);
  /// The run that has begun ahead of this call, where one has: it is to run the call.
  EarlyStart* early_start();
  /// It is over: to be called after every call for which choose() was, with the ticks of its end.
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
  Site* current_ = nullptr;  // of the call that is running
  bool was_ahead_ = false;   // whether that had begun before
  std::uint64_t last_exit_ = 0, arrival_ = 0;
  bool has_ahead_ = false;  // whether a run may have begun ahead of its call
};

}  // namespace convene::runtime
