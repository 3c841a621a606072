// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/operation.hpp"

#include "base/clock.hpp"

namespace convene {
namespace {

class Operation : public Progressing {
 public:
  Operation(const Arguments& arguments, Communicator& communicator, const Decision& decision, Record& record)
      : arguments_(arguments),
        prepared_(decision.prepared),
        own_(communicator.shared_own()),
        account_(communicator.account()),
        record_(record),
        number_(communicator.next_collective()) {
    held_.emplace(arguments);
  }

  MPI_Request* request() { return &request_; }

  /// One stage after the other, as far as it goes without waiting.
  bool advance() override {
    while (stage_ != Stage::over) {
      const Stage before = stage_;
      const int code = go_on();
      if (code != MPI_SUCCESS) {
        code_ = code;
        stage_ = Stage::over;
      } else if (stage_ == before) {
        return false;
      }
    }
    return true;
  }

  void complete() override {
    record_.add(ticks() - start_, block_bytes_);
    if (code_ != MPI_SUCCESS) own_->has_failed = true;
    held_.reset();
    mpi.Grequest_complete(request_);
  }

  int code() const { return code_; }
  void begin(std::uint64_t block_bytes) {
    start_ = ticks();
    block_bytes_ = block_bytes;
  }

  static int on_query(void* extra, MPI_Status* status) {
    mpi.Status_set_elements(status, MPI_BYTE, 0);
    mpi.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return static_cast<Operation*>(extra)->code();
  }
  static int on_free(void* extra) {
    delete static_cast<Operation*>(extra);
    return MPI_SUCCESS;
  }
  /// A collective cannot be cancelled.
  static int on_cancel(void*, int) { return MPI_SUCCESS; }
  static int on_poll(void*, MPI_Status*) {
    progress::poke();
    return MPI_SUCCESS;
  }
  static int on_wait(int count, void** operations, double, MPI_Status*) {
    progress::poke_until([&] {
      for (int i = 0; i < count; ++i)
        if (static_cast<Operation*>(operations[i])->stage_ != Stage::over) return false;
      return true;
    });
    return MPI_SUCCESS;
  }

 private:
  enum class Stage : std::uint8_t { own, sizes, prepare, run, over };

  int go_on() {
    switch (stage_) {
      case Stage::own:
        return find_own();
      case Stage::sizes:
        return receive_sizes();
      case Stage::prepare:
        return prepare();
      case Stage::run:
        return run();
      case Stage::over:
        break;
    }
    return MPI_SUCCESS;
  }

  /// The own communicator may still be in the making.
  int find_own() {
    bool ready = false;
    if (const int code = own_->test(ready); code != MPI_SUCCESS || !ready) return code;
    call_.emplace(arguments_, *prepared_, own_->comm, number_, arena_);
    stage_ = call_->needs_sizes() ? Stage::sizes : Stage::prepare;
    if (!call_->needs_sizes()) return MPI_SUCCESS;
    return mpi.Ibcast(call_->sizes(), static_cast<int>(arguments_.procs * sizeof(MPI_Count)), MPI_BYTE,
                      arguments_.root, own_->comm, &sizes_);
  }

  int receive_sizes() {
    int done = 0;
    const int code = mpi.Test(&sizes_, &done, MPI_STATUS_IGNORE);
    if (done) stage_ = Stage::prepare;
    return code;
  }

  int prepare() {
    const int code = call_->prepare(arena_);
    run_ = std::make_unique<StepwiseRun>(call_->binding(), Limits{}, arena_);
    stage_ = Stage::run;
    return code;
  }

  int run() {
    bool done = false;
    const int code = run_->advance(done);
    if (code != MPI_SUCCESS || !done) return code;
    stage_ = Stage::over;
    return call_->finish();
  }

  /// What the program may free before this is complete.
  struct Held {
    explicit Held(const Arguments& call) : send(call.send.type), recv(call.recv.type), op(call.op) {}
    HeldType send, recv;
    HeldOperator op;
  };

  const Arguments arguments_;
  std::optional<Held> held_;
  const std::shared_ptr<const Prepared> prepared_;
  const std::shared_ptr<OwnCommunicator> own_;
  const std::shared_ptr<LiveAccount> account_;  // holds the record
  Record& record_;
  const std::uint32_t number_;
  Stage stage_ = Stage::own;
  int code_ = MPI_SUCCESS;
  Arena arena_;
  std::optional<BoundCall> call_;
  std::unique_ptr<StepwiseRun> run_;
  MPI_Request request_ = MPI_REQUEST_NULL, sizes_ = MPI_REQUEST_NULL;
  std::uint64_t start_ = 0, block_bytes_ = 0;
};

/// A generalised request for an operation. Where the MPI has extended ones, its waiting calls bring the operation
/// further by themselves.
int make_request(Operation* operation) {
#ifndef OPEN_MPI
  using Query = int (*)(void*, MPI_Status*);
  using Wait = int (*)(int, void**, double, MPI_Status*);
  using Start = int (*)(Query, int (*)(void*), int (*)(void*, int), Query, Wait, void*, MPI_Request*);
  static const auto extended = reinterpret_cast<Start>(mpi_symbol("PMPIX_Grequest_start"));
  if (extended)
    return extended(Operation::on_query, Operation::on_free, Operation::on_cancel, Operation::on_poll,
                    Operation::on_wait, operation, operation->request());
#endif
  return mpi.Grequest_start(Operation::on_query, Operation::on_free, Operation::on_cancel, operation,
                            operation->request());
}

}  // namespace

int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    MPI_Request* request) {
  if (const int code = communicator.begin_own(); code != MPI_SUCCESS) return code;
  const std::uint64_t block = arguments.block_bytes(arguments.total_bytes());
  auto* operation = new Operation(arguments, communicator, decision, communicator.record_of(decision, block));
  if (const int code = make_request(operation); code != MPI_SUCCESS) {
    delete operation;
    return code;
  }
  *request = *operation->request();
  operation->begin(block);
  progress::add(operation);
  progress::poke();
  return MPI_SUCCESS;
}

}  // namespace convene
