// SPDX-License-Identifier: BSD-3-Clause
// Timed operations. Each body is run by all ranks of the operation's group, in step, and returns seconds per
// call on the ranks whose clock is used, 0 on the others.
//
//   round_trip      a message and its answer (RTT)
//   synchronous     one MPI_Ssend (τ-Lop's Ping, (7.3))
//   ring            MPI_Sendrecv around a ring of τ ranks (τ-Lop's Ring_τ, (7.4))
//   cross           τ ranks of one node send to τ of another, then back; half of the time (τ-Lop's Ring_τ
//                   between nodes, (7.6))
//   exchange        τ ranks of one node and τ of another, in pairs that MPI_Sendrecv with each other (L_sr)
//   shared          τ ranks copy data that another one has written into shared memory, piece by piece (L_c)
//   burst           n messages, a pause between them, and one answer: PRTT(n, d, s) (Hoefler et al. 2007)
//   send            one MPI_Send, until it returns (Kielmann's o_s)
//   receive         one MPI_Recv of a message that arrived long before (Kielmann's o_r)
//   sends, receives n of them in a row, each
//   copy, combine   memcpy, and MPI_Reduce_local of doubles by MPI_SUM, on τ ranks at a time
//   packing         MPI_Pack of every other double of an array
//   collective      one of Convene's algorithms, all ranks starting together
#pragma once

#include <mpi.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/stream_copy.hpp"
#include "convene/convene.h"
#include "measure_layout.hpp"

namespace convene::measure {

struct Operation {
  std::string name, channel;
  std::vector<int> ranks;
  int tau = 1;       ///< number of ranks that do the same at the same time
  int messages = 1;  ///< in a row
  double delay = 0;  ///< seconds between them; `receive`, `receives`: before the receive, determined by a
                     ///< scouting run
  std::string algorithm;
  std::vector<std::size_t> sizes;
  char* shared = nullptr;  ///< memory shared by all its ranks
  std::size_t spans = 1;   ///< a call uses this multiple of its size as memory
  MPI_Comm comm = MPI_COMM_NULL;

  std::function<double(const Operation&, Buffers&, std::size_t bytes, int calls, double delay)> body;

  int place() const {
    int found = 0;
    MPI_Comm_rank(comm, &found);
    return found;
  }
};

constexpr int data_tag = 1, answer_tag = 2;

inline void send(const Operation& op, Buffers& buffers, std::size_t bytes, int to, int tag = data_tag) {
  MPI_Send(buffers.from(), static_cast<int>(bytes), MPI_BYTE, to, tag, op.comm);
}
inline void recv(const Operation& op, Buffers& buffers, std::size_t bytes, int from, int tag = data_tag) {
  MPI_Recv(buffers.to(), static_cast<int>(bytes), MPI_BYTE, from, tag, op.comm, MPI_STATUS_IGNORE);
}

inline double round_trip(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const bool first = op.place() == 0;
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(bytes)) {
    if (first) send(op, buffers, bytes, 1);
    recv(op, buffers, bytes, first ? 1 : 0);
    if (!first) send(op, buffers, bytes, 0);
  }
  return first ? (now() - start) / calls : 0;
}

inline double synchronous(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const bool first = op.place() == 0;
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(bytes)) {
    if (first)
      MPI_Ssend(buffers.from(), static_cast<int>(bytes), MPI_BYTE, 1, data_tag, op.comm);
    else
      recv(op, buffers, bytes, 0);
  }
  return first ? (now() - start) / calls : 0;
}

inline double ring(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const int place = op.place(), right = (place + 1) % op.tau, left = (place + op.tau - 1) % op.tau;
  const int count = static_cast<int>(bytes);
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(bytes))
    MPI_Sendrecv(buffers.from(), count, MPI_BYTE, right, data_tag, buffers.to(), count, MPI_BYTE, left,
                 data_tag, op.comm, MPI_STATUS_IGNORE);
  return (now() - start) / calls;
}

/// The group's first half is on one node, the second on the other.
inline double cross(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const int place = op.place();
  const bool first = place < op.tau;
  const int other = first ? place + op.tau : place - op.tau;
  double took = 0;
  for (int call = 0; call < calls; ++call, buffers.next(bytes)) {
    // Pairs that drift apart would send in different directions at the same time.
    if (op.tau > 1) MPI_Barrier(op.comm);
    const double start = now();
    if (first) send(op, buffers, bytes, other);
    recv(op, buffers, bytes, other);
    if (!first) send(op, buffers, bytes, other);
    took += now() - start;
  }
  return took / calls / 2;
}

/// The pairs of cross(), in both directions at a time.
inline double exchange(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const int place = op.place(), other = place < op.tau ? place + op.tau : place - op.tau;
  const int count = static_cast<int>(bytes);
  double took = 0;
  for (int call = 0; call < calls; ++call, buffers.next(bytes)) {
    if (op.tau > 1) MPI_Barrier(op.comm);
    const double start = now();
    MPI_Sendrecv(buffers.from(), count, MPI_BYTE, other, data_tag, buffers.to(), count, MPI_BYTE, other,
                 data_tag, op.comm, MPI_STATUS_IGNORE);
    took += now() - start;
  }
  return took / calls;
}

