// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.hpp"

#include <algorithm>
#include <stdexcept>

namespace convene {
namespace {

constexpr StepId none = 0xffffffffu;
constexpr std::uint32_t any_places = 0xffffffffu;  // a number of places that no range goes around
// From this many predecessors on, a set that comes a second time gets a join step. Below, a join saves
// nothing.
constexpr std::size_t join_from = 4;

struct Edge {
  StepId from, to;
};

// A linked list of the steps that read a place since it was last written.
struct Reader {
  StepId step;
  std::uint32_t next;
};

// A read of many places one after the other (around the end, at most once). Kept as a whole: to note it place by place
// would cost more than everything else where a schedule moves ever larger runs.
struct WideRead {
  StepId step;
  Range range;
};
constexpr std::uint32_t wide_from = 16;  // places
constexpr std::size_t most_wide_reads =
    64;  // beyond that many, place by place after all: every write looks at each

constexpr bool is_local(StepKind kind) { return kind == StepKind::copy || kind == StepKind::combine; }

// The messages between this rank and another one, in one direction.
struct Traffic {
  std::uint32_t messages = 0;
  StepId last = none, one_window_back = none;
};

}  // namespace

struct Builder::Work {
  Rank procs = 0, rank = 0;
  std::uint32_t round = 0, rounds = 0;
  std::uint32_t places[max_buffers] = {};
  std::uint32_t base[max_buffers] = {};  // where a buffer's places start in `writer` and `readers`
  std::uint32_t all_places = 0;
  Buffer alias = Buffer::input, alias_of = Buffer::input;  // equal: there is none
  Place alias_first = 0;
  bool signals = false;
  std::vector<Place> like;
  unsigned scratches = 0;
  // The scratch buffer that grows for inner schedules; Buffer::input: there is none.
  Buffer for_inner = Buffer::input;

  /// A view with its scratch buffers, and what the steps of its schedule become.
  struct Inner {
    View view;
    std::vector<std::vector<View::Places>> scratch;  // by inner scratch buffer and place
  };
  std::vector<Inner> views;  // the innermost last

  std::vector<Step> steps;
  std::vector<Range> ranges;
  std::vector<Edge> edges;

  std::vector<StepId> writer;          // by place: the step that wrote it last
  std::vector<std::uint32_t> readers;  // by place: head of the list of readers since
  std::vector<Reader> pool;
  std::vector<WideRead> wide_reads;
  std::vector<StepId> seen;  // by step: the last step that found itself depending on it
  std::vector<StepId> depends, last_large;
  StepId last_join = none;

  std::vector<Traffic> sent, received;  // by peer
  std::vector<StepId> next_of_kind;     // by message: the next one the same way to the same peer

