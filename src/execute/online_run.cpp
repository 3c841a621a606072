// SPDX-License-Identifier: BSD-3-Clause
#include "execute/online_run.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace convene::execute {
namespace {

/// The run of a rank to which a notice belongs. (In simulations and tests all ranks are in one process.)
struct Addressee {
  std::uintptr_t transport;
  int tag;
  Rank rank;
  std::uint32_t number;

  bool operator==(const Addressee&) const = default;
};

/// Notices that arrived before their run. They are very rare.
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
      new EarlyNotices<std::array<std::uint32_t, 5>>;  // never freed: programs end in any order
  return *notices;
}

}  // namespace

template <MessageTransport T>
OnlineRun<T>::OnlineRun(const Binding& binding, Arena& arena, bool has_begun)
    : binding_(binding),
      transport_(transport_of<T>(binding)),
      arena_(arena),
      tags_(binding.tags()),
      notice_tag_(tags_.of_notices()),
      number_(binding.persistent_number ? binding.run : binding.collective_number),
      memory_(binding),
      algorithm_(binding.online->copy()),
      schedule_(*binding.schedule),
      sent_(binding.schedule->procs(), 0),
      received_(binding.schedule->procs(), 0),
      has_begun_(has_begun) {
  if (has_begun) events_.push_back({});
}

template <MessageTransport T>
void OnlineRun<T>::begin() {
  has_begun_ = true;
  early_messages_ = messages_;
  events_.push_back({});
}

template <MessageTransport T>
int OnlineRun<T>::run() {
  for (bool done = false;;) {
    if (const int code = advance(done); code != MPI_SUCCESS || done) return code;
    if (const int code = wait(); code != MPI_SUCCESS) return fail(code);
  }
}

