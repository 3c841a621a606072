// SPDX-License-Identifier: BSD-3-Clause
// The builder: makes a schedule from steps in program order. It infers dependencies from the slots that steps
// touch, numbers messages, and embeds schedules in others (composition).
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

  /// Starts a schedule. A builder can be reused; it keeps its working memory.
  void begin(Rank procs, Rank rank);

  /// Declares the number of places of input or output, once each, before any step touches them.
  void buffer(Buffer buffer, std::uint32_t places);

  /// Declares the next scratch buffer: by place, the place of the collective's blocks whose size it has.
  Buffer scratch(std::span<const Place> like);

  /// Declares more places of Buffer::shared, which all ranks of the innermost schedule share. They hold
  /// nothing at first. Before a rank reads what another one wrote there, or overwrites what another one read,
  /// it must receive a signal from that rank: a send of these places.
  void share(std::uint32_t places);

  /// Declares the places that all ranks of this one's node share, for a schedule in which groups of them
  /// share some at the same time: share() then takes places from these. `first` is the lowest rank of the
  /// node.
  void share_on_node(Rank first, std::uint32_t places);
  bool shares_on_node() const;
  /// After share_on_node(): the next share() takes places from this one on, counted within the places of the
  /// innermost schedule, which begin where share_from() was before it was entered.
  void share_from(std::uint64_t first);

  /// MPI_IN_PLACE: place i of `alias` is place `first` + i of `of`. Call it after both are declared.
  void alias(Buffer alias, Buffer of, Place first);

  /// Makes all messages zero-byte messages that are sent nevertheless, as in a barrier.
  void sends_empty_messages();

  /// Sets the round of the steps that follow.
  void round(std::uint32_t label);
  /// The number of rounds so far: the label of a new last one.
  std::uint32_t rounds() const;

  /// Makes each message of this rank wait for its messages of earlier rounds, until the innermost schedule
  /// ends. Rounds must not fall from here on, and no schedule can be embedded.
  void pace_rounds();

  /// Until leave(), steps, rounds and scratch buffers are those of an inner schedule. Embeddings may be
  /// nested.
  void enter(Embedding embedding);
  void leave();

  /// True if two sets of slots of the innermost schedule are the same places, in the same order.
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

  /// Treats these places as written together: a later reader of any of them depends on the writers of all. It
  /// saves edges where many steps read ever different selections of the places, but it delays a step until
  /// places that it does not touch are written.
  void join(std::span<const Range> written);
  void join(const Range& written) { join(std::span(&written, 1)); }
  void join(std::initializer_list<Range> written) { join(std::span(written.begin(), written.size())); }

  /// Ends the schedule and returns it.
  Schedule finish();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace convene::schedule
