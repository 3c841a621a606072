// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/run/persistent_operation.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/call/kept_arguments.hpp"
#include "runtime/progress/generalized_request.hpp"
#include "runtime/progress/staged_operation.hpp"

namespace convene::runtime {

/// An operation that can be started repeatedly.
class Persistent {
 public:
  virtual ~Persistent() = default;
  /// Starts a run; a new request completes at its end.
  virtual int start(MPI_Request* request) = 0;
  virtual std::unique_ptr<Phases> make_phases(double) { return std::make_unique<Phases>(); }
  virtual MPI_Comm comm() const = 0;

  std::unique_ptr<Phases> phases;            ///< phases before its runs; null: none are declared
  std::unique_ptr<recorder::Starts> starts;  ///< null: starts are not recorded
};

namespace {

/// A native operation, by its non-blocking call. The program may free its datatypes and its operator
/// meanwhile.
class NativePersistent : public Persistent {
 public:
  NativePersistent(std::function<int(const Form&)> native, const Arguments* arguments)
      : native_(std::move(native)) {
    if (arguments) kept_.emplace(*arguments);
  }
  int start(MPI_Request* request) override { return native_({.request = request}); }
  MPI_Comm comm() const override { return kept_ ? kept_->comm : MPI_COMM_NULL; }

 private:
  const std::function<int(const Form&)> native_;
  std::optional<KeptArguments> kept_;
};

/// The communicator of this process alone for the completion of runs, and its tags in use.
class SelfRequest {
 public:
  static SelfRequest& instance() {
    static SelfRequest* only = new SelfRequest;  // never freed: programs finalize in odd orders
    return *only;
  }

  /// Creates a persistent request that complete_self(tag) completes. Returns MPI_SUCCESS or the MPI's error.
  int arm(MPI_Request* request, int& tag) {
    const std::lock_guard lock(mutex_);
    if (comm_ == MPI_COMM_NULL) {
      // A duplicate would call the copy callbacks of the program's attributes.
      MPI_Group group = MPI_GROUP_NULL;
      pmpi.Comm_group(MPI_COMM_SELF, &group);
      const int code = pmpi.Comm_create(MPI_COMM_SELF, group, &comm_);
      pmpi.Group_free(&group);
      if (code != MPI_SUCCESS) return code;
    }
    if (free_.empty()) {
      free_.reserve(static_cast<std::size_t>(next_) + 1);  // take_down() may not fail
      free_.push_back(next_++);
    }
    tag = free_.back();
    free_.pop_back();
    return pmpi.Recv_init(nullptr, 0, MPI_BYTE, 0, tag, comm_, request);
  }

  void take_down(int tag) {
    const std::lock_guard lock(mutex_);
    free_.push_back(tag);
  }

  /// The receive has been started: the send completes at once.
  void complete_self(int tag) const { pmpi.Send(nullptr, 0, MPI_BYTE, 0, tag, comm_); }

 private:
  std::mutex mutex_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int next_ = 0;
  std::vector<int> free_;
};

class PersistentOperation : public Persistent, public GeneralizedRequest {
 public:
  PersistentOperation(const Arguments& arguments, Communicator& communicator, const Decision& decision,
                      CallStats& record, std::shared_ptr<SharedMemory> memory, std::uint32_t number,
                      std::uint64_t block_bytes)
      : arguments_(arguments),
        prepared_(decision.prepared),
        internal_(communicator.tags().shared()),
        profile_(communicator.stats().profile()),
        record_(record),
        memory_(std::move(memory)),
        shared_places_(decision.shared_places),
        spec_(decision.spec),
        block_bytes_(block_bytes),
        number_(number),
        call_(arguments_, *prepared_, internal_->channel(), 0, staging_) {}
  ~PersistentOperation() override {
    if (self_tag_ >= 0) SelfRequest::instance().take_down(self_tag_);
  }

  /// The part of its creation that may fail.
  int prepare() {
    if (call_.must_agree())  // for all runs: the counts are constant
      if (const int code = agree(call_, internal_->tag_window); code != MPI_SUCCESS) return code;
    return call_.prepare(staging_);
  }

  /// From now on this is an MPI request.
  int arm(MPI_Request* request) { return SelfRequest::instance().arm(request, self_tag_); }

  MPI_Comm comm() const override { return arguments_.comm; }

