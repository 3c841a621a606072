// SPDX-License-Identifier: BSD-3-Clause
// Most of the player's time goes into waiting for memory, so it asks for that ahead of the events that will need it. For
// player.cpp only.
#pragma once

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "simulate/engine/processors.hpp"
#include "simulate/engine/simulator_state.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/kernel/event_queue.hpp"
#include "simulate/kernel/pool.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate::engine {

/// A look at what the player has; made anew for each use, which costs nothing where all of it is inlined.
template <class Sharers>
class LookAhead {
 public:
  /// How many events the queue must know in their order.
  static constexpr std::size_t events = 13;

  LookAhead(const Source& source, const Network& network, const EventQueue& queue, const Sharers& contention,
            const Processors& processors, const Pool<Task>& tasks, const LargeVector<StepState>& state,
            const LargeVector<RankState>& ranks, Path& path)
      : source_(source),
        network_(network),
        queue_(queue),
        contention_(contention),
        processors_(processors),
        tasks_(tasks),
        state_(state),
        ranks_(ranks),
        path_(path) {}

  /// What the next events need, in three stages, each of which finds what the next one asks for: what events are about,
  /// what that leads to, and what that does.
  [[gnu::always_inline]] void at_events() const {
    fetch_first(queue_.ahead(events - 1));
    fetch_second(queue_.ahead(7));
    fetch_third(queue_.ahead(3));
  }

  /// A rank's steps follow each other, but all ranks' steps lie between them: what it needs next.
  [[gnu::always_inline]] void along(const Move& move, std::uint64_t step) const {
    fetch_soon(&move + 5);
    fetch_soon(state_.data() + step + 12);
  }

 private:
  [[gnu::always_inline]] void fetch_first(const Event* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == computed)
      processors_.fetch(number);
    else if (kind == carried)
      contention_.fetch_event(number);
    else if (kind != arrive && kind != called)
      fetch_soon(tasks_.data() + number);
  }

  [[gnu::always_inline]] void fetch_second(const Event* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == landed) {
      fetch_receive(tasks_[number].to, tasks_[number].recv);
    } else if (kind == computed) {
      const Core& core = processors_[number];
      fetch_soon(&source_.move(core.rank, core.step));
      fetch_soon(&ranks_[core.rank]);
      fetch_soon(state_.data() + source_.first(core.rank) + core.step + 1);
    } else if (kind == carried) {
      contention_.fetch_further(number, [this](FlowId flow) { fetch_soon(tasks_.data() + flow); });
    }
  }

  [[gnu::always_inline]] void fetch_third(const Event* event) const {
    if (!event) return;
    const std::uint32_t number = event->what & ~kind_bits, kind = event->what & kind_bits;
    if (kind == carried) {
      contention_.fetch_last(number,
                             [this](FlowId flow) { fetch_receive(tasks_[flow].to, tasks_[flow].recv); });
    } else if (kind == computed) {
      const Core& core = processors_[number];
      const Move& move = source_.move(core.rank, core.step);
      source_.fetch_successors(move);
      if (move.kind != StepKind::send) return;
      const Rank peer = source_.peer(core.rank, move);
      network_.find(core.rank, peer, path_);
      for (unsigned hop = 0; hop < path_.count; ++hop) contention_.fetch_channel(path_.channels[hop]);
      fetch_receive(peer, move.partner);
    }
  }

  [[gnu::always_inline]] void fetch_receive(Rank rank, StepId step) const {
    fetch_soon(state_.data() + source_.first(rank) + step);
    fetch_soon(&source_.move(rank, step));
    processors_.fetch(processors_.of(rank));
  }

  const Source& source_;
  const Network& network_;
  const EventQueue& queue_;
  const Sharers& contention_;
  const Processors& processors_;
  const Pool<Task>& tasks_;
  const LargeVector<StepState>& state_;
  const LargeVector<RankState>& ranks_;
  Path& path_;  // room for one
};

}  // namespace convene::simulate::engine
