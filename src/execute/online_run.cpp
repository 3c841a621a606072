// SPDX-License-Identifier: BSD-3-Clause
#include "execute/online_run.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "execute/stall_detector.hpp"

namespace convene::execute {
namespace {

/// For which run of which rank a notice is. (Of a simulation all ranks are in one process.)
struct Addressee {
  MPI_Comm comm;
  int tag;
  Rank rank;
  std::uint32_t number;

  bool operator==(const Addressee&) const = default;
};

/// Notices that came before the run that they are for. There are hardly ever any.
template <class Wire>
class EarlyNotices {
 public:
  void keep(const Addressee& addressee, const Wire& wire) {
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(addressee, wire);
    size_.store(kept_.size(), std::memory_order_release);
  }

  std::optional<Wire> take(const Addressee& addressee) {
    if (size_.load(std::memory_order_acquire) == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const auto& each) { return each.first == addressee; });
    if (found == kept_.end()) return std::nullopt;
    const Wire wire = found->second;
    kept_.erase(found);
    size_.store(kept_.size(), std::memory_order_release);
    return wire;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Addressee, Wire>> kept_;
  std::atomic<std::size_t> size_ = 0;
};

auto& early_notices() {
  static auto* notices =
      new EarlyNotices<std::array<std::uint32_t, 5>>;  // never freed: programs end in odd orders
  return *notices;
}

}  // namespace

OnlineRun::OnlineRun(const Binding& binding, Arena& arena, bool has_begun)
    : binding_(binding),
      arena_(arena),
      tags_(binding.tags()),
      notice_tag_(tags_.of_notices()),
      number_(binding.persistent_number ? binding.run : binding.collective_number),
      algorithm_(binding.online->copy()),
      schedule_(*binding.schedule),
      sent_(binding.schedule->procs(), 0),
      received_(binding.schedule->procs(), 0),
      has_begun_(has_begun) {
  if (has_begun) events_.push_back({});
}

void OnlineRun::begin() {
  has_begun_ = true;
  early_messages_ = messages_;
  events_.push_back({});
}

int OnlineRun::run() {
  for (bool done = false;;) {
    if (const int code = advance(done); code != MPI_SUCCESS || done) return code;
    if (const int code = wait(); code != MPI_SUCCESS) return fail(code);
  }
}

/// Until nothing more has come, and the online algorithm has been told so.
int OnlineRun::advance(bool& done) {
  for (;;) {
    int code = handle_events();
    if (code == MPI_SUCCESS) code = listen();
    if (code == MPI_SUCCESS && !flights_.empty()) code = complete(pmpi.Testsome);
    if (code != MPI_SUCCESS) return fail(code);
    const bool is_to_listen = algorithm_->is_listening() && !is_listening_;  // what was heard is for later
    if (!events_.empty() || is_to_listen) continue;
    if (!is_quiet_) {
      is_quiet_ = true;
      events_.push_back({.kind = Event::Kind::quiet});
      continue;
    }
    done = has_begun_ && flights_.empty();
    return MPI_SUCCESS;
  }
}

int OnlineRun::handle_events() {
  OnlineSteps steps;
  while (!events_.empty()) {
    const Event event = events_.front();
    events_.pop_front();
    if (event.kind != Event::Kind::quiet) is_quiet_ = false;
    steps.clear();
    algorithm_->on(event, steps);
    for (const OnlineStep& wanted : steps.list())
      if (const int code = carry_out(wanted); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int OnlineRun::carry_out(const OnlineStep& wanted) {
  if (wanted.is_notice) return tell(wanted);
  if (wanted.kind == StepKind::send || wanted.kind == StepKind::recv) return start_data(wanted);
  const StepId step = schedule_.add(wanted);
  if (wanted.kind == StepKind::combine)
    return combine_slots(schedule_.schedule(), step, binding_.buffers, binding_.op);
  copy_slots(schedule_.schedule(), step, binding_.buffers);
  return MPI_SUCCESS;
}

int OnlineRun::start_data(const OnlineStep& wanted) {
  const bool is_send = wanted.kind == StepKind::send;
  const std::uint32_t number = (is_send ? sent_ : received_)[wanted.peer]++;
  Flight flight{.what = Flight::What::data, .step = schedule_.add(wanted, number)};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start_message(schedule_.schedule(), flight.step, binding_.buffers, binding_.comm,
                                 tags_.of(number), arena_, &request, &flight.staging);
  if (code != MPI_SUCCESS) return code;
  if (request == MPI_REQUEST_NULL) {
    note(is_send ? Event::Kind::sent : Event::Kind::received, flight.step);
    return MPI_SUCCESS;
  }
  flights_.push_back(flight);
  requests_.push_back(request);
  return MPI_SUCCESS;
}

int OnlineRun::tell(const OnlineStep& wanted) {
  if (free_wires_.empty()) free_wires_.push_back(&wires_.emplace_back());
  Wire* const wire = free_wires_.back();
  free_wires_.pop_back();
  const Notice& notice = wanted.notice;
  *wire = {notice.what, notice.rank, notice.other, schedule_.schedule().rank(), number_};
  flights_.push_back({.what = Flight::What::notice, .wire = wire});
  return pmpi.Isend(wire->data(), sizeof *wire, MPI_BYTE, static_cast<int>(wanted.peer), notice_tag_,
                    binding_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
}

int OnlineRun::listen() {
  if (is_listening_ || !algorithm_->is_listening()) return MPI_SUCCESS;
  if (const auto wire =
          early_notices().take({binding_.comm, notice_tag_, schedule_.schedule().rank(), number_})) {
    hear(*wire);
    return MPI_SUCCESS;
  }
  is_listening_ = true;
  flights_.push_back({.what = Flight::What::listening});
  return pmpi.Irecv(heard_.data(), sizeof heard_, MPI_BYTE, MPI_ANY_SOURCE, notice_tag_, binding_.comm,
                    &requests_.emplace_back(MPI_REQUEST_NULL));
}

void OnlineRun::hear(const Wire& wire) {
  events_.push_back({.kind = Event::Kind::noticed,
                     .peer = wire[3],
                     .notice = {.what = wire[0], .rank = wire[1], .other = wire[2]}});
}

int OnlineRun::complete(decltype(pmpi.Waitsome) wait_or_test) {
  int count = 0;
  completed_.resize(flights_.size());
  MPI_Status none{};
  none.MPI_ERROR = MPI_SUCCESS;
  statuses_.resize(flights_.size(), none);
  const int code = wait_or_test(static_cast<int>(flights_.size()), requests_.data(), &count,
                                completed_.data(), statuses_.data());
  if (code != MPI_SUCCESS) return error_in(statuses_.data(), static_cast<int>(flights_.size()), code);
  // From the back, so that moving the last entry into a gap never moves one that is still to be looked at.
  std::sort(completed_.begin(), completed_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) land(static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]));
  return MPI_SUCCESS;
}

/// A flight is over: the online algorithm is to know.
void OnlineRun::land(std::size_t at) {
  const Flight flight = flights_[at];
  flights_[at] = flights_.back();
  requests_[at] = requests_.back();
  flights_.pop_back();
  requests_.pop_back();
  switch (flight.what) {
    case Flight::What::notice:
      free_wires_.push_back(flight.wire);
      return;
    case Flight::What::listening:
      is_listening_ = false;
      if (heard_[4] == number_)
        hear(heard_);
      else
        early_notices().keep({binding_.comm, notice_tag_, schedule_.schedule().rank(), heard_[4]}, heard_);
      return;
    case Flight::What::data:
      if (flight.staging) unpack(schedule_.schedule(), flight.step, binding_.buffers, flight.staging);
      ++messages_;
      note(schedule_.schedule()[flight.step].kind == StepKind::send ? Event::Kind::sent
                                                                    : Event::Kind::received,
           flight.step);
      return;
  }
}

void OnlineRun::note(Event::Kind kind, StepId step) {
  const Schedule& schedule = schedule_.schedule();
  events_.push_back({.kind = kind, .peer = schedule[step].peer, .slots = schedule.ranges(step)[0]});
}

/// Until something has come; says for whom, where that takes long.
int OnlineRun::wait() {
  if (!wait_warning.is_on()) return complete(pmpi.Waitsome);
  const std::size_t before = flights_.size();
  PolledWait wait;
  for (;;) {
    if (const int code = complete(pmpi.Testsome); code != MPI_SUCCESS || flights_.size() < before)
      return code;
    if (wait.has_become_long()) say_who_is_missing(false);
  }
}

void OnlineRun::tell_if_it_stands() {
  if (wait_warning.is_on() && has_begun_ && stall_detector_.has_become_long(messages_))
    say_who_is_missing(true);
}

void OnlineRun::say_who_is_missing(bool is_started) const {
  std::vector<int> peers;
  for (const Flight& flight : flights_)
    if (flight.what == Flight::What::data)
      peers.push_back(static_cast<int>(schedule_.schedule()[flight.step].peer));
  wait_warning.say(binding_.comm, peers.data(), peers.size(), is_started);
}

int OnlineRun::fail(int code) {
  abandon(requests_.data(), requests_.size());
  flights_.clear();
  requests_.clear();
  return code;
}

}  // namespace convene::execute
