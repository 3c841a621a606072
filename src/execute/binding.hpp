// SPDX-License-Identifier: BSD-3-Clause
// A schedule bound to a transport and to memory, ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/combine.hpp"
#include "execute/message.hpp"
#include "schedule/core/schedule.hpp"
#include "schedule/online/online_algorithm.hpp"
#include "transport/point_to_point.hpp"
#include "transport/shared_memory.hpp"
#include "transport/tags.hpp"

namespace convene::execute {

/// Where messages travel: Convene's internal communicator, and a transport other than its messages, if any.
struct Channel {
  MPI_Comm comm;
  Transport* transport;

  Channel(MPI_Comm internal, Transport* over = nullptr) : comm(internal), transport(over) {}
};

struct Binding {
  const Schedule* schedule = nullptr;
  const OnlineAlgorithm* online = nullptr;  ///< if set, it decides the steps at run time; the schedule has no
                                            ///< steps
  Buffers buffers;
  SharedMemory* shared_memory = nullptr;  ///< for shared places and signals; its run has started
  std::size_t shared_bytes = 0;           ///< of all shared places
  bool signals_carry = false;             ///< signals carry the data of the place that they pass on
  Operator op = {};                       ///< for combines; unused by schedules without them
  PointToPoint point_to_point;            ///< the transport, over Convene's internal communicator,
  Transport* transport = nullptr;         ///< unless this one is set
  std::uint32_t collective_number = 0;    ///< on this communicator, equal on all ranks
  std::uint32_t persistent_number = 0;    ///< of a persistent operation, from 1, equal on all ranks
  std::uint32_t run = 0;                  ///< of a persistent operation: counts its runs

  void travel_on(const Channel& channel) {
    point_to_point = PointToPoint(channel.comm);
    transport = channel.transport;
  }

  /// Starts the next run on the shared memory.
  void begin_shared() {
    buffers.shared.rebase(signals_carry ? shared_memory->begin_carrying()
                                        : shared_memory->begin(shared_bytes));
  }
  /// Gives the signal of a step.
  void signal(StepId id) const {
    const Step& step = (*schedule)[id];
    if (signals_carry) return shared_memory->signal_with(step.peer, carried(id));
    shared_memory->signal(step.peer, step.match);
  }
  /// True if the signal that a step awaits was given. The data that it carries is in its place then.
  bool is_signalled(StepId id) const {
    const Step& step = (*schedule)[id];
    return signals_carry ? shared_memory->take(step.peer, carried(id))
                         : shared_memory->is_signalled(step.peer, step.match);
  }

  /// The internal communicator.
  MPI_Comm comm() const { return point_to_point.comm(); }
  Tags tags() const { return Tags(collective_number, persistent_number); }
  std::byte* at(Buffer buffer, std::ptrdiff_t offset) const { return buffers[buffer].base() + offset; }

 private:
  std::byte* carried(StepId id) const { return buffers.shared.place(schedule->ranges(id).front().first).at; }
};

/// True if no earlier run holds the memory that a schedule shares. A run waits for that.
inline bool has_memory(const Binding& binding) {
  return !binding.shared_memory || binding.shared_memory->is_free();
}

/// The transport of a binding, by its type.
template <MessageTransport T>
T& transport_of(const Binding& binding) {
  if constexpr (std::is_same_v<T, const PointToPoint>)
    return binding.point_to_point;
  else
    return *binding.transport;
}

/// Calls run.operator()<T>() with the type of a binding's transport.
template <class Run>
[[gnu::always_inline]] inline decltype(auto) with_transport(const Binding& binding, Run&& run) {
  if (!binding.transport) [[likely]]
    return run.template operator()<const PointToPoint>();
  return run.template operator()<Transport>();
}

}  // namespace convene::execute
