// SPDX-License-Identifier: BSD-3-Clause
// Transport interface: all operations that the executor needs to send messages.
//
// The executor is a template over a transport. `PointToPoint` (MPI messages) is a concrete class whose calls
// are inlined. Every other transport implements the abstract class `Transport`; its calls are virtual. Both
// model the concept `MessageTransport`. A new transport is one class here and the place that creates it.
//
// Contract
// - Messages are matched by (source, tag), in the order in which they were sent. Tags are those of
//   transport/tags.hpp. Within collective_range successive collectives, at most one pending message between
//   two ranks has a given tag. After that the tags repeat.
// - A handle represents a pending operation. Completion sets it to none(). Handles of one run are contiguous.
// - A send buffer must not be changed, and a receive buffer not be read, until the handle is complete.
// - Return values are 0 (MPI_SUCCESS) or an MPI error code. After an error the caller abandons all its
//   handles.
// - One thread at a time drives a transport of one rank.
// - A transport progresses in every call, and progresses the MPI as well: a legal program may need that.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arena.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::transport {

/// A run of bytes.
struct Piece {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

/// Capabilities and requirements of a transport.
struct Capabilities {
  bool shared_memory = false;       ///< ranks of a node may signal through SharedMemory in addition to its
                                    ///< messages
  bool notification = false;        ///< a notice is a put with notification, not a message
  bool needs_registration = false;  ///< the memory of messages must be registered
  std::size_t pack_below = 0;       ///< scattered slots of fewer bytes are packed; others are sent as pieces
};

/// How long registered memory stays registered, unless it is deregistered earlier.
enum class Lifetime : std::uint8_t {
  run,        ///< one run of a schedule
  operation,  ///< a persistent operation, from its init to its free
  process     ///< until the transport is closed
};

/// Names registered memory; 0 names none.
using Registration = std::uint64_t;

/// One half of an exchange: a contiguous message to or from a rank.
template <class Address>
struct Half {
  Address at;
  std::size_t bytes;  ///< at most INT_MAX
  int peer, tag;
};
using Outgoing = Half<const void*>;
using Incoming = Half<void*>;

/// Abstract transport. Each object belongs to one rank of one communicator.
class Transport {
 public:
  using Handle = std::uint64_t;
  using Status = int;  ///< error of one completed handle

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual Capabilities capabilities() const = 0;

  /// Prepares communication with the peers of a schedule; for one without steps, with all ranks. May be
  /// repeated. Local: a connection that needs both sides is completed by the first message.
  virtual int connect(const Schedule& schedule) = 0;

  /// Registers memory that messages are sent from or received into. Memory may be registered more than once.
  virtual int register_memory(const Piece& memory, Lifetime lifetime, Registration* made) = 0;
  virtual int deregister_memory(Registration registration) = 0;

  static constexpr Handle none() { return 0; }

  /// Post a contiguous message of at most INT_MAX bytes.
  virtual int post_send(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) = 0;
  virtual int post_receive(void* at, std::size_t bytes, int peer, int tag, Handle* handle) = 0;
  /// Post one message of several pieces of any length. The pieces are only used during the call. `arena`: for
  /// the call's own needs.
  virtual int post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                               Handle* handle) = 0;
  virtual int post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                                  Handle* handle) = 0;
  /// Post a notice: a few bytes, to be received from any rank. Notices of one rank to another keep their
  /// order.
  virtual int post_notice(const void* at, std::size_t bytes, int peer, int tag, Handle* handle) = 0;
  virtual int post_notice_receive(void* at, std::size_t bytes, int tag, Handle* handle) = 0;

  /// Blocking forms, for messages that overlap with no other operation.
  virtual int send(const Outgoing& message) = 0;
  virtual int receive(const Incoming& message) = 0;
  /// Sends and receives at the same time; neither waits for the other.
  virtual int exchange(const Outgoing& out, const Incoming& in) = 0;

  virtual int test(Handle* handle, bool* is_complete) = 0;
  virtual int wait(Handle* handle) = 0;
  /// Wait for, or test, `count` contiguous handles. `completed` receives the indices of those that completed,
  /// `*found` how many: at least one after wait_some(), provided that a handle is not none(). `statuses` has
  /// room for `count`.
  virtual int wait_some(Handle* handles, int count, int* found, int* completed, Status* statuses) = 0;
  virtual int test_some(Handle* handles, int count, int* found, int* completed, Status* statuses) = 0;
  virtual int wait_all(Handle* handles, std::size_t count) = 0;

  /// Progresses this transport and the MPI without waiting.
  virtual int progress() = 0;

  /// Cancels a posted operation in which no peer takes part, and completes its handle.
  virtual int cancel(Handle* handle) = 0;
  /// After an error: from here on, no operation of these handles touches its memory.
  virtual void abandon(Handle* handles, std::size_t count) = 0;
  /// Ends the transport. Completes operations that peers may still need; deregisters all memory.
  virtual int close() = 0;

  static void prepare(Status*, std::size_t) {}
  /// Distinguishes this rank's transport from every other one of the process.
  std::uintptr_t identity() const { return reinterpret_cast<std::uintptr_t>(this); }
};

/// The operations that the executor uses.
template <class T>
concept MessageTransport = requires(T& transport, const Schedule& schedule, typename T::Handle* handles,
                                    typename T::Status* statuses, std::span<const Piece> pieces, Arena& arena,
                                    void* at, std::size_t n, int peer, int tag, int count, int* found,
                                    bool* is_complete, const Outgoing& out, const Incoming& in,
                                    Registration* made) {
  { transport.capabilities() } -> std::same_as<Capabilities>;
  { transport.none() } -> std::same_as<typename T::Handle>;
  { transport.identity() } -> std::same_as<std::uintptr_t>;
  { transport.connect(schedule) } -> std::same_as<int>;
  { transport.register_memory(pieces[0], Lifetime::run, made) } -> std::same_as<int>;
  { transport.deregister_memory(*made) } -> std::same_as<int>;
  { transport.post_send(at, n, peer, tag, handles) } -> std::same_as<int>;
  { transport.post_receive(at, n, peer, tag, handles) } -> std::same_as<int>;
  { transport.post_send_pieces(pieces, peer, tag, arena, handles) } -> std::same_as<int>;
  { transport.post_receive_pieces(pieces, peer, tag, arena, handles) } -> std::same_as<int>;
  { transport.post_notice(at, n, peer, tag, handles) } -> std::same_as<int>;
  { transport.post_notice_receive(at, n, tag, handles) } -> std::same_as<int>;
  { transport.send(out) } -> std::same_as<int>;
  { transport.receive(in) } -> std::same_as<int>;
  { transport.exchange(out, in) } -> std::same_as<int>;
  { transport.test(handles, is_complete) } -> std::same_as<int>;
  { transport.wait(handles) } -> std::same_as<int>;
  { transport.wait_some(handles, count, found, found, statuses) } -> std::same_as<int>;
  { transport.test_some(handles, count, found, found, statuses) } -> std::same_as<int>;
  { transport.wait_all(handles, n) } -> std::same_as<int>;
  { transport.progress() } -> std::same_as<int>;
  { transport.cancel(handles) } -> std::same_as<int>;
  { transport.abandon(handles, n) } -> std::same_as<void>;
  { transport.close() } -> std::same_as<int>;
  { transport.prepare(statuses, n) } -> std::same_as<void>;
};

static_assert(MessageTransport<Transport>);

}  // namespace convene::transport
