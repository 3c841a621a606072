// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: where ranks share cores, a rank that waits in shared memory sleeps until another rank rings.
//
// Design notes
// - Why not yield: sched_yield() gives way within the scheduling group of the caller only. Launchers that
//   make each rank a session leader (Hydra) give each rank a group of its own where autogroups are on, and so
//   do containers: then it gives way to no other rank, and a wait lasts until the scheduler's tick. A futex in
//   shared memory works between sessions, containers and namespaces of processes: the kernel finds it by the
//   page of the mapped file.
// - Each rank has a bell, written by all: a word that is `awake`, or what its rank sleeps for (what an event
//   must be in order to end the sleep). So a rank is woken by what it waits for and nothing else, and a rank
//   that signals makes a system call only for a rank that sleeps for that signal.
// - The sleeper writes its word, then looks for the event once more, then sleeps if the word is unchanged
//   (the kernel compares it). The other rank writes the event, then reads the word. Between write and read
//   both have a sequentially consistent fence: so at least one of them sees what the other has written, and no
//   wakeup is lost. Whoever rings sets the word to `awake`: one ring for each sleep.
// - Every sleep has a timeout: the caller progresses its transport then, since a legal program may need that,
//   and since a rank may have died.
// - Where the kernel refuses futexes (seccomp), sleep() yields instead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace convene::transport {

class Doorbells {
 public:
  struct alignas(64) Bell {
    std::atomic<std::uint32_t> word;   // `awake`, or an event
    std::atomic<std::uint32_t> fence;  // for the thread sanitizer
  };
  /// A signal from a rank (even), or the end of a run on a rank (odd). Two events with one value only
  /// cause needless wakeups.
  using Event = std::uint32_t;
  static constexpr Event any_signal = 2;
  static constexpr Event signal_from(std::size_t rank) { return static_cast<Event>(2 * rank + 4); }
  static constexpr Event end_of(std::size_t rank, std::uint64_t run) {
    constexpr unsigned rank_bits = 11;
    return static_cast<Event>(run << (rank_bits + 1) | rank % (1u << rank_bits) << 1 | 1);
  }

  /// Bells of all ranks, all zero at first, in memory that they share.
  Doorbells(Bell* bells, std::size_t own) : bells_(bells), own_(own) {}

  /// Wakes a rank if it sleeps for this signal, or for any. Call it after writing the signal.
  void ring(std::size_t rank, Event signal) const {
    Bell& bell = bells_[rank];
    order(bell);
    const Event wanted = bell.word.load(std::memory_order_relaxed);
    if (wanted == signal || wanted == any_signal) wake(bell, wanted);
  }
  /// Wakes the ranks that sleep for the end of this rank's run. Call it after writing that.
  void ring_all(std::size_t ranks, Event end) const {
    order_all(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (bells_[rank].word.load(std::memory_order_relaxed) == end) wake(bells_[rank], end);
  }

  enum class Outcome : std::uint8_t { holds, rung, timed_out, refused };
  /// Sleeps until an event rings, unless `holds()` already, or until the timeout, in nanoseconds. It may end
  /// early, with any outcome but `holds`.
  template <class Holds>
  Outcome sleep(Event event, std::uint64_t timeout_ns, Holds&& holds) {
    Bell& bell = bells_[own_];
    bell.word.store(event, std::memory_order_relaxed);
    order(bell);
    const Outcome outcome = holds() ? Outcome::holds : wait(bell, event, timeout_ns);
    bell.word.store(awake, std::memory_order_relaxed);
    return outcome;
  }

 private:
  static constexpr Event awake = 0;
  static_assert(sizeof(Bell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

  static void order([[maybe_unused]] Bell& bell) {
#ifdef __SANITIZE_THREAD__  // which knows no fences: a common word that both change orders them as well
    bell.fence.fetch_add(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  void order_all([[maybe_unused]] std::size_t ranks) const {
#ifdef __SANITIZE_THREAD__
    for (std::size_t rank = 0; rank < ranks; ++rank) order(bells_[rank]);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  static void wake(Bell& bell, Event wanted);
  static Outcome wait(Bell& bell, Event event, std::uint64_t timeout_ns);

  Bell* bells_;
  std::size_t own_;
};

}  // namespace convene::transport
