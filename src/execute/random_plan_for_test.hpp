// SPDX-License-Identifier: BSD-3-Clause
// For tests only: random plans with every kind of step, and their expected outputs.
//
// A plan is drawn as one sequence of messages, copies, combines and signals over all ranks. Executed
// sequentially they give the reference; the ranks' schedules have the same steps, and any order that respects
// dependencies must agree.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "schedule/core/builder.hpp"

namespace convene::execute {

class RandomPlan {
 public:
  static constexpr std::uint32_t places = 7;  // of each buffer: prime, so that strided places differ
  static constexpr std::uint32_t shared_places = 3;
  using Block = std::vector<std::byte>;

  struct Options {
    std::uint32_t steps = 60;
    std::size_t bytes = 8;  ///< of a place
    bool shared = true;     ///< signals through shared memory, too
  };

  RandomPlan(Rank procs, std::uint64_t seed, const Options& options)
      : options_(options), random_(seed), ranks_(procs), owners_(shared_places) {
    for (Rank rank = 0; rank < procs; ++rank) begin(rank);
    for (std::uint32_t i = 0; i < options.steps; ++i) draw();
    for (RankState& each : ranks_) schedules_.push_back(each.builder->finish());
  }

  const Schedule& schedule(Rank rank) const { return schedules_[rank]; }
  std::size_t bytes() const { return options_.bytes; }
  /// Content of the input, of the output before the run, and of the expected output.
  Block input(Rank rank) const { return joined(ranks_[rank].before[0]); }
  Block output_before(Rank rank) const { return joined(ranks_[rank].before[1]); }
  Block output(Rank rank) const { return joined(ranks_[rank].memory[1]); }

  /// right = left ∘ right, of bytes: the order matters.
  static int combine(void*, const std::byte* left, std::byte* right, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      right[i] = static_cast<std::byte>(3 * std::to_integer<unsigned>(left[i]) +
                                        5 * std::to_integer<unsigned>(right[i]) + 1);
    return 0;
  }

 private:
  using Memory = std::array<Block, places>;
  struct RankState {
    std::unique_ptr<Builder> builder = std::make_unique<Builder>();
    std::array<Memory, 3> memory, before;  // input, output, scratch
  };
  struct Slot {
    unsigned memory;
    Place place;
  };

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  static Buffer buffer_of(unsigned memory) {
    return memory == 0 ? Buffer::input : memory == 1 ? Buffer::output : scratch(0);
  }

  static Block joined(const Memory& memory) {
    Block all;
    for (const Block& each : memory) all.insert(all.end(), each.begin(), each.end());
    return all;
  }

  void begin(Rank rank) {
    RankState& state = ranks_[rank];
    Builder& builder = *state.builder;
    builder.begin(static_cast<Rank>(ranks_.size()), rank);
    builder.buffer(Buffer::input, places);
    builder.buffer(Buffer::output, places);
    std::array<Place, places> like;
    for (Place place = 0; place < places; ++place) like[place] = place;
    builder.scratch(like);
    if (options_.shared) builder.share(shared_places);
    for (unsigned memory = 0; memory < 2; ++memory)
      for (Block& place : state.memory[memory])
        for (std::size_t i = 0; i < options_.bytes; ++i) place.push_back(static_cast<std::byte>(random_()));
    state.before = state.memory;
    builder.copy(Range(Buffer::input, 0, places), Range(scratch(0), 0, places));
    state.memory[2] = state.memory[0];
  }

  /// Places of one buffer, as a range and one by one.
  Range range_in(unsigned memory, std::uint32_t count, std::vector<Slot>& slots) {
    const Place first = below(places);
    const std::uint32_t stride = 1 + below(3);
    for (std::uint32_t i = 0; i < count; ++i) slots.push_back({memory, (first + i * stride) % places});
    return Range(buffer_of(memory), first, count, stride);
  }

  Block& at(Rank rank, const Slot& slot) { return ranks_[rank].memory[slot.memory][slot.place]; }

  void draw() {
    const std::uint32_t kind = below(options_.shared ? 10 : 8);
    if (kind < 5) return message();
    if (kind < 8) return local(kind < 7);
    signal();
  }

  void message() {
    const auto procs = static_cast<Rank>(ranks_.size());
    const Rank from = below(procs), to = (from + 1 + below(procs - 1)) % procs;
    const std::uint32_t first = 1 + below(3), second = below(3);
    std::vector<Slot> read, written;
    std::vector<Range> out, in;
    out.push_back(range_in(below(3), first + second, read));
    // Written slots must differ: slots of two buffers do.
    in.push_back(range_in(1, first, written));
    if (second > 0) in.push_back(range_in(2, second, written));
    constexpr Transfer transfers[] = {Transfer::automatic, Transfer::packed, Transfer::datatype};
    ranks_[from].builder->send(to, out, transfers[below(3)]);
    ranks_[to].builder->recv(from, in, transfers[below(3)]);
    std::vector<Block> moved;
    for (const Slot& slot : read) moved.push_back(at(from, slot));
    for (std::size_t i = 0; i < moved.size(); ++i) at(to, written[i]) = moved[i];
  }

  void local(bool copies) {
    const Rank rank = below(static_cast<Rank>(ranks_.size()));
    const unsigned to = 1 + below(2), from = (to + 1 + below(2)) % 3;
    const std::uint32_t count = 1 + below(4);
    std::vector<Slot> read, written;
    const Range source = range_in(from, count, read), target = range_in(to, count, written);
    if (copies)
      ranks_[rank].builder->copy(source, target);
    else
      ranks_[rank].builder->combine(source, target);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (copies)
        at(rank, written[i]) = at(rank, read[i]);
      else
        combine(nullptr, at(rank, read[i]).data(), at(rank, written[i]).data(), options_.bytes);
    }
  }

  /// The owner of a shared place writes it and passes it to another rank, which reads it.
  void signal() {
    const Place number = below(shared_places);
    const auto procs = static_cast<Rank>(ranks_.size());
    const Rank from = owners_[number], to = (from + 1 + below(procs - 1)) % procs;
    std::vector<Slot> read, written;
    const Range source = range_in(below(3), 1, read), target = range_in(1 + below(2), 1, written);
    const Range shared(Buffer::shared, number);
    ranks_[from].builder->copy(source, shared);
    ranks_[from].builder->send(to, shared);
    ranks_[to].builder->recv(from, shared);
    ranks_[to].builder->copy(shared, target);
    at(to, written[0]) = at(from, read[0]);
    owners_[number] = to;
  }

  const Options options_;
  std::mt19937_64 random_;
  std::vector<RankState> ranks_;
  std::vector<Rank> owners_;  // by shared place
  std::vector<Schedule> schedules_;
};

}  // namespace convene::execute
