// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/run/operation.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/spare_blocks.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/call/kept_arguments.hpp"
#include "runtime/progress/generalized_request.hpp"
#include "runtime/progress/staged_operation.hpp"

namespace convene::runtime {
namespace {

/// An operation and the memory of its run: a block that later operations use again.
class Operation final : public GeneralizedRequest {
 public:
  static void* operator new(std::size_t) { return blocks.take(); }
  static void operator delete(void* block) { blocks.give(block); }

  Operation(const Arguments& arguments, Communicator& communicator, const Decision& decision,
            CallStats& record)
      : arguments_(arguments),
        prepared_(decision.prepared),
        internal_(communicator.tags().shared()),
        profile_(communicator.stats().profile()),
        record_(record),
        shared_places_(decision.shared_places),
        number_(communicator.tags().next_collective()) {}

  void start(std::uint64_t block_bytes, std::shared_ptr<SharedLanes> lanes) {
    start_ = ticks();
    block_bytes_ = block_bytes;
    if (lanes) turn_.emplace(std::move(lanes));
    internal_->tag_window.begin(number_);
    if (must_agree(arguments_, *prepared_)) internal_->tag_window.queue_agreement(number_);
    progress::add(this);
    progress::advance_all();
  }

  bool advance() override {
    if (is_over()) return true;
    int code = MPI_SUCCESS;
    if (!stages_.advance([this](Stage stage) { return poll(stage); }, code)) return false;
    release_memory();
    end(code);
    return true;
  }

  void fail(int code) override {
    internal_->note_failure(code);
    release_memory();
    end(code);
  }

  bool may_progress_in_background() const override { return runs_anywhere(arguments_); }

  void complete() override {
    record_.add(start_, ticks(), block_bytes_);
    internal_->tag_window.end(number_);
    if (code() != MPI_SUCCESS) internal_->has_failed = true;
    complete_request();
  }

 private:
  using Blocks = base::SpareBlocks<4096, 8>;
  static constinit inline Blocks blocks;

  /// What follows this object in its block.
  std::span<std::byte> rest() {
    constexpr std::size_t own = (sizeof(Operation) + 63) / 64 * 64;
    static_assert(own + 1024 <= Blocks::bytes);
    return {reinterpret_cast<std::byte*>(this) + own, Blocks::bytes - own};
  }

  enum class Stage : std::uint8_t { tags, memory, agree, agreement, prepare, run };

  void on_request_gone() override { progress::defer_delete(this); }

  Polled poll(Stage stage) {
    switch (stage) {
      case Stage::tags:
        return await_tags();
      case Stage::memory:
        return await_memory();
      case Stage::agree:
        return agree();
      case Stage::agreement:
        return await_agreement();
      case Stage::prepare:
        return prepare();
      case Stage::run:
        return run();
    }
    return Polled::over();
  }

  /// An older operation may use the same tags.
  Polled await_tags() {
    if (!internal_->tag_window.tag_is_free(number_)) return Polled::waiting();
    call_.emplace(arguments_, *prepared_, internal_->channel(), number_, arena_);
    return Polled::next();
  }

  /// Older operations may use the same shared memory. (None will begin a run there any more if one has
  /// failed: the ranks may differ in the number of runs.)
  Polled await_memory() {
    if (!turn_) return Polled::next();
    if (const int failed = internal_->failure; failed != MPI_SUCCESS) return Polled::over(failed);
    if (!turn_->is_current()) return Polled::waiting();
    call_->share(turn_->memory(), shared_places_, arena_);
    has_begun_sharing_ = true;
    return Polled::next();
  }

  /// Not when the request is completed: that may be much later.
  void release_memory() {
    if (!has_begun_sharing_) return;
    if (!run_) turn_->memory().end();
    run_.reset();  // ends its run in the shared memory
    turn_->end();
    has_begun_sharing_ = false;
  }

  Polled agree() {
    if (!call_->must_agree()) return Polled::next();
    if (!internal_->tag_window.may_agree(number_)) return Polled::waiting();
    const int code = call_->begin_agreement(&agreement_);
    internal_->tag_window.note_agreement(number_);
    return Polled::when(true, code);
  }

  Polled await_agreement() {
    int done = 1;
    const int code =
        agreement_ == MPI_REQUEST_NULL ? MPI_SUCCESS : pmpi.Test(&agreement_, &done, MPI_STATUS_IGNORE);
    return Polled::when(done != 0, code);
  }

  Polled prepare() {
    const int code = call_->prepare(arena_);
    run_.emplace(call_->binding(), Limits{}, arena_);
    return Polled::when(true, code);
  }

  Polled run() {
    bool done = false;
    if (const int code = advance_run(*run_, done); code != MPI_SUCCESS) return Polled::over(code);
    return done ? Polled::over(call_->finish()) : Polled::waiting();
  }

  const KeptArguments arguments_;
  const std::shared_ptr<const Prepared> prepared_;
  const std::shared_ptr<InternalCommunicator> internal_;
  const std::shared_ptr<LiveProfile> profile_;  // keeps the record alive
  CallStats& record_;
  const std::uint64_t shared_places_;
  const std::uint32_t number_;
  std::optional<LaneTurn> turn_;  // if it shares memory
  bool has_begun_sharing_ = false;
  StageMachine<Stage> stages_;
  Arena arena_{rest()};
  std::optional<BoundCall> call_;
  std::optional<StepwiseRun> run_;
  MPI_Request agreement_ = MPI_REQUEST_NULL;
  std::uint64_t start_ = 0, block_bytes_ = 0;
};

}  // namespace

int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    std::shared_ptr<SharedLanes> lanes, MPI_Request* request) {
  const std::uint64_t block = arguments.block_bytes(arguments.total_bytes());
  auto operation = std::make_unique<Operation>(arguments, communicator, decision,
                                               communicator.stats().of(decision, block, true));
  if (const int code = operation->make_request(); code != MPI_SUCCESS) return code;
  Operation* const made = operation.release();  // deleted when the MPI has freed the request
  made->start(block, std::move(lanes));
  *request = made->request();
  return MPI_SUCCESS;
}

}  // namespace convene::runtime
