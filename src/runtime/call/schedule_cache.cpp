// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/schedule_cache.hpp"

#include "base/error.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {
namespace {

std::shared_ptr<const Prepared> prepare(const Algorithm& algorithm, const Call& call, Builder& builder) {
  if (settings().refuses_schedules) throw Error("CONVENE_CHECK=no_schedules lets every generator fail");
  auto prepared = std::make_shared<Prepared>();
  Runnable runnable = build_runnable(algorithm, call, builder);
  prepared->schedule = std::move(runnable.schedule);
  prepared->online = std::move(runnable.online);
  prepared->segments = segments(algorithm, call);
  if (algorithm.block_in_place)
    for (Place place = 0; place < prepared->schedule.places(Buffer::shared); ++place)
      prepared->block_in_place.push_back(algorithm.block_in_place(place));
  prepared->head = head_bytes(algorithm, call.parameters);
  prepared->relays = relays({&algorithm, call.parameters, call.parts});
  prepared->signals_can_carry =
      algorithm.signals_can_carry && algorithm.signals_can_carry(call.procs, call.parameters);
  // A schedule that waits for signals polls: it must not poll all of them at once.
  const bool comes_in_any_order =
      prepared->schedule.places(Buffer::shared) == 0 && has_independent_arrivals(prepared->schedule);
  const Execution wanted = settings().execution;
  prepared->is_dynamic = prepared->online || wanted == Execution::dynamic || settings().shuffle != 0 ||
                         (wanted == Execution::automatic && comes_in_any_order);
  if (!prepared->is_dynamic) {
    prepared->order = compile_order(prepared->schedule);
    prepared->order.shrink_to_fit();
  }
  return prepared;
}

}  // namespace

std::shared_ptr<const Prepared> ScheduleCache::get(const Algorithm& algorithm, const Call& call) {
  const Key key{{&algorithm, call.parameters, call.parts},
                call.collective,
                call.procs,
                call.rank,
                call.root,
                call.in_place,
                call.commutative,
                call.arrivals,
                call.nodes,
                call.domains,
                call.graph};
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, found->second.used);
    return found->second.prepared;
  }
  auto prepared = prepare(algorithm, call, builder_);
  by_use_.push_front(key);
  entries_.emplace(key, Entry{prepared, by_use_.begin()});
  bytes_ += prepared->memory();
  while (bytes_ > limit_ && by_use_.size() > 1) {
    const auto oldest = entries_.find(by_use_.back());
    bytes_ -= oldest->second.prepared->memory();
    entries_.erase(oldest);
    by_use_.pop_back();
  }
  return prepared;
}

std::size_t ScheduleCache::memory() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t ScheduleCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

ScheduleCache& process_schedules() {
  static ScheduleCache* cache = new ScheduleCache(settings().cache_bytes);  // never freed: see Registry
  return *cache;
}

}  // namespace convene::runtime
