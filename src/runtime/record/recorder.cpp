// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/record/recorder.hpp"

#include <unistd.h>

#include <bit>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/record/recording_file.hpp"
#include "runtime/settings/settings.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {
namespace recorder {
namespace {

/// The recordings that will be written: of communicators and of persistent operations.
struct Kept {
  std::mutex mutex;
  std::vector<std::shared_ptr<Recording>> recordings;
  TickLine ticks;

  static Kept& instance() {
    static Kept* kept = new Kept;  // never freed: programs finalize in any order
    return *kept;
  }
};

/// Determines which ranks of a communicator read the same clock; also names the recording. Collective. False
/// on failure.
bool find_clocks(MPI_Comm comm, Recording& recording) {
  if (recording.clock().has_groups()) return true;
  name_communicator(comm, recording.communicator, progress::await);
  return recording.clock().find_groups(comm, progress::await) == MPI_SUCCESS;
}

/// Of an intercommunicator: clocks are compared over both groups. (They are merged each time, which is rare.)
void synchronize_groups(Communicator& communicator, Recording& recording) {
  CommonClock& clock = recording.clock();
  if (clock.has_groups() && clock.is_one_clock()) return;
  const bool is_behind = recording.communicator.rank != static_cast<int>(communicator.rank());
  MPI_Comm both = merge_groups(communicator.comm(), is_behind);
  if (both == MPI_COMM_NULL) return;
  bool is_right = find_clocks(both, recording);
  if (is_right && !clock.is_one_clock()) is_right = clock.update(both, 0, progress::await) == MPI_SUCCESS;
  if (is_right) pmpi.Comm_free(&both);  // some MPIs abort if a communicator with pending messages is freed
}

/// Writes the recordings to CONVENE_RECORD, while the MPI still works.
void write() {
  const std::string& directory = settings().record_directory;
  Kept& kept = Kept::instance();
  const std::lock_guard lock(kept.mutex);
  std::vector<const Recording*> written;
  for (const auto& recording : kept.recordings)
    // A communicator without calls may still have a common clock, by which its operations' starts are
    // compared.
    if (recording->calls() > 0 || recording->clock().is_known()) written.push_back(recording.get());
  write_recordings(directory, written, kept.ticks);
}

/// Keeps a recording until the end, when recordings are written.
void keep(const std::shared_ptr<Recording>& recording) {
  if (settings().record_directory.empty()) return;
  Kept& kept = Kept::instance();
  const std::lock_guard lock(kept.mutex);
  kept.recordings.push_back(recording);
}

/// Ensures that every rank with a call writes a file, also without recorded communicators.
void write_at_end() {
  static const bool once = [] {
    if (!settings().record_directory.empty()) process::at_end(process::EndStage::write_recordings, write);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

bool is_on() {
  if (state.load(std::memory_order_relaxed) == State::undecided)
    state.store(settings().record_directory.empty() ? State::off : State::on);
  return state.load(std::memory_order_relaxed) == State::on;
}

void switch_on() {
  Kept::instance();
  state.store(State::on);
}

void synchronize(Communicator& communicator) {
  Recording* recording = communicator.recording();
  if (!recording) return;
  recording->refresh();
  CommonClock& clock = recording->clock();
  if (communicator.is_inter()) return synchronize_groups(communicator, *recording);
  if (!find_clocks(communicator.comm(), *recording) || clock.is_one_clock()) return;
  const MPI_Comm own = communicator.tags().comm_if_possible();
  if (own == MPI_COMM_NULL) return;
  const Tags tags(communicator.tags().await_next_collective());
  communicator.tags().await_agreements();
  clock.update(own, tags.of(0), progress::await);
}

void Starts::note(std::uint64_t arrival) {
  const std::uint64_t exit = ticks();
  const std::uint64_t number =
      recording_->begin({.address = caller, .call = key_, .is_blocking = false}, arrival);
  recording_->end(number, record_ ? &*record_ : nullptr, bytes_, exit);
}

}  // namespace recorder

namespace {

std::shared_ptr<Recording> make_recording(RecordedCommunicator described) {
  const TickLine& since = recorder::Kept::instance().ticks;
  auto made = std::make_shared<Recording>(settings().record_calls, TickLine(since.start()));
  made->communicator = std::move(described);
  recorder::keep(made);
  return made;
}

}  // namespace

RecordedScope::RecordedScope(const CallKey& key, MPI_Comm comm, const Form& form,
                             recorder::AttachStarts attach)
    : key_(key), form_(form), attach_(attach) {
  const std::uint64_t now = ticks();
  if (!recorder::is_on()) return;
  recorder::write_at_end();
  Communicator* communicator = Communicator::of(comm);
  if (!communicator || communicator->is_unrecorded()) return;
  if (form.is_persistent() && settings().record_directory.empty())
    return;  // starts are used by recordings
             // only
  if (!communicator->recording()) {
    RecordedCommunicator described = recorder::describe_communicator(communicator->info());
    if (described.members.empty()) {
      communicator->leave_unrecorded();
      return;
    }
    auto made = make_recording(std::move(described));
    made->keep(communicator->stats().profile());
    communicator->record_in(std::move(made));
  }
  communicator_ = communicator;
  Recording& recording = *communicator->recording();
  if (!form.is_persistent()) {
    number_ = recording.begin({recorder::caller, key, form.is_blocking()}, now);
    return;
  }
  number_ = static_cast<std::uint64_t>(recording.next_operation());
  // Starts never synchronise clocks, since ranks may make them in any order.
  if (std::has_single_bit(number_ + 1)) recorder::synchronize(*communicator);
  communicator->stats().forget_last();  // if the creation has no record, it must not use that of an earlier
                                        // call
}

int RecordedScope::end(int code) {
  if (!communicator_) return code;
  const std::uint64_t now = ticks();
  Recording& recording = *communicator_->recording();
  // If the call was native without a record, the last record belongs to another one.
  const CallStats* record = communicator_->stats().last();
  if (record && record->collective != key_.collective) record = nullptr;
  if (form_.is_persistent()) {
    if (code == MPI_SUCCESS && number_ < Recording::most_operations) record_starts(record);
    return code;
  }
  recording.end(number_, record, communicator_->stats().last_block_bytes(), now);
  if (form_.is_blocking() && recording.wants_clock()) recorder::synchronize(*communicator_);
  return code;
}

/// The operation has been created.
void RecordedScope::record_starts(const CallStats* record) const {
  RecordedCommunicator described = communicator_->recording()->communicator;
  described.operation = static_cast<std::int64_t>(number_);
  const std::shared_ptr<Recording> recording = make_recording(std::move(described));
  attach_(form_, std::make_unique<recorder::Starts>(recording, key_, record,
                                                    record ? communicator_->stats().last_block_bytes() : 0));
}

}  // namespace convene::runtime
