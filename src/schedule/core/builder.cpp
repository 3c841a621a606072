// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include "schedule/core/accesses.hpp"

namespace convene::schedule {
namespace {

constexpr StepId none = Accesses::none;
constexpr std::uint32_t any_places = 0xffffffffu;  // a number of places that no range goes around
// From this many predecessors on, a set that comes a second time gets a join step. Below, a join saves
// nothing.
constexpr std::size_t join_from = 4;

constexpr bool is_local(StepKind kind) { return kind == StepKind::copy || kind == StepKind::combine; }

// The messages between this rank and another one, in one direction.
struct Traffic {
  std::uint32_t messages = 0;
  StepId last = none, one_window_back = none;
  StepId last_signal = none;
};

}  // namespace

struct Builder::Work {
  Embedding::Places outermost(std::span<const Range> slots) const;
  Rank procs = 0, rank = 0, first_sharer = 0;
  std::uint32_t round = 0, rounds = 0;
  Accesses accesses;
  bool signals = false;
  std::vector<Place> like;
  unsigned scratches = 0;
  // The scratch buffer that grows for inner schedules; Buffer::input: there is none.
  Buffer for_inner = Buffer::input;
  std::vector<SubSchedule> inner;  // the innermost last

  std::vector<Step> steps;
  std::vector<Range> ranges;
  std::vector<StepId> predecessors;  // of step 0, then of step 1, …: Step::predecessors of each
  std::vector<StepId> last_large;    // the last large set of predecessors
  StepId last_join = none;           // the join step that stands for it

  std::vector<Traffic> sent, received;  // by peer
  std::vector<Rank> peers;  // those that have traffic: a plan of many ranks, each with few peers, is linear
  std::vector<StepId> next_of_kind;  // by message: the next one the same way to the same peer

