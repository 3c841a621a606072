// SPDX-License-Identifier: BSD-3-Clause
#include "transport/in_process.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace convene::transport {
namespace {

constexpr int any_rank = -1;

Piece piece(const void* at, std::size_t bytes) {
  return {static_cast<std::byte*>(const_cast<void*>(at)), bytes};
}

}  // namespace

/// One rank's side of a network.
class InProcess final : public Transport {
 public:
  InProcess(InProcessNetwork& network, int rank) : network_(network), rank_(rank) {}

  Capabilities capabilities() const override {
    return {.shared_memory = true,
            .notification = false,
            .needs_registration = true,
            .pack_below = network_.options_.pack_below};
  }

  int connect(const Schedule& schedule) override {
    const std::lock_guard lock(network_.mutex_);
    if (schedule.size() == 0)
      for (int peer = 0; peer < static_cast<int>(network_.ranks_.size()); ++peer) peers_.insert(peer);
    for (const Step& step : schedule.steps())
      if (step.is_in_flight()) peers_.insert(static_cast<int>(step.peer));
    return 0;
  }

  int register_memory(const Piece& memory, Lifetime lifetime, Registration* made) override {
    const std::lock_guard lock(network_.mutex_);
    *made = ++last_registration_;
    registrations_.emplace(*made, Registered{memory, lifetime});
    return 0;
  }
  int deregister_memory(Registration registration) override {
    const std::lock_guard lock(network_.mutex_);
    return registrations_.erase(registration) == 1 ? 0 : InProcessNetwork::not_registered;
  }

