// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/read/rank_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/names.hpp"
#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

constexpr std::uint64_t most_places = 1u << 26;  // of shared and scratch buffers, of all ranks
constexpr std::uint32_t most_rounds = 1u << 20;

constexpr std::array<std::string_view, 7> kinds{"send", "recv", "copy", "combine", "join", "signal", "await"};
constexpr std::array<std::string_view, 9> step_fields{"id",    "kind", "peer", "match", "round",
                                                      "slots", "from", "to",   "after"};
constexpr std::array<std::string_view, 5> rank_fields{"rank", "places", "first_sharer", "sized_like",
                                                      "steps"};

/// The buffer of this name; nullopt if there is none.
std::optional<Buffer> parse_buffer(std::string_view text) {
  static const std::array<std::string, max_buffers> names = [] {
    std::array<std::string, max_buffers> result;
    for (unsigned b = 0; b < max_buffers; ++b) result[b] = name(static_cast<Buffer>(b));
    return result;
  }();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Buffer>(found - names.begin());
}

Buffer read_buffer(const FileField& field, std::string_view text) {
  const std::optional<Buffer> buffer = parse_buffer(text);
  if (!buffer)
    field.refuse(fmt::format("names the buffer {}; write input, output, shared or scratch0 to scratch{}",
                             in_quotes(text), max_buffers - index(Buffer::scratch) - 1));
  return *buffer;
}

/// Refuses a step that has a field of another kind of step.
void require_absent(const FileField& step, std::initializer_list<std::string_view> fields,
                    std::string_view kind) {
  for (const std::string_view key : fields)
    if (step.find(key)) step.refuse(fmt::format("a {} has no \"{}\"; leave it out", kind, key));
}

/// Appends a place to the last range, if it continues that one, or as a new range. Ranges before `from` are
/// left as they are.
void append_place(std::vector<Range>& ranges, std::size_t from, Buffer buffer, Place place,
                  std::uint32_t places) {
  if (ranges.size() > from && ranges.back().buffer() == buffer) {
    Range& last = ranges.back();
    const std::uint64_t stride =
        last.count() == 1 ? (std::uint64_t{place} + places - last.first) % places : last.stride;
    const std::uint64_t next = (last.first + last.count() * stride) % places;
    if (stride > 0 && next == place && last.count() < places) {
      last = Range(buffer, last.first, last.count() + 1, static_cast<std::uint32_t>(stride));
      return;
    }
  }
  ranges.emplace_back(buffer, place);
}

}  // namespace

Schedule RankReader::read(const FileField& field, Rank rank, std::uint32_t input, std::uint32_t output,
                          const std::optional<FileField>& rounds) {
  const FileField mine = field.of_rank(rank);
  rank_ = rank;
  mine.object(rank_fields);
  if (mine["rank"].whole(0, procs_ - 1) != rank)
    mine["rank"].refuse(fmt::format("must be {}: ranks are in ascending order, from 0", rank));
  declare(mine, input, output);
  IncrementalSchedule schedule(empty());
  if (const auto first = mine.find("first_sharer")) schedule.share_from(first->whole(0, rank));
  for (auto& numbers : numbers_) numbers.assign(procs_, 0);
  message_rounds_ = step_rounds_ = 0;
  for (const FileField& step : mine["steps"].entries()) read_step(step, schedule);
  // Copies count as rounds in plans of online algorithms only, so the file decides.
  std::uint32_t count = message_rounds_;
  if (rounds && rounds->value().whole > count && rounds->value().whole <= step_rounds_)
    count = static_cast<std::uint32_t>(rounds->value().whole);
  schedule.set_rounds(count);
  return schedule.finish();
}

void RankReader::declare(const FileField& field, std::uint32_t input, std::uint32_t output) {
  sizes_.fill(0);
  for (std::vector<Place>& like : like_) like.clear();
  sizes_[index(Buffer::input)] = input;
  sizes_[index(Buffer::output)] = output;
  const auto places = field.find("places"), sized_like = field.find("sized_like");
  if (places) read_sizes(*places);
  if (sized_like) read_scratch(*sized_like);
  if (!sized_like) find_scratch_in_use(field["steps"]);
  require_few_places(field);
}

void RankReader::read_sizes(const FileField& places) {
  const JsonValue& object = places.object();
  for (const JsonValue::Key& key : object.keys) {
    const Buffer buffer = read_buffer(places, key.name);
    const std::uint32_t stated = places[key.name].whole(1, Range::max_count);
    std::uint32_t& size = sizes_[index(buffer)];
    if (buffer <= Buffer::output && stated != size)
      places.refuse(fmt::format("gives {} {} places, but in this call it has {}", key.name, stated, size));
    size = stated;
  }
}