  std::unique_ptr<Phases> make_phases(double round_seconds) override {
    Communicator* communicator = Communicator::of(arguments_.comm);
    if (!communicator) return Persistent::make_phases(round_seconds);
    return convene::runtime::make_phases(arguments_, *communicator, spec_, record_, round_seconds);
  }

  int start(MPI_Request* request) override {
    if (const int failed = internal_->failure; failed != MPI_SUCCESS) return failed;
    if (const int code = make_request(); code != MPI_SUCCESS) return code;
    *request = GeneralizedRequest::request();
    return go_guarded();
  }
  int start_hung(MPI_Request* request) {
    if (const int failed = internal_->failure; failed != MPI_SUCCESS) return failed;
    const int code = pmpi.Start(request);
    return code == MPI_SUCCESS ? go_guarded() : code;
  }

  bool may_progress_in_background() const override { return runs_anywhere(arguments_); }

  bool advance() override {
    if (is_over()) return true;
    int code = first_code_;
    bool done = false;
    if (code == MPI_SUCCESS) code = advance_run(*run_, done);
    if (code == MPI_SUCCESS && !done) return false;
    if (code == MPI_SUCCESS) code = call_.finish();
    if (memory_) run_.reset();  // ends its run in the shared memory
    end(code);
    return true;
  }

  void fail(int code) override {
    internal_->note_failure(code);
    if (memory_) run_.reset();
    end(code);
  }

  void complete() override {
    record_.add(start_, ticks(), block_bytes_);
    if (code() != MPI_SUCCESS) {
      internal_->has_failed = true;
      if (self_tag_ >= 0) report_late(arguments_.comm, code());
    }
    signal_end();
  }

 private:
  void on_request_gone() override {}  // the next start creates another one

  /// After an exception the request is complete: a program may wait for it.
  int go_guarded() {
    try {
      return go();
    } catch (...) {
      const int code = report_exception_in_call(arguments_.comm);
      internal_->note_failure(code);  // later starts are refused: ranks may differ in the number of runs
      end(code);
      signal_end();
      return code;
    }
  }

  void signal_end() {
    if (self_tag_ >= 0)
      SelfRequest::instance().complete_self(self_tag_);
    else
      complete_request();
  }

  int go() {
    start_ = ticks();
    begin();
    run_.reset();
    arena_.reset();
    first_code_ = call_.pack();
    call_.set_persistent(number_, runs_++);
    if (memory_) call_.share(*memory_, shared_places_, arena_);
    run_.emplace(call_.binding(), Limits{}, arena_);
    progress::add(this);
    progress::advance_all();
    return MPI_SUCCESS;
  }

  const KeptArguments arguments_;
  const std::shared_ptr<const Prepared> prepared_;
  const std::shared_ptr<InternalCommunicator> internal_;
  const std::shared_ptr<LiveProfile> profile_;  // keeps the record alive
  CallStats& record_;
  const std::shared_ptr<SharedMemory> memory_;  // of its runs; null: they share none
  const std::uint64_t shared_places_;
  const Spec spec_;
  const std::uint64_t block_bytes_;
  const std::uint32_t number_;
  std::uint32_t runs_ = 0;
  Arena staging_, arena_;
  BoundCall call_;
  std::optional<StepwiseRun> run_;
  int first_code_ = MPI_SUCCESS;
  int self_tag_ = -1;
  std::uint64_t start_ = 0;
};

/// The MPI requests, with the operations that they represent.
struct Requests {
  struct Found {
    std::unique_ptr<PersistentOperation> operation;  // null: native
    std::unique_ptr<recorder::Starts> starts;        // null: starts are not recorded
  };
  std::mutex mutex;
  std::map<MPI_Request, Found> operations;
  std::atomic<std::size_t> size{0};

