// SPDX-License-Identifier: BSD-3-Clause
// Recorder: records this rank's entry to and exit from each collective, updates the communicators' common
// clocks, and writes all of it at the end. Off unless requested; then a call costs a test of one flag.
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

/// False only if it is known that nothing is recorded.
inline bool may_be_on() { return state.load(std::memory_order_relaxed) != State::off; }

/// True if calls are recorded: decided by the settings, in the first call.
bool is_on();

/// Records from now on, regardless of the settings (for forecasts; files are written only if CONVENE_RECORD
/// is set). Call it on all ranks at the same place of the program, before the first collective.
void switch_on();

/// Updates the communicator's common clock. Collective on it; the recorder does it by itself after the first
/// blocking call and then at growing intervals. A failure leaves the clock unchanged.
void synchronize(Communicator& communicator);

/// The starts of one persistent operation.
class Starts {
 public:
  /// `record` (null: unknown) and `bytes`: as in Recording::end(). The recording is written at the end, even
  /// if this object is deleted.
  Starts(std::shared_ptr<Recording> recording, const CallKey& key, const CallStats* record,
         std::uint64_t bytes)
      : recording_(std::move(recording)), key_(key), bytes_(bytes) {
    if (record) record_ = *record;
  }
  ~Starts() { recording_->close(); }
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;

  /// Records a start, from the noted call site (runtime/call/caller.hpp). Returns the result of `start()`; a
  /// failed start is not recorded.
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
  const CallKey key_;
  std::optional<CallStats> record_;  // its name and reason: the profile may be deleted before the operation
  const std::uint64_t bytes_;
};

/// Attaches the record of starts to a persistent operation that has just been created in that form.
using AttachStarts = void (*)(const Form& form, std::unique_ptr<Starts> starts);

}  // namespace recorder

/// One call, from its entry to its exit.
class RecordedScope {
 public:
  RecordedScope(const CallKey& key, MPI_Comm comm, const Form& form, recorder::AttachStarts attach);
  /// Returns `code`.
  int end(int code);
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  void record_starts(const CallStats* record) const;

  Communicator* communicator_ = nullptr;  // null: not recorded
  const CallKey& key_;
  const Form& form_;
  const recorder::AttachStarts attach_;
  std::uint64_t number_ = 0;  // of the call, or of the persistent operation
};

}  // namespace convene::runtime