/// The first rank writes, all others read; the slower side determines the result. Pieces follow each other
/// like segments: a short copy starts while the one before is still in progress. Stores are non-temporal, as
/// in the first calls of a program.
inline double shared(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const bool writes = op.place() == 0;
  double took = 0;
  for (int call = 0; call < calls; ++call, buffers.next(op.spans * bytes)) {
    double start = now();
    for (std::size_t at = 0; writes && at < op.spans * bytes; at += bytes)
      copy_into_shared(op.shared + at, buffers.from() + at, bytes, true);
    if (writes) took += now() - start;
    MPI_Barrier(op.comm);
    start = now();
    for (std::size_t at = 0; !writes && at < op.spans * bytes; at += bytes)
      copy_bytes(buffers.to() + at, op.shared + at, bytes);
    if (!writes) took += now() - start;
    MPI_Barrier(op.comm);
  }
  return took / calls / static_cast<double>(op.spans);
}

inline double burst(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double delay) {
  const bool first = op.place() == 0;
  const double start = now();
  for (int call = 0; call < calls; ++call) {
    for (int message = 0; message < op.messages; ++message, buffers.next(bytes)) {
      if (!first) {
        recv(op, buffers, bytes, 0);
        continue;
      }
      if (message > 0 && delay > 0) pause(delay);
      send(op, buffers, bytes, 1);
    }
    if (first)
      recv(op, buffers, bytes, 1, answer_tag);
    else
      send(op, buffers, bytes, 0, answer_tag);
  }
  return first ? (now() - start) / calls : 0;
}

/// `send` and `sends`: seconds for each message.
inline double sends(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const bool first = op.place() == 0;
  double took = 0;
  for (int call = 0; call < calls; ++call) {
    const double start = now();
    for (int message = 0; message < op.messages; ++message, buffers.next(bytes)) {
      if (first)
        send(op, buffers, bytes, 1);
      else
        recv(op, buffers, bytes, 0);
    }
    took += now() - start;
    if (first)
      recv(op, buffers, 0, 1, answer_tag);
    else
      send(op, buffers, 0, 0, answer_tag);
  }
  return first ? took / calls / op.messages : 0;
}

/// `receive` and `receives`: seconds for each message.
inline double receives(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double delay) {
  const bool first = op.place() == 0;
  double took = 0;
  for (int call = 0; call < calls; ++call) {
    if (first) {
      send(op, buffers, 0, 1, answer_tag);
      pause(delay);
    } else {
      recv(op, buffers, 0, 0, answer_tag);
    }
    const double start = now();
    for (int message = 0; message < op.messages; ++message, buffers.next(bytes)) {
      if (first)
        recv(op, buffers, bytes, 1);
      else
        send(op, buffers, bytes, 0);
    }
    took += now() - start;
  }
  return first ? took / calls / op.messages : 0;
}

inline double copy(const Operation&, Buffers& buffers, std::size_t bytes, int calls, double) {
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(bytes)) {
    std::memcpy(buffers.to(), buffers.from(), bytes);
    asm volatile("" ::: "memory");  // every copy is made
  }
  return (now() - start) / calls;
}

inline double combine(const Operation&, Buffers& buffers, std::size_t bytes, int calls, double) {
  const int count = static_cast<int>(bytes / sizeof(double));
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(bytes))
    MPI_Reduce_local(buffers.from(), buffers.to(), count, MPI_DOUBLE, MPI_SUM);
  return (now() - start) / calls;
}

/// Every other double of twice as many bytes, which `from` must have.
inline double packing(const Operation&, Buffers& buffers, std::size_t bytes, int calls, double) {
  MPI_Datatype every_other;
  MPI_Type_vector(static_cast<int>(bytes / sizeof(double)), 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_commit(&every_other);
  const double start = now();
  for (int call = 0; call < calls; ++call, buffers.next(2 * bytes)) {
    int position = 0;
    MPI_Pack(buffers.from(), 1, every_other, buffers.to(), static_cast<int>(bytes), &position, MPI_COMM_SELF);
  }
  const double took = (now() - start) / calls;
  MPI_Type_free(&every_other);
  return took;
}

inline int call_collective(const std::string& name, MPI_Comm comm, Buffers& buffers, int bytes) {
  char *from = buffers.from(), *to = buffers.to();
  if (name == "allgather") return convene_allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
  if (name == "alltoall") return convene_alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
  if (name == "bcast") return convene_bcast(to, bytes, MPI_BYTE, 0, comm);
  if (name == "gather") return convene_gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
  if (name == "reduce")
    return convene_reduce(from, to, bytes / static_cast<int>(sizeof(double)), MPI_DOUBLE, MPI_SUM, 0, comm);
  return convene_scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
}

/// The name before the '='.
inline std::string collective_of(const std::string& algorithm) {
  return algorithm.substr(0, algorithm.find('='));
}

/// Every call starts with all ranks in step: a broadcast's root must not run ahead into the next one.
inline double collective(const Operation& op, Buffers& buffers, std::size_t bytes, int calls, double) {
  const std::string name = collective_of(op.algorithm);
  double took = 0;
  for (int call = 0; call < calls; ++call, buffers.next(bytes * op.ranks.size())) {
    MPI_Barrier(op.comm);
    MPI_Barrier(op.comm);
    const double start = now();
    call_collective(name, op.comm, buffers, static_cast<int>(bytes));
    took += now() - start;
  }
  return took / calls;
}

}  // namespace convene::measure