  Buffer add_scratch(std::size_t level, std::span<const Place> wanted);
  std::pair<Buffer, Place> add_common_scratch(std::span<const Place> wanted);
  void note_sharers();
  Place add_shared(std::size_t level, std::uint32_t wanted);
  void step(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
            Transfer transfer);
  void add_in_parts(StepKind kind, std::span<const Range> from, std::span<const Range> to);
  StepId add(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
             Transfer transfer);
  StepId add_message(StepKind kind, Rank peer, Range range, Transfer transfer);
  StepId commit(StepKind kind, Rank peer, Transfer transfer, std::uint32_t match, std::uint32_t first_range,
                std::size_t from_ranges, std::uint8_t touches);
  void require_other_rank(Rank peer) const {
    if (peer >= procs || peer == rank)
      throw std::logic_error("a message to a rank that is not another rank of this plan");
  }
  static std::uint8_t touch_bit(const Range& range) {
    return static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
  }
  void share_large_set(std::uint32_t first_range);
  Step& add_step(std::uint32_t first_range);
  StepId add_join(std::uint32_t first_range);
  std::uint32_t number_message(StepKind kind, Rank peer);
  void note_message(StepKind kind, Rank peer, StepId id);
  void forget_traffic();
};

Builder::Builder() : work_(std::make_unique<Work>()) {}
Builder::~Builder() = default;

void Builder::begin(Rank procs, Rank rank) {
  Work& w = *work_;
  w.procs = procs;
  w.rank = rank;
  w.first_sharer = 0;
  w.round = w.rounds = 0;
  w.accesses.clear();
  w.signals = false;
  w.like.clear();
  w.scratches = 0;
  w.for_inner = Buffer::input;
  w.inner.clear();
  w.steps.clear();
  w.ranges.clear();
  w.predecessors.clear();
  w.last_large.clear();
  w.last_join = none;
  w.forget_traffic();
  w.next_of_kind.clear();
}

void Builder::buffer(Buffer buffer, std::uint32_t places) { work_->accesses.declare(buffer, places); }

void Builder::share(std::uint32_t places) {
  work_->note_sharers();
  work_->add_shared(work_->inner.size(), places);
}

void Builder::alias(Buffer alias, Buffer of, Place first) { work_->accesses.alias(alias, of, first); }

void Builder::sends_empty_messages() { work_->signals = true; }

/// Replaces a set of predecessors, a large one, that the step before had too by one join step that stands for it.
void Builder::Work::share_large_set(std::uint32_t first_range) {
  std::vector<StepId>& depends = accesses.depends();
  if (depends != last_large) {
    last_large = depends;
    last_join = none;
    return;
  }
  if (last_join == none) last_join = add_join(first_range);
  depends.assign(1, last_join);
}

/// Counts a step, a join so far, with what it depends on before it.
Step& Builder::Work::add_step(std::uint32_t first_range) {
  accesses.add_step();
  const std::vector<StepId>& on = accesses.depends();
  for (StepId each : on) predecessors.push_back(each);
  next_of_kind.push_back(none);
  Step& step = steps.emplace_back();
  step.round = round;
  step.ranges = first_range;
  step.predecessors = static_cast<std::uint32_t>(on.size());
  return step;
}

/// A step that does nothing and is complete when all that it depends on are.
StepId Builder::Work::add_join(std::uint32_t first_range) {
  add_step(first_range);
  return static_cast<StepId>(steps.size() - 1);
}

Buffer Builder::scratch(std::span<const Place> like) { return work_->add_scratch(work_->inner.size(), like); }

void Builder::round(std::uint32_t label) {
  for (const SubSchedule& inner : work_->inner) label += inner.view().first_round;
  work_->round = label;
}

std::uint32_t Builder::rounds() const {
  std::uint32_t first = 0;
  for (const SubSchedule& inner : work_->inner) first += inner.view().first_round;
  return std::max(work_->rounds, first) - first;
}

void Builder::enter(Embedding view) {
  work_->inner.emplace_back(std::move(view));
  round(0);
}

void Builder::leave() { work_->inner.pop_back(); }

/// Scratch of inner schedules, of which there may be more than a range can name buffers: where in which buffer it begins. One
/// buffer grows as long as none was declared behind it.
std::pair<Buffer, Place> Builder::Work::add_common_scratch(std::span<const Place> wanted) {
  if (for_inner == Buffer::input || index(for_inner) + 1 != index(convene::schedule::scratch(scratches)))
    return {for_inner = add_scratch(0, wanted), 0};
  const Place first = accesses.places(for_inner);
  accesses.grow(for_inner, static_cast<std::uint32_t>(wanted.size()));
  like.insert(like.end(), wanted.begin(), wanted.end());
  return {for_inner, first};
}

/// The ranks of the innermost schedule share places: which is the lowest of them?
void Builder::Work::note_sharers() {
  Rank first = 0;
  if (!inner.empty()) {
    std::vector<Rank> ranks = inner.back().view().ranks;
    for (std::size_t level = inner.size() - 1; level > 0; --level)
      for (Rank& each : ranks) each = inner[level - 1].view().ranks[each];
    first = *std::min_element(ranks.begin(), ranks.end());
  }
  if (accesses.places(Buffer::shared) > 0 && first_sharer != first)
    throw std::logic_error("a rank shares places with different groups");
  first_sharer = first;
}

/// Shared places of the schedule at a level; returns the first of them there. One inside is as many outside as its blocks are.
Place Builder::Work::add_shared(std::size_t level, std::uint32_t wanted) {
  if (level > 0) {
    SubSchedule& around = inner[level - 1];
    const std::uint32_t each = around.places_of_a_block();
    return around.add_shared(add_shared(level - 1, wanted * each), wanted, each);
  }
  const Place first = accesses.places(Buffer::shared);
  if (first > 0)
    accesses.grow(Buffer::shared, wanted);
  else
    accesses.declare(Buffer::shared, wanted);
  return first;
}

/// A scratch buffer of the schedule at a level: 0 is the outermost. SubSchedule ones are places of the level below.
Buffer Builder::Work::add_scratch(std::size_t level, std::span<const Place> wanted) {
  if (level == 0) {
    const Buffer made = convene::schedule::scratch(scratches++);
    if (index(made) >= max_buffers) throw std::logic_error("more scratch buffers than a range can name");
    accesses.declare(made, static_cast<std::uint32_t>(wanted.size()));
    like.insert(like.end(), wanted.begin(), wanted.end());
    return made;
  }
  SubSchedule& around = inner[level - 1];
  std::vector<Embedding::Places> where = around.sized_like(wanted);
  if (!around.view().scratch_in_blocks) {
    std::vector<Place> outer;
    for (const Embedding::Places& block : where)
      for (const Range& range : block)
        for_each_place(range, any_places, [&](Place place) { outer.push_back(place); });
    auto [made, next] =
        level == 1 ? add_common_scratch(outer) : std::pair{add_scratch(level - 1, outer), Place{0}};
    for (Embedding::Places& block : where) {
      std::uint32_t count = 0;
      for (const Range& range : block) count += range.count();
      block.assign(1, Range(made, next, count));
      next += count;
    }
  }
  return around.add_scratch(std::move(where));
}

/// A step of the innermost schedule, brought down level by level and added.
void Builder::Work::step(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
                         Transfer transfer) {
  Embedding::Places lower_from(from.begin(), from.end()), lower_to(to.begin(), to.end());
  for (std::size_t level = inner.size(); level > 0; --level) {
    const SubSchedule& around = inner[level - 1];
    const Rank* receiver = kind == StepKind::send   ? &peer
                           : kind == StepKind::recv ? &around.view().rank
                                                    : nullptr;
    lower_from = around.lowered(lower_from, receiver);
    lower_to = around.lowered(lower_to, receiver);
    if (!is_local(kind)) peer = around.view().ranks[peer];
  }
  if (is_local(kind) && lower_from.size() > most_from_ranges) return add_in_parts(kind, lower_from, lower_to);
  add(kind, is_local(kind) ? rank : peer, lower_from, lower_to, transfer);
}

/// A copy or combine from more ranges than a step can count, as several. (It goes place by place, so they are the same,
/// unless it moves places within one set.)
void Builder::Work::add_in_parts(StepKind kind, std::span<const Range> from, std::span<const Range> to) {
  std::size_t next = 0;
  std::uint32_t taken = 0;  // of to[next]
  while (!from.empty()) {
    const auto part = from.first(std::min(from.size(), most_from_ranges));
    std::uint32_t wanted = 0;
    for (const Range& range : part) wanted += range.count();
    Embedding::Places target;
    while (wanted > 0 && next < to.size()) {
      const Range& whole = to[next];
      const std::uint32_t count = std::min(wanted, whole.count() - taken);
      const std::uint32_t n = std::max(accesses.places(whole.buffer()), 1u);
      const auto first = static_cast<Place>((whole.first + std::uint64_t{taken} * whole.stride) % n);
      target.emplace_back(whole.buffer(), first, count, whole.stride);
      wanted -= count;
      taken += count;
      if (taken == whole.count()) {
        ++next;
        taken = 0;
      }
    }
    add(kind, rank, part, target, Transfer::automatic);
    from = from.subspan(part.size());
  }
}

StepId Builder::Work::add(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
                          Transfer transfer) {
  const auto first_range = static_cast<std::uint32_t>(ranges.size());
  std::uint32_t from_places = 0, to_places = 0;
  std::uint8_t touches = 0;
  const auto take = [&](std::span<const Range> given, std::uint32_t& total) {
    std::size_t taken = 0;
    for (const Range& range : given) {
      if (range.count() == 0) continue;
      ranges.push_back(accesses.normalised(range));
      total += range.count();
      touches |= touch_bit(ranges.back());
      ++taken;
    }
    return taken;
  };
  const std::size_t from_taken = take(from, from_places);
  const std::size_t to_taken = take(to, to_places);
  if (from_places + to_places == 0) return none;
  if (is_local(kind)) {
    if (from_places != to_places)
      throw std::logic_error("the source and the target of a copy or combine differ in size");
    const auto begin = ranges.begin() + first_range;
    const auto middle = begin + static_cast<std::ptrdiff_t>(from_taken);
    const bool onto_itself = from_taken == to_taken && std::equal(begin, middle, middle);
    if (onto_itself && kind == StepKind::combine)
      throw std::logic_error("places are combined with themselves");
    if (onto_itself) {
      ranges.resize(first_range);
      return none;
    }
  } else {
    require_other_rank(peer);
    const bool touches_shared = (touches & touch_bit(Range(Buffer::shared, 0))) != 0;
    if (touches_shared && touches != touch_bit(Range(Buffer::shared, 0)))
      throw std::logic_error("a message of shared places and of others");
  }

  const std::span<const Range> mine(ranges.data() + first_range, ranges.size() - first_range);
  // Places that are handed over are out of reach on either side: as if both wrote them.
  const bool is_shm_signal = !is_local(kind) && touches == touch_bit(Range(Buffer::shared, 0));
  const std::size_t only_read = is_shm_signal ? 0 : from_taken;
  accesses.start();
  for (const Range& range : mine.first(only_read)) accesses.read(range);
  for (const Range& range : mine.subspan(only_read)) accesses.write(range);
  const std::uint32_t match = is_local(kind) ? 0 : number_message(kind, peer);
  if (is_shm_signal && match + 1 >= 1u << signal_bits)
    throw std::logic_error("more messages between two ranks than a signal can count");
  if (is_shm_signal && kind == StepKind::send) accesses.depend(sent[peer].last_signal);
  if (accesses.depends().size() >= join_from) share_large_set(first_range);

  const StepId id = commit(kind, peer, transfer, match, first_range, from_taken, touches);
  if (is_shm_signal && kind == StepKind::send) sent[peer].last_signal = id;
  for (const Range& range : mine.first(only_read)) accesses.note_read(range, id);
  for (const Range& range : mine.subspan(only_read)) accesses.note_write(range, id);
  return id;
}

/// The same for a message of one range, as most are: a quarter of the work.
StepId Builder::Work::add_message(StepKind kind, Rank peer, Range given, Transfer transfer) {
  if (given.count() == 0) return none;
  if (given.buffer() == Buffer::shared)
    return kind == StepKind::send ? add(kind, peer, std::span(&given, 1), {}, transfer)
                                  : add(kind, peer, {}, std::span(&given, 1), transfer);
  require_other_rank(peer);
  const Range range = accesses.normalised(given);
  const auto first_range = static_cast<std::uint32_t>(ranges.size());
  const bool sends = kind == StepKind::send;
  accesses.start();
  sends ? accesses.read(range) : accesses.write(range);
  const std::uint32_t match = number_message(kind, peer);
  if (accesses.depends().size() >= join_from) share_large_set(first_range);
  ranges.push_back(range);
  const StepId id = commit(kind, peer, transfer, match, first_range, sends, touch_bit(range));
  sends ? accesses.note_read(range, id) : accesses.note_write(range, id);
  return id;
}

/// Writes the step down, with what it depends on before it.
StepId Builder::Work::commit(StepKind kind, Rank peer, Transfer transfer, std::uint32_t match,
                             std::uint32_t first_range, std::size_t from_ranges, std::uint8_t touches) {
  if (from_ranges > most_from_ranges && is_local(kind))
    throw std::logic_error("a copy or combine from more ranges than a step can count");
  const auto id = static_cast<StepId>(steps.size());
  Step& step = add_step(first_range);
  step.peer = peer;
  step.match = match;
  step.kind = kind;
  step.transfer = transfer;
  step.from_ranges = static_cast<std::uint8_t>(is_local(kind) ? from_ranges : 0);
  step.touches = touches;
  if (!is_local(kind)) {
    rounds = std::max(rounds, round + 1);
    note_message(kind, peer, id);
  }
  return id;
}

/// Counts a message. Message n + match_window may carry the tag of message n to the same peer: it waits for that one.
std::uint32_t Builder::Work::number_message(StepKind kind, Rank peer) {
  Traffic& traffic = (kind == StepKind::send ? sent : received)[peer];
  if (traffic.messages == 0) peers.push_back(peer);
  if (traffic.messages >= match_window) {
    accesses.depend(traffic.one_window_back);
    traffic.one_window_back = next_of_kind[traffic.one_window_back];
  }
  return traffic.messages++;
}

/// Remembers the message's id, so that the one a window later finds it.
void Builder::Work::note_message(StepKind kind, Rank peer, StepId id) {
  Traffic& traffic = (kind == StepKind::send ? sent : received)[peer];
  if (traffic.messages == 1)
    traffic.one_window_back = id;
  else
    next_of_kind[traffic.last] = id;
  traffic.last = id;
}

void Builder::Work::forget_traffic() {
  for (Rank peer : peers) sent[peer] = received[peer] = {};
  peers.clear();
  sent.resize(procs);
  received.resize(procs);
}

void Builder::send(Rank peer, Range what, Transfer transfer) {
  if (work_->inner.empty())
    work_->add_message(StepKind::send, peer, what, transfer);
  else
    work_->step(StepKind::send, peer, std::span(&what, 1), {}, transfer);
}

void Builder::recv(Rank peer, Range where, Transfer transfer) {
  if (work_->inner.empty())
    work_->add_message(StepKind::recv, peer, where, transfer);
  else
    work_->step(StepKind::recv, peer, {}, std::span(&where, 1), transfer);
}

void Builder::send(Rank peer, std::span<const Range> what, Transfer transfer) {
  work_->step(StepKind::send, peer, what, {}, transfer);
}

void Builder::recv(Rank peer, std::span<const Range> where, Transfer transfer) {
  work_->step(StepKind::recv, peer, {}, where, transfer);
}

void Builder::copy(std::span<const Range> from, std::span<const Range> to) {
  work_->step(StepKind::copy, 0, from, to, Transfer::automatic);
}

void Builder::copy(Range from, Range to) {
  work_->step(StepKind::copy, 0, std::span(&from, 1), std::span(&to, 1), Transfer::automatic);
}

void Builder::combine(std::span<const Range> left, std::span<const Range> right) {
  work_->step(StepKind::combine, 0, left, right, Transfer::automatic);
}

void Builder::combine(Range left, Range right) {
  work_->step(StepKind::combine, 0, std::span(&left, 1), std::span(&right, 1), Transfer::automatic);
}

/// What slots of the innermost schedule are in the outermost one.
Embedding::Places Builder::Work::outermost(std::span<const Range> slots) const {
  Embedding::Places outer(slots.begin(), slots.end());
  for (std::size_t level = inner.size(); level > 0; --level) outer = inner[level - 1].lowered(outer, nullptr);
  std::erase_if(outer, [](const Range& range) { return range.count() == 0; });
  for (Range& range : outer) range = accesses.normalised(range);
  return outer;
}

bool Builder::are_same(std::span<const Range> one, std::span<const Range> other) const {
  return work_->outermost(one) == work_->outermost(other);
}

void Builder::join(std::span<const Range> written) {
  Work& w = *work_;
  const Embedding::Places outer = w.outermost(written);
  w.accesses.start();
  for (const Range& range : outer) w.accesses.read(range);
  const std::size_t steps = w.accesses.depends().size();
  // One range that one step has written needs none. (Several may be one in the outermost schedule, and stay a join.)
  if (steps == 0 || (steps == 1 && written.size() < 2)) return w.accesses.forget();
  const StepId join = w.add_join(static_cast<std::uint32_t>(w.ranges.size()));
  for (const Range& range : outer) w.accesses.note_writer(range, join);
}

Schedule Builder::finish() {
  Work& w = *work_;
  Schedule schedule;
  schedule.procs_ = w.procs;
  schedule.rank_ = w.rank;
  schedule.first_sharer_ = w.first_sharer;
  schedule.rounds_ = w.rounds;
  schedule.signals_ = w.signals;
  schedule.like_ = w.like;
  for (unsigned b = 0; b < max_buffers; ++b) {
    schedule.places_[b] = w.accesses.places(static_cast<Buffer>(b));
    if (schedule.places_[b] > 0) schedule.buffers_ = b + 1;
  }

  const std::size_t n = w.steps.size();
  schedule.steps_.reserve(n + 1);
  schedule.steps_.assign(w.steps.begin(), w.steps.end());
  Step& end = schedule.steps_.emplace_back();
  end.ranges = static_cast<std::uint32_t>(w.ranges.size());
  schedule.ranges_.assign(w.ranges.begin(), w.ranges.end());

  // Edges by their first step: count, add up, place (a counting sort).
  std::vector<Step>& steps = schedule.steps_;
  for (StepId on : w.predecessors) ++steps[on].edges;
  std::uint32_t total = 0;
  for (Step& step : steps) {
    const std::uint32_t count = step.edges;
    step.edges = total;
    total += count;
  }
  schedule.edges_.resize(total);
  const StepId* on = w.predecessors.data();
  for (StepId id = 0; id < n; ++id)
    for (std::uint32_t k = 0; k < w.steps[id].predecessors; ++k) schedule.edges_[steps[*on++].edges++] = id;
  for (std::size_t id = n; id > 0; --id) steps[id].edges = steps[id - 1].edges;
  steps[0].edges = 0;
  return schedule;
}

}  // namespace convene::schedule
