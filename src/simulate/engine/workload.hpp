// SPDX-License-Identifier: BSD-3-Clause
// Where the player finds the ranks' steps: a plan, or one schedule that is relabelled for each rank, so that a million
// ranks need not be written out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::simulate {

/// How rank r's schedule comes from rank 0's: every peer p becomes p + r modulo P, or p xor r.
enum class Relabelling : std::uint8_t { rotation, exchange };

/// A step as the player needs it.
struct Move {
  Rank peer = 0;             ///< of rank 0, where the source is one schedule
  StepId partner = 0;        ///< the peer's step at the other end of the message
  double bytes = 0;          ///< sent, received or copied
  StepId edges = 0;          ///< its successor, where it has one; else where the list of them begins
  std::uint16_t degree = 0;  ///< how many they are; `most_degree`: the list begins with their number
  StepKind kind = StepKind::join;
  bool scattered : 1 = false;  ///< a message whose blocks do not lie one after the other
  bool own_input : 1 = false;  ///< uses the rank's input, which is there when the rank arrives
  bool left_out : 1 = false;   ///< a message without bytes that nobody sends

  static constexpr std::uint16_t most_degree = 0xffff;
};

class Source {
 public:
  /// How many bytes the ranges of a step of this schedule have together.
  using Bytes = std::function<double(const Schedule& schedule, std::span<const Range> ranges)>;

  /// Steps of all ranks. The plan must outlive the source. Throws Error where messages do not match.
  static Source of(const Plan& plan);
  /// Rank 0's steps, relabelled. The schedule must outlive the source. That all ranks' schedules are really one is the
  /// caller's claim; throws Error where rank 0's messages have no other end.
  static Source relabelled(const Schedule& schedule, Relabelling how);

  /// What becomes of messages without bytes: they are sent, or left out on both sides (as when schedules are executed).
  enum class Empty : std::uint8_t { sent, left_out };

  /// All places have this many bytes. Before this, or the other, all messages are empty.
  void set_bytes(double per_place);
  void set_bytes(const Bytes& bytes, Empty empty = Empty::sent);

  Rank procs() const { return procs_; }
  /// How many steps all ranks have together.
  std::uint64_t steps() const { return one_ ? std::uint64_t{procs_} * one_->size() : moves_.size(); }
  /// Steps of all ranks are numbered through: the number of this rank's first one.
  std::uint64_t first(Rank rank) const { return one_ ? std::uint64_t{rank} * one_->size() : base_[rank]; }

  /// By step: how many others it waits for.
  std::span<const std::uint32_t> predecessors(Rank rank) const {
    return std::span(predecessors_)
        .subspan(one_ ? 0 : base_[rank], one_ ? predecessors_.size() : base_[rank + 1] - base_[rank]);
  }
  const Schedule& schedule(Rank rank) const { return one_ ? *one_ : (*plan_)[rank]; }
  const Move& move(Rank rank, StepId step) const { return moves_[one_ ? step : base_[rank] + step]; }
  /// The steps that depend on a move. (Kept together here: the player goes from rank to rank, and looking them up in each
  /// rank's schedule would cost it half of its time.)
  std::span<const StepId> successors(const Move& move) const {
    if (move.degree == 1) return {&move.edges, 1};
    const StepId* const list = edges_.data() + move.edges;
    return move.degree < Move::most_degree ? std::span(list, move.degree) : std::span(list + 1, *list);
  }
  /// Has the list of them brought nearer.
  void fetch_successors(const Move& move) const {
    if (move.degree > 1) fetch_soon(edges_.data() + move.edges);
  }
  Rank peer(Rank rank, const Move& move) const {
    if (!one_) return move.peer;
    if (how_ == Relabelling::exchange) return move.peer ^ rank;
    const Rank sum = move.peer + rank;  // both below P, which is at most 2^31
    return sum < procs_ ? sum : sum - procs_;
  }

 private:
  void add(const Schedule& schedule);
  void set_successors(Move& move, std::span<const StepId> successors);
  void link_own_messages();

  Rank procs_ = 0;
  const Plan* plan_ = nullptr;
  const Schedule* one_ = nullptr;
  Relabelling how_ = Relabelling::rotation;
  LargeVector<Move> moves_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<StepId> edges_;
  std::vector<std::uint64_t> base_;  // by rank, for a plan
};

}  // namespace convene::simulate