void RankReader::read_scratch(const FileField& sized_like) {
  for (const JsonValue::Key& key : sized_like.object().keys) {
    const Buffer buffer = read_buffer(sized_like, key.name);
    if (buffer < Buffer::scratch) sized_like.refuse("is for scratch buffers only; leave out " + key.name);
    const std::vector<FileField> entries = sized_like[key.name].entries(1, most_places);
    std::uint32_t& size = sizes_[index(buffer)];
    if (size != 0 && size != entries.size())
      sized_like.refuse(
          fmt::format("has {} entries for {}, but \"places\" gives it {}", entries.size(), key.name, size));
    size = static_cast<std::uint32_t>(entries.size());
    for (const FileField& each : entries) like_[index(buffer)].push_back(each.whole(0, Range::max_count));
  }
}

/// Scratch buffers whose size the file does not state are as large as the steps need them.
void RankReader::find_scratch_in_use(const FileField& steps) {
  const Sizes stated = sizes_;
  for (const FileField& step : steps.entries())
    for (const std::string_view key : {"slots", "from", "to"})
      if (const auto slots = step.find(key))
        for (const JsonValue& slot : slots->value().items) {
          if (slot.items.size() != 2 || !slot.items[0].is_text()) continue;  // read_slots() refuses it
          const std::optional<Buffer> buffer = parse_buffer(slot.items[0].text);
          if (!buffer || *buffer < Buffer::scratch || stated[index(*buffer)] > 0) continue;
          std::uint32_t& size = sizes_[index(*buffer)];
          size = static_cast<std::uint32_t>(
              std::max<std::uint64_t>(size, std::min(slot.items[1].whole, most_places) + 1));
        }
}

void RankReader::require_few_places(const FileField& field) {
  for (unsigned b = index(Buffer::shared); b < max_buffers; ++b) all_places_ += sizes_[b];
  if (all_places_ > most_places)
    field.refuse(
        fmt::format("its scratch and shared buffers, and those of the ranks before, have {} places, "
                    "more than {}; make them smaller",
                    all_places_, most_places));
}

/// The schedule without steps.
Schedule RankReader::empty() {
  builder_.begin(procs_, rank_);
  builder_.buffer(Buffer::input, sizes_[index(Buffer::input)]);
  builder_.buffer(Buffer::output, sizes_[index(Buffer::output)]);
  if (sends_empty_messages_) builder_.sends_empty_messages();
  if (const std::uint32_t shared = sizes_[index(Buffer::shared)]; shared > 0) builder_.share(shared);
  unsigned last = index(Buffer::scratch);
  for (unsigned b = last; b < max_buffers; ++b)
    if (sizes_[b] > 0) last = b + 1;
  for (unsigned b = index(Buffer::scratch); b < last; ++b) {
    if (like_[b].empty()) {
      like_[b].resize(sizes_[b]);
      std::iota(like_[b].begin(), like_[b].end(), 0u);
    }
    builder_.scratch(like_[b]);
  }
  return builder_.finish();
}

void RankReader::read_step(const FileField& field, IncrementalSchedule& schedule) {
  const StepId id = schedule.schedule().size();
  const FileField mine = field.of_step(id);
  mine.object(step_fields);
  if (const auto number = mine.find("id"); number && number->whole(0, UINT32_MAX) != id)
    number->refuse(fmt::format("must be {}: steps are numbered in their order, from 0", id));
  const std::string kind = mine["kind"].text();
  const auto known = std::find(kinds.begin(), kinds.end(), kind);
  if (known == kinds.end()) mine["kind"].refuse("is unknown: " + no_such("kind", kind, kinds));
  Step step;
  if (const auto round = mine.find("round")) step.round = round->whole(0, most_rounds);
  step_rounds_ = std::max(step_rounds_, step.round + 1);
  std::vector<Range> from, to;
  if (kind == "join") {
    step.kind = StepKind::join;
    require_absent(mine, {"peer", "match", "slots", "from", "to"}, kind);
  } else if (kind == "copy" || kind == "combine") {
    step.kind = kind == "copy" ? StepKind::copy : StepKind::combine;
    step.peer = rank_;
    require_absent(mine, {"peer", "match", "slots"}, kind);
    read_copy(mine, from, to);
  } else {
    const bool sends = kind == "send" || kind == "signal";
    step.kind = sends ? StepKind::send : StepKind::recv;
    require_absent(mine, {"from", "to"}, kind);
    read_message(mine, step, kind == "signal" || kind == "await", sends ? from : to);
    message_rounds_ = std::max(message_rounds_, step.round + 1);
  }
  schedule.add(step, from, to);
  read_after(mine, id, schedule);
}

