// SPDX-License-Identifier: BSD-3-Clause
#include "execute/message.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

#include "base/stream_copy.hpp"

namespace convene::execute {
namespace {

/// Whether it is clear at a glance that a range is consecutive bytes.
bool is_one_piece(const Range& range, const Memory& memory, std::uint32_t places) {
  return range.count() == 1 ||
         (memory.is_uniform() && range.stride == 1 && range.first + range.count() <= places);
}

Piece one_piece(const Range& range, const Memory& memory) {
  Piece piece = memory.place(range.first);
  piece.bytes *= range.count();
  return piece;
}

/// Calls visit(piece) for the bytes of the ranges, in order; neighbouring places come as one piece, empty ones not at all.
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

/// A message of more bytes than an int counts, or of many pieces: a datatype with absolute addresses.
class TypeOfPieces {
 public:
  /// For at most so many pieces.
  TypeOfPieces(std::size_t pieces, Arena& arena)
      : lengths_(arena.take_array<int>(2 * pieces)),
        addresses_(arena.take_array<MPI_Aint>(2 * pieces)),
        types_(arena.take_array<MPI_Datatype>(2 * pieces)) {}

  void add(const Piece& piece) {
    const std::size_t chunks = piece.bytes / chunk, rest = piece.bytes % chunk;
    if (chunks > 0) entry(piece.at, chunks, chunk_type());
    if (rest > 0) entry(piece.at + chunks * chunk, rest, MPI_BYTE);
  }

  MPI_Datatype make() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    pmpi.Type_create_struct(entries_, lengths_, addresses_, types_, &type);
    pmpi.Type_commit(&type);
    if (chunk_type_ != MPI_DATATYPE_NULL) pmpi.Type_free(&chunk_type_);
    return type;
  }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 30;

  void entry(std::byte* at, std::size_t length, MPI_Datatype type) {
    lengths_[entries_] = static_cast<int>(length);
    addresses_[entries_] = reinterpret_cast<MPI_Aint>(at);
    types_[entries_++] = type;
  }

  MPI_Datatype chunk_type() {
    if (chunk_type_ == MPI_DATATYPE_NULL)
      pmpi.Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &chunk_type_);
    return chunk_type_;
  }

  MPI_Datatype chunk_type_ = MPI_DATATYPE_NULL;
  int entries_ = 0;  // a piece takes two where it is longer than an int counts
  int* lengths_;
  MPI_Aint* addresses_;
  MPI_Datatype* types_;
};

/// What a look at a message's pieces shows.
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

