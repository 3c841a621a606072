// SPDX-License-Identifier: BSD-3-Clause
#include "execute/message.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

namespace convene {
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
  void add(const Piece& piece) {
    const std::size_t chunks = piece.bytes / chunk, rest = piece.bytes % chunk;
    if (chunks > 0) entry(piece.at, chunks, chunk_type());
    if (rest > 0) entry(piece.at + chunks * chunk, rest, MPI_BYTE);
  }

  MPI_Datatype make() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi.Type_create_struct(static_cast<int>(types_.size()), lengths_.data(), addresses_.data(), types_.data(),
                           &type);
    mpi.Type_commit(&type);
    if (chunk_type_ != MPI_DATATYPE_NULL) mpi.Type_free(&chunk_type_);
    return type;
  }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 30;

  void entry(std::byte* at, std::size_t length, MPI_Datatype type) {
    lengths_.push_back(static_cast<int>(length));
    addresses_.push_back(reinterpret_cast<MPI_Aint>(at));
    types_.push_back(type);
  }

  MPI_Datatype chunk_type() {
    if (chunk_type_ == MPI_DATATYPE_NULL)
      mpi.Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &chunk_type_);
    return chunk_type_;
  }

  MPI_Datatype chunk_type_ = MPI_DATATYPE_NULL;
  std::vector<int> lengths_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Datatype> types_;
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

bool needs_packing(const Outline& outline, Transfer transfer) {
  if (outline.pieces < 2 || transfer == Transfer::datatype) return false;
  return transfer == Transfer::packed || outline.bytes < pack_below;
}

}  // namespace

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
Message message_of_run(const Piece& piece) {
  if (piece.bytes <= INT_MAX) return message_of(piece);
  TypeOfPieces large;
  large.add(piece);
  return message_of_type(large);
}

/// A message through staging: packed now if it is to be sent.
Message staged_message(const Schedule& schedule, StepId id, std::size_t bytes, const Buffers& buffers,
                       Arena& arena) {
  const Piece staging{arena.take(bytes), bytes};
  if (schedule[id].kind == StepKind::send) {
    std::byte* to = staging.at;
    for_each_piece(schedule.ranges(id), schedule, buffers, [&](const Piece& piece) {
      std::memcpy(to, piece.at, piece.bytes);
      to += piece.bytes;
    });
  }
  Message message = message_of_run(staging);
  message.staging = staging.at;
  return message;
}

}  // namespace

Message make_message(const Schedule& schedule, StepId id, const Buffers& buffers, Arena& arena) {
  const std::span<const Range> ranges = schedule.ranges(id);
  const Outline seen = outline(ranges, schedule, buffers);
  if (seen.bytes == 0) return {};
  if (needs_packing(seen, schedule[id].transfer))
    return staged_message(schedule, id, seen.bytes, buffers, arena);
  if (seen.pieces == 1) return message_of_run(seen.first);
  TypeOfPieces pieces;
  for_each_piece(ranges, schedule, buffers, [&](const Piece& piece) { pieces.add(piece); });
  return message_of_type(pieces);
}

void unpack(const Schedule& schedule, StepId step, const Buffers& buffers, const std::byte* staging) {
  for_each_piece(schedule.ranges(step), schedule, buffers, [&](const Piece& piece) {
    std::memcpy(piece.at, staging, piece.bytes);
    staging += piece.bytes;
  });
}

void copy_slots(const Schedule& schedule, StepId step, const Buffers& buffers) {
  // Sizes agree place by place, but source and target may be cut differently where they are contiguous.
  const auto from = schedule.from(step), to = schedule.to(step);
  if (from.size() == 1 && to.size() == 1 && from[0].count() == 1) {
    const Piece source = buffers[from[0].buffer()].place(from[0].first);
    const Piece target = buffers[to[0].buffer()].place(to[0].first);
    if (source.at != target.at) std::memcpy(target.at, source.at, std::min(source.bytes, target.bytes));
    return;
  }
  std::vector<Piece> sources;
  for_each_piece(from, schedule, buffers, [&](const Piece& piece) { sources.push_back(piece); });
  auto source = sources.begin();
  for_each_piece(to, schedule, buffers, [&](Piece target) {
    while (target.bytes > 0 && source != sources.end()) {
      const std::size_t bytes = std::min(source->bytes, target.bytes);
      std::memmove(target.at, source->at, bytes);
      target = {target.at + bytes, target.bytes - bytes};
      *source = {source->at + bytes, source->bytes - bytes};
      if (source->bytes == 0) ++source;
    }
  });
}

}  // namespace convene
