// SPDX-License-Identifier: BSD-3-Clause
// Allgathers that begin before they are called, in programs that declare nothing: what ranks that have come
// send travels on while others still compute.
//
// Design notes
// - Right after a call the next one like it begins on every rank, with the forecast that all have agreed on:
//   its receives are there, and what comes is passed on in the background. Only steps that need the own
//   contribution wait.
// - Blocks come into staging of Convene's own, never into the program's buffers, and are copied there in the
//   call. They are bytes, so types, counts and buffers may be others in every call.
// - Nothing is sent before somebody calls, and who calls does so on all ranks. So a call that never comes has
//   left nothing over: its receives are cancelled, by every rank on its own. Messages have the tags of a
//   persistent operation, whose runs follow each other.
// - Who does what: the program's thread (start, run, cancel) hands over by atomics and by the list of
//   progress.hpp; whoever drives advance() owns the run until it is complete.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "execute/executor.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/progress/progress_engine.hpp"

namespace convene::runtime {

class EarlyStart final : public Progressing {
 public:
  /// Blocks of so many bytes, of all ranks of a communicator that has one of Convene's own; `number`: of a
  /// persistent operation.
  EarlyStart(Communicator& communicator, std::uint32_t number, std::uint64_t block_bytes);
  EarlyStart(const EarlyStart&) = delete;
  EarlyStart& operator=(const EarlyStart&) = delete;

  /// Begins the next call, by the same schedules on all ranks. It waits for nobody.
  void start(std::shared_ptr<const Prepared> prepared);
  bool is_started() const { return is_started_; }

  /// The call has come: contributes, waits for the end and delivers. Returns MPI_SUCCESS or the first error
  /// of the MPI.
  int run(const Arguments& call);
  /// The call does not come; no rank has called. Local.
  void cancel();

  /// Deletes it, or has it deleted when what is started has been cancelled: a communicator may be freed
  /// inside any call of the MPI's, also in the midst of somebody's driving.
  struct LetGo {
    void operator()(EarlyStart* ahead) const;
  };

  /// Of the last run: how many messages it had, and how many of them before the call.
  std::uint64_t messages() const { return run_ ? run_->messages() : 0; }
  std::uint64_t early_messages() const { return run_ ? run_->early_messages() : 0; }

  bool advance() override;
  void fail(int code) override;
  void complete() override;
  bool close() override;

 private:
  int pack(const Arguments& call);
  int unpack(const Arguments& call) const;

  const std::shared_ptr<InternalCommunicator> internal_;
  const std::uint64_t block_bytes_;
  std::unique_ptr<std::byte[]> mine_, all_;
  std::shared_ptr<const Prepared> prepared_;
  Binding binding_;
  Arena arena_;
  bool is_started_ = false;

  std::atomic<bool> has_input_ = false, is_cancelled_ = false, is_listed_ = false, is_orphaned_ = false;

  // The driver's.
  std::optional<StepwiseRun> run_;
  bool has_come_ = false, is_over_ = false;
  int code_ = MPI_SUCCESS;
};

using AheadPointer = std::unique_ptr<EarlyStart, EarlyStart::LetGo>;

}  // namespace convene::runtime
