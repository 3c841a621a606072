// SPDX-License-Identifier: BSD-3-Clause
// The recorder: notes when this rank comes to each collective and when it leaves, brings the communicators' common clocks
// up to date, and writes it all down at the end. Off unless asked for; then a call pays a test of one flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/arguments.hpp"
#include "runtime/recording.hpp"

namespace convene {

class Communicator;

namespace recorder {

enum class State : std::uint8_t { undecided, off, on };
inline std::atomic<State> state{State::undecided};

/// False only when it is known that nothing is recorded.
inline bool may_be_on() { return state.load(std::memory_order_relaxed) != State::off; }

/// Whether calls are recorded: decided by the settings, in the first call.
bool is_on();

/// Records from now on, whatever the settings say (for forecasts; nothing is written unless CONVENE_RECORD says where).
/// To be called on all ranks at the same place of the program, before the first collective.
void switch_on();

/// Brings the communicator's common clock up to date. Collective on it; the recorder does it by itself after the first
/// blocking call and then after ever longer stretches. A failure leaves the clock as it was.
void synchronize(Communicator& communicator);

/// Keeps the recording of a communicator that goes, where recordings will be written. Null is nothing.
void keep(std::unique_ptr<Recording> recording);

/// The starts of one persistent operation.
class Starts {
 public:
  /// `record` and `bytes`: as Recording::end() has them. The recording is written at the end, whatever becomes of this.
  Starts(Recording& recording, const Shape& shape, const Record* record, std::uint64_t bytes)
      : recording_(recording), shape_(shape), record_(record), bytes_(bytes) {}
  ~Starts() { recording_.close(); }
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;

  /// A start, from the place that was noted (runtime/caller.hpp). Returns what `start()` returns.
  template <class Start>
  int record(Start&& start) {
    const std::uint64_t number = begin();
    const int code = start();
    end(number);
    return code;
  }

 private:
  std::uint64_t begin();
  void end(std::uint64_t number);

  Recording& recording_;
  const Shape shape_;
  const Record* const record_;
  const std::uint64_t bytes_;
};

/// Writes what was kept to CONVENE_RECORD. To be called once, while the MPI still works.
void write();

}  // namespace recorder

/// One call, from where the program came in to where it goes out.
class RecordedScope {
 public:
  RecordedScope(const Shape& shape, MPI_Comm comm, const Form& form);
  /// Returns `code`.
  int end(int code);
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  Communicator* communicator_ = nullptr;  // null: not recorded
  void record_starts(const Record* record) const;

  const Shape& shape_;
  const Form& form_;
  std::uint64_t number_ = 0;  // of the call, or of the persistent operation
};

}  // namespace convene
