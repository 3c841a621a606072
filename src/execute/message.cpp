// SPDX-License-Identifier: BSD-3-Clause
#include "execute/message.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <optional>

#include "base/stream_copy.hpp"

namespace convene::execute {
namespace {

/// True if a range is contiguous bytes, judged without its places. (May be false for a contiguous one.)
bool is_one_piece(const Range& range, const Memory& memory, std::uint32_t places) {
  return range.count() == 1 ||
         (memory.is_uniform() && range.stride == 1 && range.first + range.count() <= places);
}

Piece one_piece(const Range& range, const Memory& memory) {
  Piece piece = memory.place(range.first);
  piece.bytes *= range.count();
  return piece;
}

/// Calls visit(piece) for the bytes of the ranges, in order. Adjacent places are one piece, empty ones are
/// skipped.
template <class Visit>
void for_each_piece(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers,
                    Visit&& visit) {
  Piece run;
  const auto add = [&](const Piece& piece) {
    if (piece.bytes == 0) return;
    if (run.at + run.bytes == piece.at && run.bytes > 0) {
      run.bytes += piece.bytes;
      return;
    }
    if (run.bytes > 0) visit(run);
    run = piece;
  };
  for (const Range& range : ranges) {
    const Memory& memory = buffers[range.buffer()];
    const std::uint32_t places = schedule.places(range.buffer());
    if (is_one_piece(range, memory, places))
      add(one_piece(range, memory));
    else
      for_each_place(range, places, [&](Place place) { add(memory.place(place)); });
  }
  if (run.bytes > 0) visit(run);
}

/// Summary of a message's pieces.
struct Outline {
  Piece first;
  std::size_t pieces = 0, bytes = 0;
};

Outline outline(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers) {
  Outline result;
  for_each_piece(ranges, schedule, buffers, [&](const Piece& piece) {
    if (result.pieces++ == 0) result.first = piece;
    result.bytes += piece.bytes;
  });
  return result;
}

bool needs_packing(const Outline& outline, Transfer transfer, std::size_t pack_below, const Arena& arena) {
  if (outline.pieces < 2) return false;
  if (arena.stages_elsewhere()) return true;
  if (transfer != Transfer::automatic) return transfer == Transfer::packed;
  return outline.bytes < pack_below && arena.taken() + outline.bytes <= most_packed;
}

}  // namespace

void bind_scratch(const Schedule& schedule, Buffers& buffers, Arena& arena) {
  constexpr unsigned first = index(Buffer::scratch);
  if (schedule.buffers() <= first) return;
  const unsigned count = schedule.buffers() - first;
  auto* memories = new (arena.take(count * sizeof(Memory))) Memory[count];
  for (unsigned k = 0; k < count; ++k) {
    const std::span<const Place> sized_like = schedule.sized_like(scratch(k));
    if (buffers.blocks.is_uniform()) {
      const std::size_t bytes = buffers.blocks.place(0).bytes;
      memories[k] = Memory::uniform(arena.take(bytes * sized_like.size()), bytes);
      continue;
    }
    auto* sizes = arena.take_array<MPI_Count>(sized_like.size());
    auto* at = arena.take_array<MPI_Aint>(sized_like.size());
    std::size_t total = 0;
    for (std::size_t i = 0; i < sized_like.size(); ++i) {
      const std::size_t bytes = buffers.blocks.place(sized_like[i]).bytes;
      sizes[i] = static_cast<MPI_Count>(bytes);
      at[i] = static_cast<MPI_Aint>(total);
      total += bytes;
    }
    memories[k] = Memory::irregular(arena.take(total), sizes, at, 1, 1, 1);
  }
  buffers.scratch = memories;
}

std::optional<Piece> one_run(std::span<const Range> ranges, const Schedule& schedule,
                             const Buffers& buffers) {
  const Outline seen = outline(ranges, schedule, buffers);
  if (seen.pieces > 1) return std::nullopt;
  return seen.first;
}

std::size_t bytes_of(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers) {
  return outline(ranges, schedule, buffers).bytes;
}

Piece extent_of(const Memory& memory, std::uint32_t places) {
  std::byte *begin = nullptr, *end = nullptr;
  for (Place place = 0; place < places; ++place) {
    const Piece piece = memory.place(place);
    if (piece.bytes == 0) continue;
    begin = end ? std::min(begin, piece.at) : piece.at;
    end = end ? std::max(end, piece.at + piece.bytes) : piece.at + piece.bytes;
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

namespace {

/// A run of any length. One post takes at most INT_MAX bytes.
void set_run(const Piece& run, Message& message, Arena& arena) {
  if (run.bytes <= INT_MAX)
    message.run = run;
  else
    message.pieces = {new (arena.take(sizeof(Piece))) Piece(run), 1};
}

/// A message through staging: a send is packed now.
Message staged_message(const Schedule& schedule, StepId id, std::size_t bytes, const Buffers& buffers,
                       Arena& arena) {
  Message message;
  message.staging = arena.take_staging(bytes);
  if (schedule[id].kind == StepKind::send) {
    std::byte* to = message.staging;
    for_each_piece(schedule.ranges(id), schedule, buffers, [&](const Piece& piece) {
      std::memcpy(to, piece.at, piece.bytes);
      to += piece.bytes;
    });
  }
  set_run({message.staging, bytes}, message, arena);
  return message;
}

}  // namespace

Message make_message(const Schedule& schedule, StepId id, const Buffers& buffers, std::size_t pack_below,
                     Arena& arena) {
  const std::span<const Range> ranges = schedule.ranges(id);
  const Outline seen = outline(ranges, schedule, buffers);
  Message message;
  if (seen.bytes == 0) return message;
  if (needs_packing(seen, schedule[id].transfer, pack_below, arena))
    return staged_message(schedule, id, seen.bytes, buffers, arena);
  if (seen.pieces == 1) {
    set_run(seen.first, message, arena);
    return message;
  }
  auto* const pieces = arena.take_array<Piece>(seen.pieces);
  std::size_t next = 0;
  for_each_piece(ranges, schedule, buffers, [&](const Piece& piece) { new (&pieces[next++]) Piece(piece); });
  message.pieces = {pieces, next};
  return message;
}

void unpack(const Schedule& schedule, StepId step, const Buffers& buffers, const std::byte* staging) {
  for_each_piece(schedule.ranges(step), schedule, buffers, [&](const Piece& piece) {
    std::memcpy(piece.at, staging, piece.bytes);
    staging += piece.bytes;
  });
}

namespace {

/// The places of some ranges, one by one.
class Places {
 public:
  Places(std::span<const Range> ranges, const Schedule& schedule, const Buffers& buffers)
      : ranges_(ranges), schedule_(schedule), buffers_(buffers) {}

  std::optional<Piece> next() {
    if (done_ == count()) {
      ranges_ = ranges_.empty() ? ranges_ : ranges_.subspan(1);
      done_ = 0;
    }
    if (ranges_.empty()) return std::nullopt;
    const Range& range = ranges_[0];
    const std::uint32_t places = schedule_.places(range.buffer());
    place_ = done_ == 0 ? range.first : place_ + range.stride;
    if (place_ >= places) place_ -= places;
    ++done_;
    return buffers_[range.buffer()].place(place_);
  }

 private:
  std::uint32_t count() const { return ranges_.empty() ? 0 : ranges_[0].count(); }

  std::span<const Range> ranges_;
  const Schedule& schedule_;
  const Buffers& buffers_;
  std::uint32_t done_ = 0;  // of the first range
  Place place_ = 0;
};

int copy(const Piece& from, const Piece& to) {
  const std::size_t bytes = std::min(from.bytes, to.bytes);
  if (bytes == 0 || from.at == to.at) return MPI_SUCCESS;
  const bool are_apart = to.at + bytes <= from.at || from.at + bytes <= to.at;
  if (are_apart)
    copy_bytes(to.at, from.at, bytes);
  else
    std::memmove(to.at, from.at, bytes);
  return MPI_SUCCESS;
}

/// Calls act(from, to) for all bytes of a copy or combine: once if both sides are one run, else place by
/// place.
template <class Function>
int for_each_pair(const Schedule& schedule, StepId step, const Buffers& buffers, Function&& function) {
  const auto from = schedule.from(step), to = schedule.to(step);
  const auto source = one_run(from, schedule, buffers), target = one_run(to, schedule, buffers);
  if (source && target && source->bytes == target->bytes) return function(*source, *target);
  Places sources(from, schedule, buffers), targets(to, schedule, buffers);  // place by place
  int code = MPI_SUCCESS;
  for (auto piece = sources.next(), place = targets.next(); piece && place && code == MPI_SUCCESS;
       piece = sources.next(), place = targets.next())
    code = function(*piece, *place);
  return code;
}

}  // namespace

void copy_slots(const Schedule& schedule, StepId step, const Buffers& buffers) {
  for_each_pair(schedule, step, buffers, copy);
}

int combine_slots(const Schedule& schedule, StepId step, const Buffers& buffers, const Operator& op) {
  return for_each_pair(schedule, step, buffers, [&](const Piece& left, const Piece& right) {
    return op(left.at, right.at, std::min(left.bytes, right.bytes));
  });
}

}  // namespace convene::execute
