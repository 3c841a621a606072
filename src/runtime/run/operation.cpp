// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/run/operation.hpp"

#include <optional>

#include "base/clock.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/call/kept_arguments.hpp"
#include "runtime/progress/generalized_request.hpp"

namespace convene::runtime {
namespace {

class Operation : public GeneralizedRequest {
 public:
  Operation(const Arguments& arguments, Communicator& communicator, const Decision& decision,
            CallStats& record)
      : arguments_(arguments),
        prepared_(decision.prepared),
        internal_(communicator.shared_internal()),
        profile_(communicator.profile()),
        record_(record),
        number_(communicator.next_collective()) {}

  void start(std::uint64_t block_bytes) {
    start_ = ticks();
    block_bytes_ = block_bytes;
    internal_->tag_window.begin(number_);
    if (must_agree(arguments_, *prepared_)) internal_->tag_window.queue_agreement(number_);
    progress::add(this);
    progress::advance_all();
  }

  /// One stage after the other, as far as it goes without waiting.
  bool advance() override {
    while (stage_ != Stage::over) {
      const Stage before = stage_;
      const int code = go_on();
      if (code != MPI_SUCCESS || stage_ == Stage::over) {
        stage_ = Stage::over;
        end(code);
      } else if (stage_ == before) {
        return false;
      }
    }
    return true;
  }

  void fail(int code) override {
    internal_->note_failure(code);
    stage_ = Stage::over;
    end(code);
  }

  bool may_progress_in_background() const override { return runs_anywhere(arguments_); }

  void complete() override {
    record_.add(ticks() - start_, block_bytes_);
    internal_->tag_window.end(number_);
    if (code() != MPI_SUCCESS) internal_->has_failed = true;
    complete_request();
  }

 private:
  enum class Stage : std::uint8_t { internal, agree, agreement, prepare, run, over };

  void on_request_gone() override { progress::defer_delete(this); }

  int go_on() {
    switch (stage_) {
      case Stage::internal:
        return find_internal();
      case Stage::agree:
        return agree();
      case Stage::agreement:
        return await_agreement();
      case Stage::prepare:
        return prepare();
      case Stage::run:
        return run();
      case Stage::over:
        break;
    }
    return MPI_SUCCESS;
  }

  /// The own communicator may still be in the making, or others have the same tags.
  int find_internal() {
    bool ready = false;
    if (const int code = internal_->test(ready); code != MPI_SUCCESS || !ready) return code;
    if (!internal_->tag_window.tag_is_free(number_)) return MPI_SUCCESS;
    call_.emplace(arguments_, *prepared_, internal_->comm, number_, arena_);
    stage_ = call_->must_agree() ? Stage::agree : Stage::prepare;
    return MPI_SUCCESS;
  }

  int agree() {
    if (!internal_->tag_window.may_agree(number_)) return MPI_SUCCESS;
    stage_ = Stage::agreement;
    const int code = call_->begin_agreement(&agreement_);
    internal_->tag_window.note_agreement(number_);
    return code;
  }

  int await_agreement() {
    int done = 0;
    const int code = pmpi.Test(&agreement_, &done, MPI_STATUS_IGNORE);
    if (done) stage_ = Stage::prepare;
    return code;
  }

  int prepare() {
    const int code = call_->prepare(arena_);
    run_.emplace(call_->binding(), Limits{}, arena_);
    stage_ = Stage::run;
    return code;
  }

  int run() {
    bool done = false;
    const std::uint64_t before = run_->messages();
    const int code = run_->advance(done);
    if (run_->messages() != before) progress::note_movement();
    if (code != MPI_SUCCESS || !done) return code;
    stage_ = Stage::over;
    return call_->finish();
  }

  const KeptArguments arguments_;
  const std::shared_ptr<const Prepared> prepared_;
  const std::shared_ptr<InternalCommunicator> internal_;
  const std::shared_ptr<LiveProfile> profile_;  // holds the record
  CallStats& record_;
  const std::uint32_t number_;
  Stage stage_ = Stage::internal;
  Arena arena_;
  std::optional<BoundCall> call_;
  std::optional<StepwiseRun> run_;
  MPI_Request agreement_ = MPI_REQUEST_NULL;
  std::uint64_t start_ = 0, block_bytes_ = 0;
};

}  // namespace

int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    MPI_Request* request) {
  if (const int code = communicator.begin_internal(); code != MPI_SUCCESS) return code;
  const std::uint64_t block = arguments.block_bytes(arguments.total_bytes());
  auto* operation =
      new Operation(arguments, communicator, decision, communicator.stats_of(decision, block, true));
  if (const int code = operation->make_request(); code != MPI_SUCCESS) {
    delete operation;
    return code;
  }
  operation->start(block);
  *request = operation->request();
  return MPI_SUCCESS;
}

}  // namespace convene::runtime