  Range normalised(Range range);
  Buffer add_scratch(std::size_t level, std::span<const Place> wanted);
  std::pair<Buffer, Place> add_shared_scratch(std::span<const Place> wanted);
  View::Places lowered(const Inner& inner, std::span<const Range> given, const Rank* receiver) const;
  void step(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
            Transfer transfer);
  void add_in_parts(StepKind kind, std::span<const Range> from, std::span<const Range> to);
  StepId add(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
             Transfer transfer);
  StepId add_message(StepKind kind, Rank peer, const Range& range, Transfer transfer);
  StepId commit(StepKind kind, Rank peer, Transfer transfer, std::uint32_t match, std::uint32_t first_range,
                std::size_t from_ranges, std::uint8_t touches);
  void require_other_rank(Rank peer) const {
    if (peer >= procs || peer == rank)
      throw std::logic_error("a message to a rank that is not another rank of this plan");
  }
  static std::uint8_t touch_bit(const Range& range) {
    return static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
  }
  void depend(StepId on, StepId step) {
    if (on == none || seen[on] == step) return;
    seen[on] = step;
    depends.push_back(on);
  }
  void read(const Range& range, StepId step);
  void write(const Range& range, StepId step);
  bool overlap(const Range& wide, const Range& other) const;
  void note_read(const Range& range, StepId step);
  void note_write(const Range& range, StepId step);
  void share_large_set(std::uint32_t first_range);
  StepId add_join(std::uint32_t first_range);
  std::uint32_t number_message(StepKind kind, Rank peer, StepId candidate);
  void note_message(StepKind kind, Rank peer, StepId id);
};

Builder::Builder() : work_(std::make_unique<Work>()) {}
Builder::~Builder() = default;

void Builder::begin(Rank procs, Rank rank) {
  Work& w = *work_;
  w.procs = procs;
  w.rank = rank;
  w.round = w.rounds = 0;
  std::fill(std::begin(w.places), std::end(w.places), 0);
  w.all_places = 0;
  w.alias = w.alias_of = Buffer::input;
  w.signals = false;
  w.like.clear();
  w.scratches = 0;
  w.for_inner = Buffer::input;
  w.views.clear();
  w.steps.clear();
  w.ranges.clear();
  w.edges.clear();
  w.writer.clear();
  w.readers.clear();
  w.pool.clear();
  w.wide_reads.clear();
  w.seen.clear();
  w.last_large.clear();
  w.last_join = none;
  w.sent.assign(procs, {});
  w.received.assign(procs, {});
  w.next_of_kind.clear();
}

void Builder::buffer(Buffer buffer, std::uint32_t places) {
  Work& w = *work_;
  w.places[index(buffer)] = places;
  w.base[index(buffer)] = w.all_places;
  w.all_places += places;
  w.writer.resize(w.all_places, none);
  w.readers.resize(w.all_places, none);
}

void Builder::alias(Buffer alias, Buffer of, Place first) {
  work_->alias = alias;
  work_->alias_of = of;
  work_->alias_first = first;
}

void Builder::signals() { work_->signals = true; }

/// The range with its places below the buffer's number, and on the other buffer where this one is an alias of it.
Range Builder::Work::normalised(Range range) {
  if (alias != alias_of && range.buffer() == alias)
    range = Range(alias_of, range.first % places[index(alias)] + alias_first, range.count(), range.stride);
  const std::uint32_t n = places[index(range.buffer())];
  if (n == 0) throw std::logic_error("a step names a buffer that was not declared");
  if (range.first >= n) range.first %= n;
  if (range.stride >= n) range.stride %= n;
  return range;
}

void Builder::Work::read(const Range& range, StepId step) {
  const StepId* from = writer.data() + base[index(range.buffer())];
  StepId last = none;  // runs of places mostly have one writer
  for_each_place(range, places[index(range.buffer())], [&](Place place) {
    if (from[place] != last) depend(last = from[place], step);
  });
}

void Builder::Work::write(const Range& range, StepId step) {
  const std::uint32_t at = base[index(range.buffer())];
  for_each_place(range, places[index(range.buffer())], [&](Place place) {
    depend(writer[at + place], step);
    for (std::uint32_t r = readers[at + place]; r != none; r = pool[r].next) depend(pool[r].step, step);
  });
  for (const WideRead& wide : wide_reads)
    if (overlap(wide.range, range)) depend(wide.step, step);
}

/// Whether a wide read and some other range share a place.
bool Builder::Work::overlap(const Range& wide, const Range& other) const {
  if (wide.buffer() != other.buffer()) return false;
  const std::uint32_t n = places[index(wide.buffer())];
  const auto distance = [n](Place from, Place to) { return to >= from ? to - from : to + n - from; };
  if (other.stride == 1)
    return distance(wide.first, other.first) < wide.count() ||
           distance(other.first, wide.first) < other.count();
  bool shared = false;
  for_each_place(other, n, [&](Place place) { shared |= distance(wide.first, place) < wide.count(); });
  return shared;
}

void Builder::Work::note_read(const Range& range, StepId step) {
  const bool wide = range.stride == 1 && range.count() >= wide_from &&
                    range.count() <= places[index(range.buffer())] && wide_reads.size() < most_wide_reads;
  if (wide) return wide_reads.push_back({step, range});
  std::uint32_t* heads = readers.data() + base[index(range.buffer())];
  for_each_place(range, places[index(range.buffer())], [&](Place place) {
    pool.push_back({step, heads[place]});
    heads[place] = static_cast<std::uint32_t>(pool.size() - 1);
  });
}

void Builder::Work::note_write(const Range& range, StepId step) {
  const std::uint32_t at = base[index(range.buffer())];
  for_each_place(range, places[index(range.buffer())], [&](Place place) {
    writer[at + place] = step;
    readers[at + place] = none;
  });
}

/// Replaces a large set of predecessors that the step before had too by one join step that stands for it.
void Builder::Work::share_large_set(std::uint32_t first_range) {
  if (depends.size() < join_from) return;
  if (depends != last_large) {
    last_large = depends;
    last_join = none;
    return;
  }
  if (last_join == none) last_join = add_join(first_range);
  depends.assign(1, last_join);
}

/// A step that does nothing and is complete when all of `depends` are.
StepId Builder::Work::add_join(std::uint32_t first_range) {
  const auto id = static_cast<StepId>(steps.size());
  for (StepId from : depends) edges.push_back({from, id});
  Step join;
  join.round = round;
  join.ranges = first_range;
  join.predecessors = static_cast<std::uint32_t>(depends.size());
  steps.push_back(join);
  seen.push_back(none);
  next_of_kind.push_back(none);
  return id;
}

Buffer Builder::scratch(std::span<const Place> like) { return work_->add_scratch(work_->views.size(), like); }

void Builder::round(std::uint32_t label) {
  for (const Work::Inner& inner : work_->views) label += inner.view.first_round;
  work_->round = label;
}

std::uint32_t Builder::rounds() const {
  std::uint32_t first = 0;
  for (const Work::Inner& inner : work_->views) first += inner.view.first_round;
  return std::max(work_->rounds, first) - first;
}

void Builder::enter(View view) {
  work_->views.push_back({std::move(view), {}});
  round(0);
}

void Builder::leave() { work_->views.pop_back(); }

/// Scratch of inner schedules, of which there may be more than a range can name buffers: where in which buffer it begins. One
/// buffer grows as long as none was declared behind it.
std::pair<Buffer, Place> Builder::Work::add_shared_scratch(std::span<const Place> wanted) {
  if (for_inner == Buffer::input || index(for_inner) + 1 != index(convene::scratch(scratches)))
    return {for_inner = add_scratch(0, wanted), 0};
  const Place first = places[index(for_inner)];
  places[index(for_inner)] += static_cast<std::uint32_t>(wanted.size());
  all_places += static_cast<std::uint32_t>(wanted.size());
  writer.resize(all_places, none);
  readers.resize(all_places, none);
  like.insert(like.end(), wanted.begin(), wanted.end());
  return {for_inner, first};
}

/// A scratch buffer of the schedule at a level: 0 is the outermost. Inner ones are places of the level below.
Buffer Builder::Work::add_scratch(std::size_t level, std::span<const Place> wanted) {
  if (level == 0) {
    const Buffer made = convene::scratch(scratches++);
    if (index(made) >= max_buffers) throw std::logic_error("more scratch buffers than a range can name");
    places[index(made)] = static_cast<std::uint32_t>(wanted.size());
    base[index(made)] = all_places;
    all_places += places[index(made)];
    writer.resize(all_places, none);
    readers.resize(all_places, none);
    like.insert(like.end(), wanted.begin(), wanted.end());
    return made;
  }
  Inner& inner = views[level - 1];
  auto& where = inner.scratch.emplace_back();
  for (const Place block : wanted) where.push_back(inner.view.blocks[block]);
  if (!inner.view.scratch_in_blocks) {
    std::vector<Place> outer;
    for (const View::Places& block : where)
      for (const Range& range : block)
        for_each_place(range, any_places, [&](Place place) { outer.push_back(place); });
    auto [made, next] =
        level == 1 ? add_shared_scratch(outer) : std::pair{add_scratch(level - 1, outer), Place{0}};
    for (View::Places& block : where) {
      std::uint32_t count = 0;
      for (const Range& range : block) count += range.count();
      block.assign(1, Range(made, next, count));
      next += count;
    }
  }
  return convene::scratch(static_cast<unsigned>(inner.scratch.size()) - 1);
}

/// Puts a range behind others, as a part of the last one where it goes on with it.
static void append(View::Places& places, const Range& next) {
  if (!places.empty() && places.back().buffer() == next.buffer()) {
    Range& last = places.back();
    const Place distance = next.first - last.first;
    const bool upwards = next.first > last.first;
    if (upwards && last.count() == 1 && next.count() == 1) {
      last = Range(last.buffer(), last.first, 2, distance);
      return;
    }
    const std::uint32_t stride = last.count() == 1 ? next.stride : last.stride;
    if (upwards && distance == last.count() * stride && (next.count() == 1 || next.stride == stride)) {
      last = Range(last.buffer(), last.first, last.count() + next.count(), stride);
      return;
    }
  }
  places.push_back(next);
}

/// The places of an inner schedule as those of the level below, without what the receiver has already.
View::Places Builder::Work::lowered(const Inner& inner, std::span<const Range> given,
                                    const Rank* receiver) const {
  View::Places result;
  for (const Range& range : given) {
    const bool is_scratch = index(range.buffer()) >= index(Buffer::scratch);
    const auto& map = is_scratch ? inner.scratch[index(range.buffer()) - index(Buffer::scratch)]
                      : range.buffer() == Buffer::input ? inner.view.input
                                                        : inner.view.output;
    const auto n = static_cast<std::uint32_t>(map.size());
    if (n == 0) throw std::logic_error("an inner schedule names a buffer that its view does not have");
    const Range within(range.buffer(), range.first % n, range.count(), range.stride % n);
    for_each_place(within, n, [&](Place place) {
      for (const Range& outer : map[place])
        if (!receiver || !inner.view.has || !inner.view.has(*receiver, outer)) append(result, outer);
    });
  }
  return result;
}

/// A step of the innermost schedule, brought down level by level and added.
void Builder::Work::step(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
                         Transfer transfer) {
  View::Places lower_from(from.begin(), from.end()), lower_to(to.begin(), to.end());
  for (std::size_t level = views.size(); level > 0; --level) {
    const Inner& inner = views[level - 1];
    const Rank* receiver = kind == StepKind::send   ? &peer
                           : kind == StepKind::recv ? &inner.view.rank
                                                    : nullptr;
    lower_from = lowered(inner, lower_from, receiver);
    lower_to = lowered(inner, lower_to, receiver);
    if (!is_local(kind)) peer = inner.view.ranks[peer];
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
    View::Places target;
    while (wanted > 0 && next < to.size()) {
      const Range& whole = to[next];
      const std::uint32_t count = std::min(wanted, whole.count() - taken);
      const std::uint32_t n = std::max(places[index(whole.buffer())], 1u);
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
      ranges.push_back(normalised(range));
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
  }

  // The step's own id is not known before it is clear whether a join comes first; `candidate` only marks what
  // was seen.
  const auto candidate = static_cast<StepId>(steps.size());
  const std::span<const Range> mine(ranges.data() + first_range, ranges.size() - first_range);
  depends.clear();
  for (const Range& range : mine.first(from_taken)) read(range, candidate);
  for (const Range& range : mine.subspan(from_taken)) write(range, candidate);
  const std::uint32_t match = is_local(kind) ? 0 : number_message(kind, peer, candidate);
  share_large_set(first_range);

  const StepId id = commit(kind, peer, transfer, match, first_range, from_taken, touches);
  for (const Range& range : mine.first(from_taken)) note_read(range, id);
  for (const Range& range : mine.subspan(from_taken)) note_write(range, id);
  return id;
}

/// The same for a message of one range, as most are: a quarter of the work.
StepId Builder::Work::add_message(StepKind kind, Rank peer, const Range& given, Transfer transfer) {
  if (given.count() == 0) return none;
  require_other_rank(peer);
  const Range range = normalised(given);
  const auto first_range = static_cast<std::uint32_t>(ranges.size());
  const auto candidate = static_cast<StepId>(steps.size());
  const bool sends = kind == StepKind::send;
  depends.clear();
  sends ? read(range, candidate) : write(range, candidate);
  const std::uint32_t match = number_message(kind, peer, candidate);
  share_large_set(first_range);
  ranges.push_back(range);
  const StepId id = commit(kind, peer, transfer, match, first_range, sends, touch_bit(range));
  sends ? note_read(range, id) : note_write(range, id);
  return id;
}

/// Writes the step down, with `depends` before it.
StepId Builder::Work::commit(StepKind kind, Rank peer, Transfer transfer, std::uint32_t match,
                             std::uint32_t first_range, std::size_t from_ranges, std::uint8_t touches) {
  if (from_ranges > most_from_ranges && is_local(kind))
    throw std::logic_error("a copy or combine from more ranges than a step can count");
  const auto id = static_cast<StepId>(steps.size());
  for (StepId on : depends) edges.push_back({on, id});
  steps.push_back({.peer = peer,
                   .match = match,
                   .round = round,
                   .ranges = first_range,
                   .edges = 0,
                   .predecessors = static_cast<std::uint32_t>(depends.size()),
                   .kind = kind,
                   .transfer = transfer,
                   .from_ranges = static_cast<std::uint8_t>(is_local(kind) ? from_ranges : 0),
                   .touches = touches});
  seen.push_back(none);
  next_of_kind.push_back(none);
  if (!is_local(kind)) {
    rounds = std::max(rounds, round + 1);
    note_message(kind, peer, id);
  }
  return id;
}

/// Counts a message. Message n + match_window may carry the tag of message n to the same peer: it waits for that one.
std::uint32_t Builder::Work::number_message(StepKind kind, Rank peer, StepId candidate) {
  Traffic& traffic = (kind == StepKind::send ? sent : received)[peer];
  if (traffic.messages >= match_window) {
    depend(traffic.one_window_back, candidate);
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

void Builder::send(Rank peer, const Range& what, Transfer transfer) {
  if (work_->views.empty())
    work_->add_message(StepKind::send, peer, what, transfer);
  else
    work_->step(StepKind::send, peer, std::span(&what, 1), {}, transfer);
}

void Builder::recv(Rank peer, const Range& where, Transfer transfer) {
  if (work_->views.empty())
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

void Builder::copy(const Range& from, const Range& to) {
  work_->step(StepKind::copy, 0, std::span(&from, 1), std::span(&to, 1), Transfer::automatic);
}

void Builder::combine(std::span<const Range> left, std::span<const Range> right) {
  work_->step(StepKind::combine, 0, left, right, Transfer::automatic);
}

void Builder::combine(const Range& left, const Range& right) {
  work_->step(StepKind::combine, 0, std::span(&left, 1), std::span(&right, 1), Transfer::automatic);
}

void Builder::join(std::span<const Range> written) {
  Work& w = *work_;
  View::Places outer(written.begin(), written.end());
  for (std::size_t level = w.views.size(); level > 0; --level)
    outer = w.lowered(w.views[level - 1], outer, nullptr);
  written = outer;
  w.depends.clear();
  for (const Range& range : written)
    if (range.count() > 0) w.read(w.normalised(range), static_cast<StepId>(w.steps.size()));
  const bool is_one_step = w.depends.size() < 2 && written.size() < 2;
  if (w.depends.empty() || is_one_step) {
    for (StepId on : w.depends) w.seen[on] = none;  // the id that marked them goes to the next step
    return;
  }
  const StepId join = w.add_join(static_cast<std::uint32_t>(w.ranges.size()));
  for (const Range& given : written) {
    if (given.count() == 0) continue;
    const Range range = w.normalised(given);
    StepId* writer = w.writer.data() + w.base[index(range.buffer())];
    for_each_place(range, w.places[index(range.buffer())], [&](Place place) { writer[place] = join; });
  }
}

Schedule Builder::finish() {
  Work& w = *work_;
  Schedule schedule;
  schedule.procs_ = w.procs;
  schedule.rank_ = w.rank;
  schedule.rounds_ = w.rounds;
  schedule.signals_ = w.signals;
  schedule.like_ = w.like;
  std::copy(std::begin(w.places), std::end(w.places), schedule.places_);
  for (unsigned b = 0; b < max_buffers; ++b)
    if (w.places[b] > 0) schedule.buffers_ = b + 1;

  const std::size_t n = w.steps.size();
  schedule.steps_.reserve(n + 1);
  schedule.steps_.assign(w.steps.begin(), w.steps.end());
  Step& end = schedule.steps_.emplace_back();
  end.ranges = static_cast<std::uint32_t>(w.ranges.size());
  schedule.ranges_.assign(w.ranges.begin(), w.ranges.end());

  // Edges by their first step: count, add up, place (a counting sort).
  std::vector<Step>& steps = schedule.steps_;
  for (const Edge& edge : w.edges) ++steps[edge.from].edges;
  std::uint32_t total = 0;
  for (Step& step : steps) {
    const std::uint32_t count = step.edges;
    step.edges = total;
    total += count;
  }
  schedule.edges_.resize(total);
  for (const Edge& edge : w.edges) schedule.edges_[steps[edge.from].edges++] = edge.to;
  for (std::size_t id = n; id > 0; --id) steps[id].edges = steps[id - 1].edges;
  steps[0].edges = 0;
  return schedule;
}

}  // namespace convene
