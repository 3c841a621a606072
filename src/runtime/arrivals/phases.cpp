// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/arrivals/phases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "clock/common_clock.hpp"
#include "runtime/arrivals/forecast_exchange.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/call/kept_arguments.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/round_time.hpp"
#include "runtime/progress/generalized_request.hpp"
#include "runtime/progress/staged_operation.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {
namespace {

double seconds_now() { return static_cast<double>(monotonic_ns()) * 1e-9; }

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); }

/// Rank 0's clock minus this rank's. Collective; waits.
std::int64_t measure_offset(Communicator& communicator) {
  CommonClock clock;
  if (clock.find_groups(communicator.comm(), progress::await) != MPI_SUCCESS) return 0;
  const std::uint32_t number = communicator.tags().await_next_collective();
  communicator.tags().await_agreements();
  clock.update(communicator.tags().comm(), Tags(number).of(0), progress::await);
  const Nanoseconds now = own_time();
  return clock.is_known() ? static_cast<std::int64_t>(clock.to_common(now) - now) : 0;
}

bool is_scatter(Collective collective) {
  return collective == Collective::scatter || collective == Collective::scatterv;
}

/// In place the own contribution is part of the program's output, which must not change until the run is
/// over. (If a root scatters in place there is no output.)
Arguments with_input_apart(Arguments arguments) {
  if (!arguments.in_place || is_scatter(arguments.collective)) return arguments;
  arguments.in_place = false;
  arguments.send = arguments.recv;
  if (has_one_vector(arguments.collective)) return arguments;
  const Rank rank = arguments.rank;
  const std::ptrdiff_t at = arguments.recv.blocks.at(rank) * facts_of(arguments.recv.type).extent;
  arguments.send.buffer = static_cast<std::byte*>(arguments.recv.buffer) + at;
  arguments.send.blocks = Blocks(1, arguments.recv.blocks.count(rank));
  return arguments;
}

/// The sizes of all blocks in bytes, from the rank that knows them: the sizes of an operation are constant.
/// Collective on the program's communicator; waits. Empty if every rank knows the sizes that it needs.
std::vector<MPI_Count> agreed_sizes(const Arguments& arguments, const Communicator& communicator) {
  std::vector<MPI_Count> sizes;
  if (!root_alone_knows_sizes(arguments.collective)) return sizes;
  sizes.resize(arguments.procs);
  note_sizes(arguments, sizes.data());
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = static_cast<int>(sizes.size() * sizeof(MPI_Count));
  if (pmpi.Ibcast(sizes.data(), bytes, MPI_BYTE, arguments.root, communicator.comm(), &request) ==
      MPI_SUCCESS)
    progress::await(&request);
  return sizes;
}

class PhasedRuns : public Phases, public GeneralizedRequest {
 public:
  PhasedRuns(const Arguments& arguments, Communicator& communicator, Spec spec, CallStats& record,
             std::uint32_t number, std::uint32_t exchange_number)
      : arguments_(with_input_apart(arguments)),
        spec_(std::move(spec)),
        internal_(communicator.tags().shared()),
        profile_(communicator.stats().profile()),
        record_(record),
        tally_(profile_->find_or_add_phases(arguments.collective, record.algorithm)),
        number_(number),
        sizes_(agreed_sizes(arguments, communicator)),
        block_bytes_(sizes_.empty() ? arguments.block_bytes(arguments.total_bytes()) : mean(sizes_)),
        commutative_(!is_reduction(arguments.collective) || is_commutative(arguments.op)),
        exchange_(arguments.procs, arguments.rank, internal_->channel(), exchange_number) {}

  void set_clock(std::int64_t offset_ns, std::int64_t round_ns) {
    offset_ns_ = offset_ns;
    round_ns_ = round_ns;
  }
  std::uint64_t bytes_of_round() const { return round_bytes(*spec_.algorithm, call(), block_bytes_); }

  bool runs() const override { return true; }
  bool is_bound() const override { return has_told_; }

  void begin() override {
    refuse_while_running();
    refuse_second();
    if (const auto forecast = declared_.begin(seconds_now())) tell(*forecast);
    progress::advance_all();
  }
  void edge(double fraction) override {
    refuse_while_running();
    if (const auto forecast = declared_.edge(fraction, seconds_now())) tell(*forecast);
    progress::advance_all();
  }
  void end() override {
    refuse_while_running();
    const double now = seconds_now();
    declared_.end(now);
    has_ended_ = true;
    if (!has_told_) tell(now);
    has_input_.store(true, std::memory_order_release);
    progress::advance_all();
  }