/// Until no event is left and the algorithm has received `quiet`.
template <MessageTransport T>
int OnlineRun<T>::advance(bool& done) {
  for (;;) {
    int code = memory_.code();
    if (code == MPI_SUCCESS) code = handle_events();
    if (code == MPI_SUCCESS) code = listen();
    if (code == MPI_SUCCESS && !flights_.empty()) code = complete(false);
    if (code != MPI_SUCCESS) return fail(code);
    const bool is_to_listen = algorithm_->is_listening() && !is_listening_;  // the received notice belongs to
                                                                             // a later run
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

template <MessageTransport T>
int OnlineRun<T>::handle_events() {
  OnlineSteps steps;
  while (!events_.empty()) {
    const Event event = events_.front();
    events_.pop_front();
    if (event.kind != Event::Kind::quiet) is_quiet_ = false;
    steps.clear();
    algorithm_->on(event, steps);
    for (const OnlineStep& wanted : steps.list())
      if (const int code = start(wanted); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

template <MessageTransport T>
int OnlineRun<T>::start(const OnlineStep& wanted) {
  if (wanted.is_notice) return post_notice(wanted);
  if (wanted.kind == StepKind::send || wanted.kind == StepKind::recv) return post_data(wanted);
  const StepId step = schedule_.add(wanted);
  if (wanted.kind == StepKind::combine)
    return combine_slots(schedule_.schedule(), step, binding_.buffers, binding_.op);
  copy_slots(schedule_.schedule(), step, binding_.buffers);
  return MPI_SUCCESS;
}

template <MessageTransport T>
int OnlineRun<T>::post_data(const OnlineStep& wanted) {
  const bool is_send = wanted.kind == StepKind::send;
  const std::uint32_t number = (is_send ? sent_ : received_)[wanted.peer]++;
  Flight flight{.what = Flight::What::data, .step = schedule_.add(wanted, number)};
  typename T::Handle handle = transport_.none();
  const int code = post_message<T>(transport_, memory_, schedule_.schedule(), flight.step, binding_.buffers,
                                   tags_.of(number), arena_, &handle, &flight.staging);
  if (code != MPI_SUCCESS) return code;
  if (handle == transport_.none()) {
    queue_event(is_send ? Event::Kind::sent : Event::Kind::received, flight.step);
    return MPI_SUCCESS;
  }
  flights_.push_back(flight);
  handles_.push_back(handle);
  return MPI_SUCCESS;
}

template <MessageTransport T>
int OnlineRun<T>::post_notice(const OnlineStep& wanted) {
  if (free_wires_.empty()) free_wires_.push_back(&wires_.emplace_back());
  Wire* const wire = free_wires_.back();
  free_wires_.pop_back();
  const Notice& notice = wanted.notice;
  *wire = {notice.what, notice.rank, notice.other, schedule_.schedule().rank(), number_};
  flights_.push_back({.what = Flight::What::notice, .wire = wire});
  memory_.add({reinterpret_cast<std::byte*>(wire), sizeof *wire});
  return transport_.post_notice(wire->data(), sizeof *wire, static_cast<int>(wanted.peer), notice_tag_,
                                &handles_.emplace_back(transport_.none()));
}

template <MessageTransport T>
int OnlineRun<T>::listen() {
  if (is_listening_ || !algorithm_->is_listening()) return MPI_SUCCESS;
  if (const auto wire =
          early_notices().take({transport_.identity(), notice_tag_, schedule_.schedule().rank(), number_})) {
    queue_notice(*wire);
    return MPI_SUCCESS;
  }
  is_listening_ = true;
  flights_.push_back({.what = Flight::What::listening});
  memory_.add({reinterpret_cast<std::byte*>(&received_notice_), sizeof received_notice_});
  return transport_.post_notice_receive(received_notice_.data(), sizeof received_notice_, notice_tag_,
                                        &handles_.emplace_back(transport_.none()));
}

template <MessageTransport T>
void OnlineRun<T>::queue_notice(const Wire& wire) {
  events_.push_back({.kind = Event::Kind::noticed,
                     .peer = wire[3],
                     .notice = {.what = wire[0], .rank = wire[1], .other = wire[2]}});
}

template <MessageTransport T>
int OnlineRun<T>::complete(bool waits) {
  int count = 0;
  const auto in_flight = static_cast<int>(flights_.size());
  completed_.resize(flights_.size());
  statuses_.resize(flights_.size());
  T::prepare(statuses_.data(), statuses_.size());
  const int code =
      waits ? transport_.wait_some(handles_.data(), in_flight, &count, completed_.data(), statuses_.data())
            : transport_.test_some(handles_.data(), in_flight, &count, completed_.data(), statuses_.data());
  if (code != MPI_SUCCESS) return code;
  // From the back, so that moving the last entry into a gap never moves an entry that is still to be
  // completed.
  std::sort(completed_.begin(), completed_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) finish(static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]));
  return MPI_SUCCESS;
}

/// A flight is complete: queues the event for the algorithm.
template <MessageTransport T>
void OnlineRun<T>::finish(std::size_t at) {
  const Flight flight = flights_[at];
  flights_[at] = flights_.back();
  handles_[at] = handles_.back();
  flights_.pop_back();
  handles_.pop_back();
  switch (flight.what) {
    case Flight::What::notice:
      free_wires_.push_back(flight.wire);
      return;
    case Flight::What::listening:
      is_listening_ = false;
      if (received_notice_[4] == number_)
        queue_notice(received_notice_);
      else
        early_notices().keep(
            {transport_.identity(), notice_tag_, schedule_.schedule().rank(), received_notice_[4]},
            received_notice_);
      return;
    case Flight::What::data:
      if (flight.staging) unpack(schedule_.schedule(), flight.step, binding_.buffers, flight.staging);
      ++messages_;
      queue_event(schedule_.schedule()[flight.step].kind == StepKind::send ? Event::Kind::sent
                                                                           : Event::Kind::received,
                  flight.step);
      return;
  }
}

template <MessageTransport T>
void OnlineRun<T>::queue_event(Event::Kind kind, StepId step) {
  const Schedule& schedule = schedule_.schedule();
  events_.push_back({.kind = kind, .peer = schedule[step].peer, .slots = schedule.ranges(step)[0]});
}

/// Waits until an operation is complete. Warns if that takes long.
template <MessageTransport T>
int OnlineRun<T>::wait() {
  if (!wait_warning.is_on()) return complete(true);
  const std::size_t before = flights_.size();
  PolledWait wait;
  for (;;) {
    if (const int code = complete(false); code != MPI_SUCCESS || flights_.size() < before) return code;
    if (wait.has_become_long()) warn(false);
  }
}

template <MessageTransport T>
void OnlineRun<T>::warn_if_stalled() {
  if (wait_warning.is_on() && has_begun_ && stall_detector_.has_become_long(messages_)) warn(true);
}

template <MessageTransport T>
void OnlineRun<T>::warn(bool is_started) const {
  std::vector<int> peers;
  for (const Flight& flight : flights_)
    if (flight.what == Flight::What::data)
      peers.push_back(static_cast<int>(schedule_.schedule()[flight.step].peer));
  wait_warning.report(binding_.comm(), peers.data(), peers.size(), is_started);
}

template <MessageTransport T>
int OnlineRun<T>::fail(int code) {
  transport_.abandon(handles_.data(), handles_.size());
  flights_.clear();
  handles_.clear();
  return code;
}

template class OnlineRun<const PointToPoint>;
template class OnlineRun<Transport>;

}  // namespace convene::execute