void RankReader::read_message(const FileField& field, Step& step, bool is_signal,
                              std::vector<Range>& ranges) {
  const FileField peer = field["peer"];
  step.peer = peer.whole(0, procs_ - 1);
  if (step.peer == rank_) peer.refuse("is the rank itself; write a copy, or another rank");
  std::uint32_t& next = numbers_[step.kind == StepKind::send ? 0 : 1][step.peer];
  const auto match = field.find("match");
  step.match = match ? match->whole(0, INT32_MAX) : next;
  ++next;
  ranges = read_slots(field["slots"]);
  const bool all_shared = std::all_of(ranges.begin(), ranges.end(),
                                      [](const Range& range) { return range.buffer() == Buffer::shared; });
  const bool any_shared = std::any_of(ranges.begin(), ranges.end(),
                                      [](const Range& range) { return range.buffer() == Buffer::shared; });
  if (is_signal && (ranges.empty() || !all_shared))
    field["slots"].refuse("of a signal or an await must be in \"shared\"");
  if (!is_signal && any_shared)
    field["slots"].refuse("of a message must not be in \"shared\"; write signal and await for those");
}

void RankReader::read_copy(const FileField& field, std::vector<Range>& from, std::vector<Range>& to) {
  from = read_slots(field["from"]);
  to = read_slots(field["to"]);
  if (from.empty()) field["from"].refuse("has no slot; leave the step out, or name one");
  if (places(from) != places(to))
    field.refuse(fmt::format("\"from\" has {} slots and \"to\" {}; give both the same number", places(from),
                             places(to)));
  if (from.size() > most_from_ranges)
    field["from"].refuse(fmt::format("has {} runs of slots, more than {}; write several steps", from.size(),
                                     most_from_ranges));
}

void RankReader::read_after(const FileField& field, StepId id, IncrementalSchedule& schedule) {
  const auto after = field.find("after");
  if (!after) return;
  for (const FileField& each : after->entries()) {
    if (each.value().kind != JsonValue::Kind::whole || each.value().whole >= id)
      each.refuse(fmt::format("has {}, but names earlier steps of the rank, {}", each.value().describe(),
                              id == 0 ? "and this is the first; leave it out"
                                      : fmt::format("0 to {}; put this step behind those it needs", id - 1)));
    schedule.order(static_cast<StepId>(each.value().whole), id);
  }
}

std::vector<Range> RankReader::read_slots(const FileField& field) const {
  std::vector<Range> ranges;
  std::size_t closed = 0;  // ranges that the file wrote as ranges
  for (const FileField& slot : field.entries()) {
    const std::vector<JsonValue>& items = slot.value().items;
    if (!slot.value().is_list() || (items.size() != 2 && items.size() != 4) || !items[0].is_text())
      field.refuse(
          "must have slots [buffer, place], such as [\"output\", 3], or ranges [buffer, first, stride, "
          "count], not " +
          slot.value().describe());
    const Range range = read_range(slot, slot.value());
    if (items.size() == 2) {
      append_place(ranges, closed, range.buffer(), range.first, sizes_[index(range.buffer())]);
    } else {
      ranges.push_back(range);
      closed = ranges.size();
    }
  }
  return ranges;
}

Range RankReader::read_range(const FileField& field, const JsonValue& slot) const {
  const Buffer buffer = read_buffer(field, slot.items[0].text);
  const std::uint32_t size = sizes_[index(buffer)];
  const auto number = [&](std::size_t i, const char* what, std::uint32_t least, std::uint32_t most) {
    const JsonValue& value = slot.items[i];
    if (value.kind != JsonValue::Kind::whole || value.whole < least || value.whole > most)
      field.refuse(fmt::format("has {} {} of {}; it must be from {} to {}", what, value.describe(),
                               name(buffer), least, most));
    return static_cast<std::uint32_t>(value.whole);
  };
  if (size == 0)
    field.refuse(
        fmt::format("names {}, which has no places on this rank{}", name(buffer),
                    buffer >= Buffer::shared ? "; state their number in the rank's \"places\"" : ""));
  const Place first = number(1, "place", 0, size - 1);
  if (slot.items.size() == 2) return Range(buffer, first);
  const std::uint32_t stride = number(2, "stride", 0, std::max(size - 1, 1u));
  return Range(buffer, first, number(3, "count", 1, size), stride);
}

}  // namespace convene::schedule
