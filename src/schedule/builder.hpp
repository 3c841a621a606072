// SPDX-License-Identifier: BSD-3-Clause
// The builder: takes steps in the order in which one would write them down and infers what depends on what
// from the slots that they touch. Nobody writes step numbers by hand.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "schedule/schedule.hpp"

namespace convene {

class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Starts a schedule. The builder may be used again and again; it keeps its working memory.
  void begin(Rank procs, Rank rank);

  /// Declares a buffer's number of places (each buffer once, before any step touches it).
  void buffer(Buffer buffer, std::uint32_t places);

  /// MPI_IN_PLACE: place i of `input` *is* place `first` + i of `output`. Call it after both are declared.
  void alias_input(Place first);

  /// Steps that follow belong to this round.
  void round(std::uint32_t label);

  // Steps. Places are taken modulo the buffer's number of places. An empty set of slots makes no step.
  void send(Rank peer, std::span<const Range> what, Transfer transfer = Transfer::automatic);
  void recv(Rank peer, std::span<const Range> where, Transfer transfer = Transfer::automatic);
  void copy(std::span<const Range> from, std::span<const Range> to);

  void send(Rank peer, const Range& what, Transfer transfer = Transfer::automatic);
  void recv(Rank peer, const Range& where, Transfer transfer = Transfer::automatic);
  void copy(const Range& from, const Range& to) { copy(std::span(&from, 1), std::span(&to, 1)); }
  void send(Rank peer, std::initializer_list<Range> what) {
    send(peer, std::span(what.begin(), what.size()));
  }
  void recv(Rank peer, std::initializer_list<Range> where) {
    recv(peer, std::span(where.begin(), where.size()));
  }

  /// From here on these places count as written together: what reads any of them waits for all. For places
  /// that many steps are going to read in ever different selections, which would otherwise need an edge for
  /// each pair.
  void join(const Range& written);

  /// Ends the schedule and hands it over.
  Schedule finish();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace convene
