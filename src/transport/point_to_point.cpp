// SPDX-License-Identifier: BSD-3-Clause
#include "transport/point_to_point.hpp"

#include <algorithm>

namespace convene::transport {
namespace {

/// Datatype of several pieces, with absolute addresses. A piece longer than INT_MAX bytes takes two entries.
class TypeOfPieces {
 public:
  TypeOfPieces(std::span<const Piece> pieces, Arena& arena)
      : lengths_(arena.take_array<int>(2 * pieces.size())),
        addresses_(arena.take_array<MPI_Aint>(2 * pieces.size())),
        types_(arena.take_array<MPI_Datatype>(2 * pieces.size())) {
    for (const Piece& piece : pieces) add(piece);
    code_ = pmpi.Type_create_struct(entries_, lengths_, addresses_, types_, &type_);
    if (code_ == MPI_SUCCESS) code_ = pmpi.Type_commit(&type_);
    if (chunk_type_ != MPI_DATATYPE_NULL) pmpi.Type_free(&chunk_type_);
  }
  /// The MPI keeps the type until its messages are complete.
  ~TypeOfPieces() {
    if (type_ != MPI_DATATYPE_NULL) pmpi.Type_free(&type_);
  }
  TypeOfPieces(const TypeOfPieces&) = delete;
  TypeOfPieces& operator=(const TypeOfPieces&) = delete;

  int code() const { return code_; }
  MPI_Datatype type() const { return type_; }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 30;

  void add(const Piece& piece) {
    const std::size_t chunks = piece.bytes / chunk, rest = piece.bytes % chunk;
    if (chunks > 0) entry(piece.at, chunks, chunk_type());
    if (rest > 0) entry(piece.at + chunks * chunk, rest, MPI_BYTE);
  }

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

  MPI_Datatype chunk_type_ = MPI_DATATYPE_NULL, type_ = MPI_DATATYPE_NULL;
  int code_ = MPI_SUCCESS, entries_ = 0;
  int* lengths_;
  MPI_Aint* addresses_;
  MPI_Datatype* types_;
};

}  // namespace

int PointToPoint::post_send_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                                   Handle* handle) const {
  const TypeOfPieces made(pieces, arena);
  if (made.code() != MPI_SUCCESS) return made.code();
  return pmpi.Isend(MPI_BOTTOM, 1, made.type(), peer, tag, comm_, handle);
}

int PointToPoint::post_receive_pieces(std::span<const Piece> pieces, int peer, int tag, Arena& arena,
                                      Handle* handle) const {
  const TypeOfPieces made(pieces, arena);
  if (made.code() != MPI_SUCCESS) return made.code();
  return pmpi.Irecv(MPI_BOTTOM, 1, made.type(), peer, tag, comm_, handle);
}

void PointToPoint::abandon(Handle* handles, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (handles[i] == none_) continue;
    pmpi.Cancel(&handles[i]);
    pmpi.Request_free(&handles[i]);
  }
}

int PointToPoint::error_in(const Status* statuses, int count, int code) {
  const Status* const end = statuses + count;
  const Status* const failed = std::find_if(statuses, end, [](const Status& status) {
    return status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING;
  });
  return failed == end ? code : failed->MPI_ERROR;
}

}  // namespace convene::transport
