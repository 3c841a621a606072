// SPDX-License-Identifier: BSD-3-Clause
// Early start of allgathers, in programs without declarations: the blocks of ranks that have arrived are
// forwarded while others still compute.
//
// Design notes
// - Directly after a call, the next call of the same kind is started on every rank, with the forecast that
//   all have agreed on: its receives are posted, and received blocks are forwarded in the background. Only
//   steps that need the own contribution wait.
// - Blocks are received into Convene's staging, never into the program's buffers, and are copied there in the
//   call. They are bytes, so types, counts and buffers may differ in every call.
// - No rank sends before a rank has called, and a call is made by all ranks. So a call that is never made
//   leaves nothing behind: its receives are cancelled, by every rank on its own. Messages have the tags of a
//   persistent operation, whose runs follow each other.
// - Ownership: the program's thread (start, run, cancel) hands over by atomics and by the list of
//   progress.hpp; the thread that drives advance() owns the run until it is complete.
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
  /// Blocks of the given size, of all ranks of a communicator with an internal communicator; `number`: that
  /// of a persistent operation.
  EarlyStart(Communicator& communicator, std::uint32_t number, std::uint64_t block_bytes);
  EarlyStart(const EarlyStart&) = delete;
  EarlyStart& operator=(const EarlyStart&) = delete;

  /// Starts the next call, with the same schedules on all ranks. Does not wait.
  void start(std::shared_ptr<const Prepared> prepared);
  bool is_started() const { return is_started_; }

  /// The call is made: contributes, waits for the end and unpacks. Returns MPI_SUCCESS or the first error of
  /// the MPI.
  int run(const Arguments& call);
  /// The call is not made, on no rank. Local.
  void cancel();

  /// Deletes it, or defers that until the started run has been cancelled: a communicator may be freed inside
  /// any MPI call, also while a thread is driving.
  struct LetGo {
    void operator()(EarlyStart* ahead) const;
  };

  /// Number of messages of the last run, and of those before the call.
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

  // owned by the driver
  std::optional<StepwiseRun> run_;
  bool has_arrived_ = false, is_over_ = false;
  int code_ = MPI_SUCCESS;
};

using AheadPointer = std::unique_ptr<EarlyStart, EarlyStart::LetGo>;

}  // namespace convene::runtime