  int start(MPI_Request* request) override {
    refuse_while_running();
    if (const int code = make_request(); code != MPI_SUCCESS) return code;
    *request = GeneralizedRequest::request();
    if (!has_told_) tell(seconds_now());  // also if no phase was declared
    is_running_ = true;
    start_ = ticks();
    has_input_.store(true, std::memory_order_release);
    is_called_.store(true, std::memory_order_release);
    progress::advance_all();
    return MPI_SUCCESS;
  }

  bool may_progress_in_background() const override { return runs_anywhere(arguments_); }

  bool advance() override {
    if (is_over()) return true;
    int code = MPI_SUCCESS;
    if (!stages_.advance([this](Stage stage) { return poll(stage); }, code)) return false;
    GeneralizedRequest::end(code);
    return true;
  }

  void fail(int code) override {
    internal_->note_failure(code);
    code_ = code;
  }

  void complete() override {
    if (code() != MPI_SUCCESS) internal_->has_failed = true;
    if (is_closed_) return;
    record_.add(start_, ticks(), block_bytes_);
    ++tally_.runs;
    if (run_) tally_.messages += run_->messages(), tally_.early_messages += run_->early_messages();
    note_declarations();
    is_running_ = has_told_ = false;
    has_input_ = is_called_ = false;
    complete_request();
  }

  /// All ranks are in MPI_Finalize: messages for other ranks are sent, and nothing is written into the
  /// program's memory.
  bool close() override {
    if (is_running_) return false;
    is_closed_ = true;
    ProfileRegistry::instance().warn(
        "MPI_Finalize was called with an open phase: its collective did not run");
    has_input_.store(true, std::memory_order_release);
    is_called_.store(true, std::memory_order_release);
    return true;
  }

 private:
  enum class Stage : std::uint8_t { exchange, build, run, unpack };

  static std::uint64_t mean(const std::vector<MPI_Count>& sizes) {
    return static_cast<std::uint64_t>(std::accumulate(sizes.begin(), sizes.end(), MPI_Count{0})) /
           sizes.size();
  }

  void on_request_gone() override {}  // the next start creates another one

  void refuse_while_running() const {
    if (is_running_)
      throw Error(
          "the last run of the operation is not complete; wait for its request before a phase or a start");
  }

  Call call() const {
    return {.collective = arguments_.collective,
            .procs = arguments_.procs,
            .rank = arguments_.rank,
            .root = static_cast<Rank>(arguments_.root),
            .in_place = arguments_.in_place,
            .parameters = spec_.parameters,
            .parts = spec_.parts,
            .commutative = commutative_};
  }

  /// Sends this rank's forecast to the others: once per run.
  void tell(double forecast) {
    GeneralizedRequest::begin();
    code_ = MPI_SUCCESS;
    stages_.restart();
    run_.reset();
    exchange_.begin(to_ns(forecast) + offset_ns_);
    progress::add(this);
    has_told_ = true;  // last: an earlier exception leaves nothing pending
  }

  /// An error skips the stages up to the last one, which waits for the call.
  Polled poll(Stage stage) {
    if (stage == Stage::unpack) return unpack();
    if (code_ != MPI_SUCCESS) return Polled::next();
    const Polled polled = stage == Stage::exchange ? exchange() : stage == Stage::build ? build() : run();
    if (polled.what != Polled::What::over) return polled;
    code_ = polled.code;
    return Polled::next();
  }

  Polled exchange() {
    bool done = false;
    const int code = exchange_.advance(done);
    if (done) progress::note_movement();
    return Polled::when(done, code);
  }

  Polled build() {
    Call call = this->call();
    call.arrivals = arrivals_in_rounds_of(segments(*spec_.algorithm, call), exchange_.all(), round_ns_);
    prepared_ = process_schedules().get(*spec_.algorithm, call);
    arena_.reset();
    call_.emplace(arguments_, *prepared_, internal_->channel(), 0, arena_, true);
    call_->set_persistent(number_, runs_++);
    call_->set_sizes(sizes_);
    call_->lay_out(arena_);
    run_.emplace(call_->binding(), Limits{}, arena_, awaited());
    is_packed_ = false;
    return Polled::next();
  }

  Polled run() {
    if (!is_packed_ && has_input_.load(std::memory_order_acquire)) {
      is_packed_ = true;
      if (!is_closed_)
        if (const int code = call_->pack(); code != MPI_SUCCESS) return Polled::over(code);
      run_->input_arrived();
    }
    bool done = false;
    const int code = advance_run(*run_, done);
    return Polled::when(done, code);
  }

