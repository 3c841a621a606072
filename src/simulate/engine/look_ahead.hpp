// SPDX-License-Identifier: BSD-3-Clause
// Software prefetch for the simulator, whose time is mostly memory latency: loads the data of the next
// events. Internal to the engine.
#pragma once

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "simulate/engine/processors.hpp"
#include "simulate/engine/simulator_state.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/kernel/pool.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate::engine {

/// References to the simulator's state; constructed for each use, which costs nothing once it is inlined.
template <class ContentionModel>
class LookAhead {
 public:
  /// The number of next events that the queue must have sorted.
  static constexpr std::size_t events = 13;

  LookAhead(const Workload& workload, const SimulatedNetwork& network, const GridEventQueue& queue,
            const ContentionModel& contention, const Processors& processors, const Pool<SimMessage>& messages,
            const LargeVector<StepState>& state, const LargeVector<RankState>& ranks, Path& path)
      : workload_(workload),
        network_(network),
        queue_(queue),
        contention_(contention),
        processors_(processors),
        messages_(messages),
        state_(state),
        ranks_(ranks),
        path_(path) {}

  /// Prefetches the data of the next events in three stages: the subjects of the events, the data that these
  /// refer to, and the data behind that. Each stage reads what the previous one has prefetched.
  [[gnu::always_inline]] void at_events() const {
    fetch_first(queue_.ahead(events - 1));
    fetch_second(queue_.ahead(7));
    fetch_third(queue_.ahead(3));
  }

  /// Prefetches a rank's next steps, which the steps of all other ranks separate in time.
  [[gnu::always_inline]] void along(const SimStep& sim_step, std::uint64_t step) const {
    prefetch_line(&sim_step + 5);
    prefetch_line(state_.data() + step + 12);
  }

 private:
  [[gnu::always_inline]] void fetch_first(const TimedEvent* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == work_done)
      processors_.prefetch(number);
    else if (kind == channels_done)
      contention_.prefetch_event(number);
    else if (kind != rank_starts && kind != input_available)
      prefetch_line(messages_.data() + number);
  }

  [[gnu::always_inline]] void fetch_second(const TimedEvent* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == delivered) {
      fetch_receive(messages_[number].to, messages_[number].recv);
    } else if (kind == work_done) {
      const Core& core = processors_[number];
      prefetch_line(&workload_.sim_step(core.rank, core.step));
      prefetch_line(&ranks_[core.rank]);
      prefetch_line(state_.data() + workload_.first(core.rank) + core.step + 1);
    } else if (kind == channels_done) {
      contention_.prefetch_further(number, [this](FlowId flow) { prefetch_line(messages_.data() + flow); });
    }
  }

  [[gnu::always_inline]] void fetch_third(const TimedEvent* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == channels_done) {
      contention_.prefetch_last(
          number, [this](FlowId flow) { fetch_receive(messages_[flow].to, messages_[flow].recv); });
    } else if (kind == work_done) {
      const Core& core = processors_[number];
      const SimStep& sim_step = workload_.sim_step(core.rank, core.step);
      workload_.prefetch_successors(sim_step);
      if (sim_step.kind != StepKind::send) return;
      const Rank peer = workload_.peer(core.rank, sim_step);
      network_.find(core.rank, peer, path_);
      for (unsigned hop = 0; hop < path_.count; ++hop) contention_.prefetch_channel(path_.channels[hop]);
      fetch_receive(peer, sim_step.partner);
    }
  }

  [[gnu::always_inline]] void fetch_receive(Rank rank, StepId step) const {
    prefetch_line(state_.data() + workload_.first(rank) + step);
    prefetch_line(&workload_.sim_step(rank, step));
    processors_.prefetch(processors_.of(rank));
  }

  const Workload& workload_;
  const SimulatedNetwork& network_;
  const GridEventQueue& queue_;
  const ContentionModel& contention_;
  const Processors& processors_;
  const Pool<SimMessage>& messages_;
  const LargeVector<StepState>& state_;
  const LargeVector<RankState>& ranks_;
  Path& path_;  // scratch
};

}  // namespace convene::simulate::engine