bool needs_packing(const Outline& outline, Transfer transfer, const Arena& arena) {
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
    const std::span<const Place> like = schedule.sized_like(scratch(k));
    if (buffers.blocks.is_uniform()) {
      const std::size_t bytes = buffers.blocks.place(0).bytes;
      memories[k] = Memory::uniform(arena.take(bytes * like.size()), bytes);
      continue;
    }
    auto* sizes = arena.take_array<MPI_Count>(like.size());
    auto* at = arena.take_array<MPI_Aint>(like.size());
    std::size_t total = 0;
    for (std::size_t i = 0; i < like.size(); ++i) {
      const std::size_t bytes = buffers.blocks.place(like[i]).bytes;
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

namespace {

Message message_of(const Piece& piece) {
  Message message;
  message.buffer = piece.at;
  message.count = static_cast<int>(piece.bytes);
  message.type = MPI_BYTE;
  return message;
}

Message message_of_type(TypeOfPieces& pieces) {
  Message message;
  message.buffer = MPI_BOTTOM;
  message.count = 1;
  message.type = pieces.make();
  message.owns_type = true;
  return message;
}

/// A run of bytes of any length.
Message message_of_run(const Piece& piece, Arena& arena) {
  if (piece.bytes <= INT_MAX) return message_of(piece);
  TypeOfPieces large(1, arena);
  large.add(piece);
  return message_of_type(large);
}

/// A message through staging: packed now if it is to be sent.
Message staged_message(const Schedule& schedule, StepId id, std::size_t bytes, const Buffers& buffers,
                       Arena& arena) {
  const Piece staging{arena.take_staging(bytes), bytes};
  if (schedule[id].kind == StepKind::send) {
    std::byte* to = staging.at;
    for_each_piece(schedule.ranges(id), schedule, buffers, [&](const Piece& piece) {
      std::memcpy(to, piece.at, piece.bytes);
      to += piece.bytes;
    });
  }
  Message message = message_of_run(staging, arena);
  message.staging = staging.at;
  return message;
}

}  // namespace

Message make_message(const Schedule& schedule, StepId id, const Buffers& buffers, Arena& arena) {
  const std::span<const Range> ranges = schedule.ranges(id);
  const Outline seen = outline(ranges, schedule, buffers);
  if (seen.bytes == 0) return message_of({});
  if (needs_packing(seen, schedule[id].transfer, arena))
    return staged_message(schedule, id, seen.bytes, buffers, arena);
  if (seen.pieces == 1) return message_of_run(seen.first, arena);
  TypeOfPieces pieces(seen.pieces, arena);
  for_each_piece(ranges, schedule, buffers, [&](const Piece& piece) { pieces.add(piece); });
  return message_of_type(pieces);
}

int start_message(const Schedule& schedule, StepId id, const Buffers& buffers, MPI_Comm comm, int tag,
                  Arena& arena, MPI_Request* request, std::byte** staging) {
  const Step& step = schedule[id];
  const Message message = make_message(schedule, id, buffers, arena);
  *request = MPI_REQUEST_NULL;
  *staging = nullptr;
  if (message.is_empty() && !schedule.sends_empty_messages()) return MPI_SUCCESS;
  const int peer = static_cast<int>(step.peer);
  int code;
  if (step.kind == StepKind::send) {
    code = pmpi.Isend(message.buffer, message.count, message.type, peer, tag, comm, request);
  } else {
    *staging = message.staging;
    code = pmpi.Irecv(message.buffer, message.count, message.type, peer, tag, comm, request);
  }
  if (message.owns_type) {
    MPI_Datatype type = message.type;  // freed now, gone when the message is
    pmpi.Type_free(&type);
  }
  return code;
}

int error_in(const MPI_Status* statuses, int count, int code) {
  const MPI_Status* const end = statuses + count;
  const MPI_Status* const failed = std::find_if(statuses, end, [](const MPI_Status& status) {
    return status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING;
  });
  return failed == end ? code : failed->MPI_ERROR;
}

void abandon(MPI_Request* requests, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    pmpi.Cancel(&requests[i]);
    pmpi.Request_free(&requests[i]);
  }
}

void unpack(const Schedule& schedule, StepId step, const Buffers& buffers, const std::byte* staging) {
  for_each_piece(schedule.ranges(step), schedule, buffers, [&](const Piece& piece) {
    std::memcpy(piece.at, staging, piece.bytes);
    staging += piece.bytes;
  });
}

namespace {

/// Goes through the places of some ranges, one by one.
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

/// Calls act(from, to) for all bytes of a copy or combine: once where both sides are one run, else place by place.
template <class Opcode>
int for_each_pair(const Schedule& schedule, StepId step, const Buffers& buffers, Opcode&& act) {
  const auto from = schedule.from(step), to = schedule.to(step);
  const auto source = one_run(from, schedule, buffers), target = one_run(to, schedule, buffers);
  if (source && target && source->bytes == target->bytes) return act(*source, *target);
  Places sources(from, schedule, buffers), targets(to, schedule, buffers);  // alike place by place
  int code = MPI_SUCCESS;
  for (auto piece = sources.next(), place = targets.next(); piece && place && code == MPI_SUCCESS;
       piece = sources.next(), place = targets.next())
    code = act(*piece, *place);
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
