// SPDX-License-Identifier: BSD-3-Clause
// The recorder: notes when this rank comes to each collective and when it leaves, brings the communicators'
// common clocks up to date, and writes it all down at the end. Off unless asked for; then a call pays a test
// of one flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/stats/recording.hpp"

namespace convene::runtime {

namespace recorder {

enum class State : std::uint8_t { undecided, off, on };
inline std::atomic<State> state{State::undecided};

/// False only when it is known that nothing is recorded.
inline bool may_be_on() { return state.load(std::memory_order_relaxed) != State::off; }

/// Whether calls are recorded: decided by the settings, in the first call.
bool is_on();

/// Records from now on, whatever the settings say (for forecasts; nothing is written unless CONVENE_RECORD
/// says where). To be called on all ranks at the same place of the program, before the first collective.
void switch_on();

/// Brings the communicator's common clock up to date. Collective on it; the recorder does it by itself after
/// the first blocking call and then after ever longer stretches. A failure leaves the clock as it was.
void synchronize(Communicator& communicator);

/// The starts of one persistent operation.
class Starts {
 public:
  /// `record` (null: it is not known) and `bytes`: as Recording::end() has them. The recording is written at
  /// the end, whatever becomes of this.
  Starts(std::shared_ptr<Recording> recording, const Shape& shape, const CallStats* record,
         std::uint64_t bytes)
      : recording_(std::move(recording)), shape_(shape), bytes_(bytes) {
    if (record) record_ = *record;
  }
  ~Starts() { recording_->close(); }
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;

  /// A start, from the place that was noted (runtime/call/caller.hpp). Returns what `start()` returns; one
  /// that fails is none.
  template <class Start>
  int record(Start&& start) {
    const std::uint64_t arrival = ticks();
    const int code = start();
    if (code == MPI_SUCCESS) note(arrival);
    return code;
  }

 private:
  void note(std::uint64_t arrival);

  const std::shared_ptr<Recording> recording_;
  const Shape shape_;
  std::optional<CallStats> record_;  // its name and reason: the account may go before the operation
  const std::uint64_t bytes_;
};

/// Attaches the record of starts to a persistent operation that has just been made in that form.
using AttachStarts = void (*)(const Form& form, std::unique_ptr<Starts> starts);

}  // namespace recorder

/// One call, from where the program came in to where it goes out.
class RecordedScope {
 public:
  RecordedScope(const Shape& shape, MPI_Comm comm, const Form& form, recorder::AttachStarts attach);
  /// Returns `code`.
  int end(int code);
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  void record_starts(const CallStats* record) const;

  Communicator* communicator_ = nullptr;  // null: not recorded
  const Shape& shape_;
  const Form& form_;
  const recorder::AttachStarts attach_;
  std::uint64_t number_ = 0;  // of the call, or of the persistent operation
};

}  // namespace convene::runtime
