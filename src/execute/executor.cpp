// SPDX-License-Identifier: BSD-3-Clause
#include "execute/executor.hpp"

#include <new>

#include "execute/dynamic_run.hpp"
#include "execute/online_run.hpp"

namespace convene::execute {
namespace {

template <MessageTransport T>
int run_dynamic_over(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle) {
  if (binding.online) return OnlineRun<T>(binding, arena, true).run();
  const SharedRun shared(binding);
  const int code = await_memory<T>(binding);
  return code == MPI_SUCCESS ? DynamicRun<T>(binding, limits, arena, shuffle).run() : code;
}

}  // namespace

int run_dynamic(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle) {
  return with_transport(binding,
                        [&]<class T>() { return run_dynamic_over<T>(binding, limits, arena, shuffle); });
}

/// A run of any kind, over any transport.
class StepwiseRun::Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  virtual void release() = 0;
  virtual int advance(bool& done) = 0;
  virtual void cancel() = 0;
  virtual std::uint64_t messages() const = 0;
  virtual std::uint64_t early_messages() const = 0;
};

template <class T>
class StepwiseRun::ScheduleRun final : public Run {
 public:
  ScheduleRun(const Binding& binding, const Limits& limits, Arena& arena, std::optional<Buffer> held_back)
      : binding_(binding), shared_(binding), run_(binding, limits, arena, 0) {
    if (held_back) run_.hold_back(*held_back);
    begin();
  }

  void release() override { run_.release(); }
  int advance(bool& done) override {
    begin();
    if (has_started_) return run_.advance(done);
    done = false;
    return transport_of<T>(binding_).progress();
  }
  void cancel() override { run_.cancel(); }
  std::uint64_t messages() const override { return run_.messages_done(); }
  std::uint64_t early_messages() const override { return run_.early_messages(); }

 private:
  /// Starts once the shared memory of the run is free.
  void begin() {
    if (has_started_ || !has_memory(binding_)) return;
    run_.start();
    has_started_ = true;
  }

  const Binding& binding_;
  const SharedRun shared_;
  DynamicRun<T> run_;
  bool has_started_ = false;
};

template <class T>
class StepwiseRun::AlgorithmRun final : public Run {
 public:
  AlgorithmRun(const Binding& binding, Arena& arena, bool has_begun) : run_(binding, arena, has_begun) {}

  void release() override { run_.begin(); }
  int advance(bool& done) override {
    const int code = run_.advance(done);
    if (code == MPI_SUCCESS && !done) run_.warn_if_stalled();
    return code;
  }
  /// An online algorithm has sent notices: it cannot be cancelled.
  void cancel() override {}
  std::uint64_t messages() const override { return run_.messages(); }
  std::uint64_t early_messages() const override { return run_.early_messages(); }

 private:
  OnlineRun<T> run_;
};

StepwiseRun::StepwiseRun(const Binding& binding, const Limits& limits, Arena& arena,
                         std::optional<Buffer> held_back) {
  with_transport(binding, [&]<class T>() {
    if (binding.online)
      run_.reset(new (arena.take(sizeof(AlgorithmRun<T>))) AlgorithmRun<T>(binding, arena, !held_back));
    else
      run_.reset(new (arena.take(sizeof(ScheduleRun<T>))) ScheduleRun<T>(binding, limits, arena, held_back));
  });
}

void StepwiseRun::Destroy::operator()(Run* run) const { run->~Run(); }

StepwiseRun::~StepwiseRun() = default;

void StepwiseRun::input_arrived() { run_->release(); }
int StepwiseRun::advance(bool& done) { return run_->advance(done); }
void StepwiseRun::cancel() { run_->cancel(); }
std::uint64_t StepwiseRun::messages() const { return run_->messages(); }
std::uint64_t StepwiseRun::early_messages() const { return run_->early_messages(); }

}  // namespace convene::execute