  Polled unpack() {
    if (!is_called_.load(std::memory_order_acquire)) return Polled::waiting();
    if (code_ == MPI_SUCCESS && !is_closed_) code_ = call_->finish();
    return Polled::over(code_);
  }

  /// The vector of a broadcast is in the output, at the root as well.
  Buffer awaited() const {
    return arguments_.collective == Collective::bcast && arguments_.is_root() ? Buffer::output
                                                                              : Buffer::input;
  }

  void note_declarations() {
    tally_.phases += declared_.phases() - counted_.phases();
    tally_.forecasts += declared_.forecasts() - counted_.forecasts();
    tally_.error_seconds += declared_.error() - counted_.error();
    tally_.phase_seconds += declared_.duration() - counted_.duration();
    counted_ = Counted(declared_);
  }

  /// The declarations that are already counted.
  class Counted {
   public:
    Counted() = default;
    explicit Counted(const DeclaredPhase& declared)
        : phases_(declared.phases()),
          forecasts_(declared.forecasts()),
          error_(declared.error()),
          duration_(declared.duration()) {}
    std::uint64_t phases() const { return phases_; }
    std::uint64_t forecasts() const { return forecasts_; }
    double error() const { return error_; }
    double duration() const { return duration_; }

   private:
    std::uint64_t phases_ = 0, forecasts_ = 0;
    double error_ = 0, duration_ = 0;
  };

  const KeptArguments arguments_;
  const Spec spec_;
  const std::shared_ptr<InternalCommunicator> internal_;
  const std::shared_ptr<LiveProfile> profile_;  // keeps the record and its profile alive
  CallStats& record_;
  PhaseStats& tally_;
  const std::uint32_t number_;
  const std::vector<MPI_Count> sizes_;  // in bytes, by block; empty if each rank knows the sizes that it
                                        // needs
  const std::uint64_t block_bytes_;
  const bool commutative_;
  std::uint32_t runs_ = 0;
  std::int64_t offset_ns_ = 0, round_ns_ = 1;

  // The program's thread's.
  bool has_told_ = false;  // from the forecast on, the driver owns the run until its end
  bool is_running_ = false;
  std::uint64_t start_ = 0;
  Counted counted_;

  std::atomic<bool> has_input_ = false, is_called_ = false, is_closed_ = false;

  // The driver's.
  ForecastExchange exchange_;
  StageMachine<Stage> stages_;
  int code_ = MPI_SUCCESS;
  bool is_packed_ = false;
  std::shared_ptr<const Prepared> prepared_;
  Arena arena_;
  std::optional<BoundCall> call_;
  std::optional<StepwiseRun> run_;
};

}  // namespace

void Phases::begin() {
  refuse_second();
  declared_.begin(seconds_now());
}
void Phases::edge(double fraction) { declared_.edge(fraction, seconds_now()); }
void Phases::end() {
  declared_.end(seconds_now());
  has_ended_ = true;
}
void Phases::arrive() {
  if (declared_.is_open()) end();
  has_ended_ = false;
}
void Phases::refuse_second() const {
  if (has_ended_)
    throw Error(
        "convene_phase_begin: the operation was not started after its last phase; call convene_start and "
        "wait for its request");
}

std::unique_ptr<Phases> make_phases(const Arguments& arguments, Communicator& communicator, const Spec& spec,
                                    CallStats& record, double round_seconds) {
  if (!std::isfinite(round_seconds))
    throw Error("convene_phase_init: the duration of a round is not a number");
  if (spec.algorithm->arrival_source != ArrivalSource::forecast || shares_memory(spec) || arguments.procs < 2)
    return std::make_unique<Phases>();
  const std::uint32_t number = communicator.tags().next_persistent(),
                      exchange = communicator.tags().next_persistent();
  if (number == 0 || exchange == 0) {
    ProfileRegistry::instance().declare("an operation runs without forecasts: no MPI tags are left");
    return std::make_unique<Phases>();
  }
  auto runs = std::make_unique<PhasedRuns>(arguments, communicator, spec, record, number, exchange);
  const std::int64_t offset = measure_offset(communicator);
  std::int64_t round = maximum(to_ns(std::clamp(round_seconds, 0., 1e6)),
                               communicator.comm());  // the ranks' values may differ
  if (round == 0) round = measure_round(communicator.info(), communicator.tags(), runs->bytes_of_round());
  runs->set_clock(offset, std::max<std::int64_t>(round, 1));
  return runs;
}

}  // namespace convene::runtime