  int post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) override {
    const Piece all = piece(at, bytes);
    return post(false, {&all, 1}, peer, tag, handle);
  }
  int post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) override {
    const Piece all = piece(at, bytes);
    return post(true, {&all, 1}, peer, tag, handle);
  }
  int post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) override {
    return post(false, pieces, peer, tag, handle);
  }
  int post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena&, Handle* handle) override {
    return post(true, pieces, peer, tag, handle);
  }
  int post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) override {
    return post_send(at, bytes, peer, tag, handle);
  }
  int post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) override {
    return post_receive(at, bytes, any_rank, tag, handle);
  }

  int send(const Outgoing& message) override {
    Handle handle = none();
    const int code = post_send(message.at, message.bytes, message.peer, message.tag, &handle);
    return code == 0 ? complete(&handle) : code;
  }
  int receive(const Incoming& message) override {
    Handle handle = none();
    const int code = post_receive(message.at, message.bytes, message.peer, message.tag, &handle);
    return code == 0 ? complete(&handle) : code;
  }
  int exchange(const Outgoing& out, const Incoming& in) override {
    Handle handle = none();
    const int code = post_send(out.at, out.bytes, out.peer, out.tag, &handle);
    if (code != 0) return code;
    const int received = receive(in);
    const int sent = complete(&handle);
    return received == 0 ? sent : received;
  }

  int test(Handle* handle, bool* is_complete) override {
    const std::lock_guard lock(network_.mutex_);
    deliver();
    *is_complete = *handle == none() || is_done(*handle);
    return *is_complete ? finish(handle) : has_failed();
  }
  int wait(Handle* handle) override {
    const std::unique_lock lock(network_.mutex_);
    if (fails()) return InProcessNetwork::failure;
    return wait_locked(handle);
  }

  int wait_some(Handle* handles, int count, int* found, int* completed, Status*) override {
    {
      const std::lock_guard lock(network_.mutex_);
      if (fails()) return InProcessNetwork::failure;
    }
    for (std::uint64_t looks = 0; looks < network_.options_.patience; ++looks) {
      const int code = some(handles, count, found, completed, true);
      if (code != 0 || *found > 0) return code;
      std::this_thread::yield();
    }
    return InProcessNetwork::stalled;
  }
  int test_some(Handle* handles, int count, int* found, int* completed, Status*) override {
    return some(handles, count, found, completed, false);
  }
  int wait_all(Handle* handles, std::size_t count) override {
    int code = 0;
    for (std::size_t i = 0; i < count && code == 0; ++i)
      if (handles[i] != none()) code = wait(&handles[i]);
    return code;
  }

  int progress() override {
    const std::lock_guard lock(network_.mutex_);
    deliver();
    std::this_thread::yield();
    return has_failed();
  }

  int cancel(Handle* handle) override {
    const std::lock_guard lock(network_.mutex_);
    operations_.erase(*handle);
    *handle = none();
    return 0;
  }
  void abandon(Handle* handles, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i)
      if (handles[i] != none()) cancel(&handles[i]);
  }
  int close() override {
    const std::lock_guard lock(network_.mutex_);
    registrations_.clear();
    return operations_.empty() ? 0 : InProcessNetwork::failure;
  }

 private:
  friend class InProcessNetwork;
  using Envelope = InProcessNetwork::Envelope;
  using Operation = InProcessNetwork::Operation;
  struct Registered {
    Piece memory;
    Lifetime lifetime;
  };

  // All functions below require the lock, unless stated otherwise.

  int has_failed() const { return network_.has_failed_ ? InProcessNetwork::failure : 0; }

  /// Counts a call; returns true if it is the one that must fail.
  bool fails() {
    if (++calls_ != network_.options_.failing_call || rank_ != network_.options_.failing_rank) return false;
    return network_.has_failed_ = true;
  }

  bool is_registered(const Piece& memory) const {
    return memory.bytes == 0 || std::any_of(registrations_.begin(), registrations_.end(), [&](auto& each) {
             const Piece& known = each.second.memory;
             return known.at <= memory.at && memory.at + memory.bytes <= known.at + known.bytes;
           });
  }

  /// Takes the lock.
  int post(bool is_receive, std::span<const Piece> pieces, int peer, int tag, Handle* handle) {
    const std::lock_guard lock(network_.mutex_);
    if (fails()) return InProcessNetwork::failure;
    if (peer != any_rank && !peers_.contains(peer)) return InProcessNetwork::failure;
    for (const Piece& each : pieces)
      if (!is_registered(each)) return InProcessNetwork::not_registered;
    Operation made;
    made.is_receive = is_receive;
    made.source = peer;
    made.tag = tag;
    if (is_receive)
      made.to.assign(pieces.begin(), pieces.end());
    else
      put(pieces, peer, tag, made);
    *handle = ++last_handle_;
    operations_.emplace(*handle, std::move(made));
    return 0;
  }

  void put(std::span<const Piece> pieces, int peer, int tag, Operation& operation) {
    Envelope envelope{rank_, tag, {}, network_.arrival_of_next(), std::make_shared<bool>(false)};
    for (const Piece& each : pieces) envelope.data.insert(envelope.data.end(), each.at, each.at + each.bytes);
    operation.is_complete = envelope.is_received;
    if (envelope.data.size() <= network_.options_.eager_bytes)
      operation.is_complete = std::make_shared<bool>(true);
    network_.ranks_[static_cast<std::size_t>(peer)]->mailbox_.push_back(std::move(envelope));
    ++network_.sends_;
    if (pieces.size() > 1) ++network_.sends_in_pieces_;
  }

  /// First message that a receive matches; end if that message is still in flight.
  std::deque<Envelope>::iterator match(const Operation& receive) {
    const auto end = mailbox_.end();
    std::set<int> late;  // senders whose first message of this tag has not arrived
    for (auto at = mailbox_.begin(); at != end; ++at) {
      if (at->tag != receive.tag || (receive.source != any_rank && at->source != receive.source)) continue;
      if (at->arrives <= network_.looks_ && !late.contains(at->source)) return at;
      if (receive.source != any_rank) return end;
      late.insert(at->source);
    }
    return end;
  }

  /// Delivers arrived messages to the receives that match them, in the order of posting.
  void deliver() {
    network_.look();
    for (auto& [handle, operation] : operations_) {
      if (!operation.is_receive || *operation.is_complete) continue;
      const auto envelope = match(operation);
      if (envelope == mailbox_.end()) continue;
      std::size_t done = 0;
      for (const Piece& each : operation.to) {
        const std::size_t now = std::min(each.bytes, envelope->data.size() - done);
        if (now > 0) std::memcpy(each.at, envelope->data.data() + done, now);
        done += now;
      }
      if (done < envelope->data.size()) operation.code = InProcessNetwork::truncated;
      *operation.is_complete = *envelope->is_received = true;
      mailbox_.erase(envelope);
    }
  }

  bool is_done(Handle handle) const { return *operations_.at(handle).is_complete; }

  int finish(Handle* handle) {
    if (*handle == none()) return 0;
    const int code = operations_.at(*handle).code;
    operations_.erase(*handle);
    *handle = none();
    return code;
  }

  /// Releases the lock between polls.
  int wait_locked(Handle* handle) {
    if (*handle == none()) return 0;
    for (std::uint64_t looks = 0; looks < network_.options_.patience; ++looks) {
      deliver();
      if (is_done(*handle)) return finish(handle);
      if (network_.has_failed_) return InProcessNetwork::failure;
      network_.mutex_.unlock();
      std::this_thread::yield();
      network_.mutex_.lock();
    }
    return InProcessNetwork::stalled;
  }

  /// Waits within a blocking call: its handle is freed whatever the result. Takes the lock.
  int complete(Handle* handle) {
    int code;
    {
      const std::unique_lock lock(network_.mutex_);
      code = wait_locked(handle);
    }
    if (code != 0) abandon(handle, 1);
    return code;
  }

  /// Reports some of the complete handles, in random order: with `must`, at least one of them. Takes the
  /// lock.
  int some(Handle* handles, int count, int* found, int* completed, bool must) {
    const std::lock_guard lock(network_.mutex_);
    deliver();
    std::vector<int> done;
    for (int i = 0; i < count; ++i)
      if (handles[i] != none() && is_done(handles[i])) done.push_back(i);
    *found = 0;
    if (done.empty()) return has_failed();
    std::shuffle(done.begin(), done.end(), network_.random_);
    const std::size_t least = must ? 1 : 0;
    done.resize(least + network_.random_() % (done.size() + 1 - least));
    for (const int i : done) {
      if (const int code = finish(&handles[i]); code != 0) return code;
      completed[(*found)++] = i;
    }
    return 0;
  }

  InProcessNetwork& network_;
  const int rank_;
  std::set<int> peers_;
  std::map<Registration, Registered> registrations_;
  Registration last_registration_ = 0;
  std::deque<Envelope> mailbox_;
  std::map<Handle, Operation> operations_;  // in the order of posting
  Handle last_handle_ = 0;
  int calls_ = 0;
};

InProcessNetwork::InProcessNetwork(int procs, const Options& options)
    : options_(options), random_(options.seed) {
  for (int rank = 0; rank < procs; ++rank) ranks_.push_back(std::make_unique<InProcess>(*this, rank));
}

InProcessNetwork::~InProcessNetwork() = default;

Transport& InProcessNetwork::of(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

std::size_t InProcessNetwork::left_over() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->mailbox_.size() + rank->operations_.size();
  return sum;
}

std::size_t InProcessNetwork::registered() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& rank : ranks_)
    for (const auto& [number, each] : rank->registrations_) sum += each.lifetime != Lifetime::process;
  return sum;
}

std::uint64_t InProcessNetwork::arrival_of_next() {
  return looks_ + (options_.most_delay == 0 ? 0 : random_() % (options_.most_delay + 1));
}

}  // namespace convene::transport