  static Requests& instance() {
    static Requests* requests = new Requests;  // never freed: programs finalize in any order
    return *requests;
  }
};

/// Persistent collectives were added in MPI 4.
bool mpi_has_persistent() {
  static const bool has_them = mpi_symbol("PMPI_Barrier_init") != nullptr;
  return has_them;
}

}  // namespace

int leave_to_mpi(NativeCall native, const Form& form, const Arguments* arguments) {
  if (!form.operation) return native(form);
  *form.operation = new NativePersistent(native.kept(), arguments);
  return MPI_SUCCESS;
}

int make_persistent(const Arguments& arguments, Communicator& communicator, NativeCall native,
                    const Form& form) {
  if (!arguments.are_sound()) return leave_to_mpi(native, form);
  if (!progress::can_progress()) return leave_to_mpi(native, form, &arguments);
  const std::uint64_t total = arguments.total_bytes();
  CallSignature signature = signature_of(arguments, total);
  signature.has_native = form.operation || mpi_has_persistent();
  signature.is_blocking = false;
  std::shared_ptr<Decision> decided = communicator.decide(signature);
  std::shared_ptr<SharedMemory> memory;
  if (decided->prepared && decided->shared_places > 0) {
    memory = communicator.shared_memory().for_operation(
        shared_bytes(arguments, *decided->prepared, decided->shared_places));
    signature.may_share = memory != nullptr;
    if (!memory) decided = communicator.decide(signature);
  }
  Decision& decision = *decided;
  const std::uint64_t block = arguments.block_bytes(total);
  const std::uint32_t number = decision.prepared ? communicator.tags().next_persistent() : 0;
  if (number == 0) {  // native, by choice or because no tags are left
    if (!decision.prepared) communicator.stats().of(decision, block, true);
    return leave_to_mpi(native, form, &arguments);
  }
  CallStats& record = communicator.stats().of(decision, block, true);
  communicator.note_operations();
  auto operation = std::make_unique<PersistentOperation>(arguments, communicator, decision, record,
                                                         std::move(memory), number, block);
  int code = operation->prepare();
  if (code == MPI_SUCCESS && !form.operation) code = operation->arm(form.request);
  if (code != MPI_SUCCESS) {
    pmpi.Comm_call_errhandler(arguments.comm, code);
    return code;
  }
  if (form.operation) {
    *form.operation = operation.release();
    return MPI_SUCCESS;
  }
  Requests& requests = Requests::instance();
  const std::lock_guard lock(requests.mutex);
  requests.operations[*form.request].operation = std::move(operation);
  requests.size = requests.operations.size();
  return MPI_SUCCESS;
}

Phases* phases_of(Persistent& operation) { return operation.phases.get(); }

void init_phases(Persistent& operation, double round_seconds) {
  if (operation.phases) throw Error("convene_phase_init: the operation already has phases");
  operation.phases = operation.make_phases(round_seconds);
}

int report_exception_in(const Persistent& operation) {
  const MPI_Comm comm = operation.comm();
  return comm == MPI_COMM_NULL ? report_exception(comm) : report_exception_in_call(comm);
}

int start_persistent(Persistent& operation, MPI_Request* request) {
  const auto start = [&] {
    Phases* phases = operation.phases.get();
    if (phases) phases->arrive();
    return phases && phases->runs() ? phases->start(request) : operation.start(request);
  };
  return operation.starts ? operation.starts->record(start) : start();
}

void record_starts(const Form& form, std::unique_ptr<recorder::Starts> starts) {
  if (form.operation) {
    (*form.operation)->starts = std::move(starts);
    return;
  }
  Requests& requests = Requests::instance();
  const std::lock_guard lock(requests.mutex);
  requests.operations[*form.request].starts = std::move(starts);
  requests.size = requests.operations.size();
}

void free_persistent(Persistent* operation) {
  if (operation->phases && operation->phases->is_bound())
    throw Error("convene_free: the operation has an open phase, or is running; complete it first");
  delete operation;
}

bool has_persistent_requests() { return Requests::instance().size.load(std::memory_order_acquire) != 0; }

int start_persistent_request(MPI_Request* request, int (*native)(MPI_Request*)) {
  Requests& requests = Requests::instance();
  const Requests::Found* found = nullptr;
  {
    const std::lock_guard lock(requests.mutex);
    if (const auto at = requests.operations.find(*request); at != requests.operations.end())
      found = &at->second;
  }
  if (!found) return native(request);
  const auto start = [&] {
    return found->operation ? found->operation->start_hung(request) : native(request);
  };
  return found->starts ? found->starts->record(start) : start();
}

void forget_persistent_request(MPI_Request request) {
  Requests& requests = Requests::instance();
  Requests::Found gone;  // deleted after the lock is released
  const std::lock_guard lock(requests.mutex);
  const auto found = requests.operations.find(request);
  if (found == requests.operations.end()) return;
  gone = std::move(found->second);
  requests.operations.erase(found);
  requests.size = requests.operations.size();
}

}  // namespace convene::runtime
