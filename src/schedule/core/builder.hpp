// SPDX-License-Identifier: BSD-3-Clause
// The builder: takes steps in the order in which one would write them down and infers what depends on what
// from the slots that they touch. Nobody writes step numbers by hand.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "schedule/core/schedule.hpp"
#include "schedule/core/subschedule.hpp"

namespace convene::schedule {

class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Starts a schedule. The builder may be used again and again; it keeps its working memory.
  void begin(Rank procs, Rank rank);

  /// Declares the number of places of input or output (each once, before any step touches it).
  void buffer(Buffer buffer, std::uint32_t places);

  /// Declares the next scratch buffer: by place, the place of the collective's blocks whose size it has.
  Buffer scratch(std::span<const Place> like);

  /// Declares so many more places that all ranks of the (innermost) schedule share: Buffer::shared. Nothing stands in them
  /// at first. Before a rank reads what another one wrote there, or writes over what another one read, this one must have
  /// told it by a signal: a send of these places, in shared memory.
  void share(std::uint32_t places);

  /// MPI_IN_PLACE: place i of `alias` *is* place `first` + i of `of`. Call it after both are declared.
  void alias(Buffer alias, Buffer of, Place first);

  /// All messages carry nothing and are sent all the same.
  void sends_empty_messages();

  /// Steps that follow belong to this round.
  void round(std::uint32_t label);
  /// How many rounds there are so far: the label of the next one behind all.
  std::uint32_t rounds() const;

  /// Until leave(), steps, rounds and scratch buffers are those of an inner schedule. Views may be nested.
  void enter(Embedding view);
  void leave();

  /// Whether two sets of slots of the innermost schedule are the same places, in the same order.
  bool are_same(std::span<const Range> one, std::span<const Range> other) const;

  // Steps. Places are taken modulo the buffer's number of places. An empty set of slots makes no step.
  void send(Rank peer, std::span<const Range> what, Transfer transfer = Transfer::automatic);
  void recv(Rank peer, std::span<const Range> where, Transfer transfer = Transfer::automatic);
  void copy(std::span<const Range> from, std::span<const Range> to);
  /// right = left ∘ right. Reads both, writes the right one.
  void combine(std::span<const Range> left, std::span<const Range> right);

  void send(Rank peer, Range what, Transfer transfer = Transfer::automatic);
  void recv(Rank peer, Range where, Transfer transfer = Transfer::automatic);
  void copy(Range from, Range to);
  void combine(Range left, Range right);
  void send(Rank peer, std::initializer_list<Range> what) {
    send(peer, std::span(what.begin(), what.size()));
  }
  void recv(Rank peer, std::initializer_list<Range> where) {
    recv(peer, std::span(where.begin(), where.size()));
  }

  /// From here on these places count as written together: what reads any of them waits for all. For places
  /// that many steps are going to read in ever different selections, which would otherwise need an edge for
  /// each pair; and to hold a step back until a place that it does not touch is written.
  void join(std::span<const Range> written);
  void join(const Range& written) { join(std::span(&written, 1)); }
  void join(std::initializer_list<Range> written) { join(std::span(written.begin(), written.size())); }

  /// Ends the schedule and hands it over.
  Schedule finish();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace convene::schedule
