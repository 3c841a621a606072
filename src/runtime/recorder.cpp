// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/recorder.hpp"

#include <unistd.h>

#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "execute/tags.hpp"
#include "runtime/caller.hpp"
#include "runtime/communicator.hpp"
#include "runtime/progress.hpp"
#include "runtime/recording_file.hpp"
#include "runtime/settings.hpp"

namespace convene {
namespace recorder {
namespace {

/// What is kept of communicators that are gone.
struct Kept {
  std::mutex mutex;
  std::vector<std::unique_ptr<Recording>> recordings;
  TickLine ticks;

  static Kept& instance() {
    static Kept* kept = new Kept;  // never freed: programs finalize in odd orders
    return *kept;
  }
};

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
  if (!recording || communicator.is_inter()) return;
  recording->refresh();
  CommonClock& clock = recording->clock();
  if (!clock.has_groups()) {
    name_communicator(communicator.comm(), recording->communicator, progress::await);
    if (clock.find_groups(communicator.comm(), progress::await) != MPI_SUCCESS) return;
  }
  if (clock.is_one_clock()) return;
  const MPI_Comm own = communicator.own_if_possible();
  if (own == MPI_COMM_NULL) return;
  const Tags tags(communicator.await_next_collective());
  communicator.await_agreements();
  clock.update(own, tags.of(0), progress::await);
}

void keep(std::unique_ptr<Recording> recording) {
  if (!recording || settings().record_directory.empty() || recording->calls() == 0) return;
  recording->close();
  Kept& kept = Kept::instance();
  const std::lock_guard lock(kept.mutex);
  kept.recordings.push_back(std::move(recording));
}

void write() {
  const std::string& directory = settings().record_directory;
  if (directory.empty() || !is_on()) return;
  Kept& kept = Kept::instance();
  const std::lock_guard lock(kept.mutex);
  write_recordings(directory, kept.recordings, kept.ticks);
}

}  // namespace recorder

RecordedScope::RecordedScope(const Shape& shape, MPI_Comm comm, const Form& form)
    : collective_(shape.collective), is_blocking_(form.is_blocking()) {
  const std::uint64_t now = ticks();
  if (!recorder::is_on() || form.is_persistent()) return;
  Communicator* communicator = Communicator::of(comm);
  if (!communicator || communicator->is_inter()) return;
  communicator_ = communicator;
  if (!communicator->recording()) {
    const TickLine& since = recorder::Kept::instance().ticks;
    auto made = std::make_unique<Recording>(settings().record_calls, TickLine(since.start()));
    made->keep(communicator->account());
    made->communicator = recorder::describe_communicator(*communicator);
    communicator->record_in(std::move(made));
  }
  number_ = communicator->recording()->begin({recorder::caller, shape, is_blocking_}, now);
}

int RecordedScope::end(int code) {
  if (!communicator_) return code;
  const std::uint64_t now = ticks();
  Recording& recording = *communicator_->recording();
  // Where the call was left to the MPI without an account, the last record is of another one.
  const Record* record = communicator_->last_record();
  if (record && record->collective != collective_) record = nullptr;
  recording.end(number_, record, communicator_->last_block_bytes(), now);
  if (is_blocking_ && recording.wants_clock()) recorder::synchronize(*communicator_);
  return code;
}

}  // namespace convene
