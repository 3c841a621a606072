// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/frames.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/describe.hpp"
#include "schedule/core/ready_walk.hpp"

namespace convene::schedule {
namespace {

class Simulator {
 public:
  Simulator(const Plan& plan, const Contract& contract)
      : plan_(plan), matching_(link(plan)), walks_(ready_walks(plan)) {
    if (!matching_.fault.empty()) throw Error("this plan cannot be drawn: " + matching_.fault);
    for (const Schedule& schedule : plan) {
      Memories& memory = memory_.emplace_back();
      for (unsigned b = 0; b < max_buffers; ++b)
        if (const auto buffer = static_cast<Buffer>(b);
            buffer != Buffer::shared || schedule.first_sharer() == schedule.rank())
          memory[b].resize(schedule.places(buffer));
      fill(memory[index(Buffer::input)], contract[schedule.rank()].input);
      fill(memory[index(Buffer::output)], contract[schedule.rank()].output);
    }
    if (contract.reduction.segments > 0)
      expressions_.emplace(static_cast<Rank>(plan.size()), contract.reduction);
    carried_.resize(matching_.base.back());
  }

  Frames run(std::span<const std::uint32_t> wanted) {
    Frames result;
    sort_by_round();
    if (!by_round_.empty()) pending_ = by_round_[0];
    advance(nullptr);
    keep_all();
    result.rows = rows();
    for (std::uint32_t round = 0; round < by_round_.size(); ++round) {
      Frame frame;
      frame.round = round;
      if (round > 0) pending_.insert(pending_.end(), by_round_[round].begin(), by_round_[round].end());
      const bool something = advance(&frame);
      if (something && (wanted.empty() || std::find(wanted.begin(), wanted.end(), round) != wanted.end())) {
        snapshot(result.rows, frame);
        result.frames.push_back(std::move(frame));
      }
      keep_all();
    }
    require_end();
    result.expressions = std::move(expressions_);
    return result;
  }

 private:
  struct Memories {
    std::vector<Cell> buffers[max_buffers];
    std::vector<Cell>& operator[](unsigned buffer) { return buffers[buffer]; }
    const std::vector<Cell>& operator[](unsigned buffer) const { return buffers[buffer]; }
  };

  static void fill(std::vector<Cell>& cells, const std::vector<Content>& contents) {
    for (std::size_t i = 0; i < std::min(cells.size(), contents.size()); ++i) cells[i].content = contents[i];
  }

  struct Pending {
    Rank rank;
    StepId step;
  };

  void sort_by_round() {
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id) {
        const std::uint32_t round = schedule[id].round;
        if (round >= by_round_.size()) by_round_.resize(round + 1);
        by_round_[round].push_back({schedule.rank(), id});
      }
  }

  /// Executes all ready steps of the rounds so far. Without a frame, before the first one, no messages:
  /// copies of the own contribution belong to the initial state.
  bool advance(Frame* frame) {
    bool something = false;
    for (bool again = true; again;) {
      again = false;
      std::erase_if(pending_, [&](const Pending& next) {
        const Schedule& schedule = plan_[next.rank];
        const Step& step = schedule[next.step];
        if ((!frame && step.is_message()) || !is_ready(schedule, next.step)) return false;
        execute(schedule, next.step, frame);
        something |= step.kind != StepKind::join;
        return again = true;
      });
    }
    return something;
  }

  bool is_ready(const Schedule& schedule, StepId id) const {
    if (!walks_[schedule.rank()].is_ready(id)) return false;
    if (schedule[id].kind != StepKind::recv) return true;
    const Rank peer = schedule[id].peer;
    return walks_[peer].is_complete(
        matching_.step(peer, matching_.partner[matching_.at(schedule.rank(), id)]));
  }

  void execute(const Schedule& schedule, StepId id, Frame* frame) {
    const PlanStep at = matching_.at(schedule.rank(), id);
    const Step& step = schedule[id];
    if (step.is_shm_signal()) {
      if (step.kind == StepKind::send) ++arrow(schedule.rank(), step.peer, *frame).signals;
    } else if (step.kind == StepKind::send) {
      carried_[at] = gather(schedule, schedule.ranges(id));
      note(schedule.rank(), step.peer, carried_[at], *frame);
    } else if (step.kind == StepKind::recv) {
      scatter(schedule, schedule.ranges(id), carried_[matching_.partner[at]], Change::received);
    } else if (step.kind == StepKind::copy) {
      scatter(schedule, schedule.to(id), gather(schedule, schedule.from(id)), Change::copied);
    } else if (step.kind == StepKind::combine) {
      combine(schedule, id);
    }
    walks_[schedule.rank()].complete_one(id, [](StepId) {});  // a join belongs to its round, too
  }

  void combine(const Schedule& schedule, StepId id) {
    const std::vector<Content> left = gather(schedule, schedule.from(id));
    std::vector<Content> right = gather(schedule, schedule.to(id));
    std::string why = expressions_ ? "" : "combines, but the collective has no operator";
    for (std::size_t i = 0; i < left.size() && why.empty(); ++i)
      right[i] = expressions_->combine(left[i], right[i], why);
    if (!why.empty()) throw Error("this plan cannot be drawn: " + describe(schedule, id) + ": " + why);
    scatter(schedule, schedule.to(id), right, Change::combined);
  }

  /// The rank in whose column a place is drawn.
  static Rank owner(const Schedule& schedule, const Range& range) {
    return range.buffer() == Buffer::shared ? schedule.first_sharer() : schedule.rank();
  }

  std::vector<Content> gather(const Schedule& schedule, std::span<const Range> from) const {
    std::vector<Content> contents;
    for (const Range& range : from) {
      const std::vector<Cell>& cells = memory_[owner(schedule, range)][index(range.buffer())];
      for_each_place(range, schedule.places(range.buffer()),
                     [&](Place place) { contents.push_back(cells[place].content); });
    }
    return contents;
  }

  void scatter(const Schedule& schedule, std::span<const Range> to, const std::vector<Content>& contents,
               Change how) {
    std::size_t next = 0;
    for (const Range& range : to) {
      std::vector<Cell>& cells = memory_[owner(schedule, range)][index(range.buffer())];
      for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
        cells[place] = {contents[next++], how};
      });
    }
  }

  static Arrow& arrow(Rank from, Rank to, Frame& frame) {
    auto found = std::find_if(frame.arrows.begin(), frame.arrows.end(),
                              [&](const Arrow& a) { return a.from == from && a.to == to; });
    if (found == frame.arrows.end()) found = frame.arrows.insert(found, Arrow{.from = from, .to = to});
    return *found;
  }

  static void note(Rank from, Rank to, const std::vector<Content>& contents, Frame& frame) {
    Arrow& way = arrow(from, to, frame);
    ++way.messages;
    way.contents.insert(way.contents.end(), contents.begin(), contents.end());
  }

  void keep_all() {
    for (Memories& memory : memory_)
      for (auto& cells : memory.buffers)
        for (Cell& cell : cells) cell.change = Change::kept;
  }

  bool output_holds_input(const Memories& memory) const {
    const std::vector<Cell>& output = memory[index(Buffer::output)];
    return std::all_of(
        memory[index(Buffer::input)].begin(), memory[index(Buffer::input)].end(), [&](const Cell& own) {
          return own.content == nothing || std::any_of(output.begin(), output.end(), [&](const Cell& cell) {
                   return cell.content == own.content;
                 });
        });
  }

  std::vector<Row> rows() const {
    std::vector<Row> result;
    const bool needs_input = !std::all_of(memory_.begin(), memory_.end(),
                                          [&](const Memories& memory) { return output_holds_input(memory); });
    for (unsigned b = needs_input ? 0 : index(Buffer::output); b < max_buffers; ++b) {
      std::size_t places = 0;
      for (const Memories& memory : memory_) places = std::max(places, memory[b].size());
      for (Place place = 0; place < places; ++place) result.push_back({static_cast<Buffer>(b), place});
    }
    return result;
  }

  void snapshot(const std::vector<Row>& rows, Frame& frame) const {
    std::stable_sort(frame.arrows.begin(), frame.arrows.end(),
                     [](const Arrow& a, const Arrow& b) { return a.from < b.from; });
    for (const Memories& memory : memory_) {
      std::vector<Cell>& column = frame.cells.emplace_back();
      for (const Row& row : rows) {
        const std::vector<Cell>& cells = memory[index(row.buffer)];
        column.push_back(row.place < cells.size() ? cells[row.place] : Cell{});
      }
    }
  }

  void require_end() const {
    for (const Schedule& schedule : plan_)
      for (StepId id = 0; id < schedule.size(); ++id)
        if (!walks_[schedule.rank()].is_complete(id))
          throw Error("this plan cannot be drawn: " + describe(schedule, id) + " can never start");
  }

  const Plan& plan_;
  const MessageMatching matching_;
  std::vector<ReadyWalk> walks_;  // by rank
  std::vector<Memories> memory_;  // by rank
  std::vector<std::vector<Pending>> by_round_;
  std::vector<Pending> pending_;
  std::vector<std::vector<Content>> carried_;
  std::optional<Expressions> expressions_;
};

/// The n-th arrow of every sender, for n = 0, 1, …: indices into `arrows`.
std::vector<std::vector<std::size_t>> layers(std::span<const Arrow> arrows, Rank procs) {
  std::vector<std::vector<std::size_t>> result;
  std::vector<std::size_t> sent(procs, 0);
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    const std::size_t n = sent[arrows[i].from]++;
    if (n == result.size()) result.emplace_back();
    result[n].push_back(i);
  }
  return result;
}

}  // namespace

Frames simulate_frames(const Plan& plan, const Contract& contract, std::span<const std::uint32_t> rounds) {
  return Simulator(plan, contract).run(rounds);
}

std::vector<Origin> origins(const Contract& contract) {
  std::vector<Origin> result;
  for (Rank rank = 0; rank < contract.size(); ++rank) {
    std::vector<Content> own;
    for (const auto* contents : {&contract[rank].input, &contract[rank].output})
      for (Content content : *contents)
        if (content != nothing) own.push_back(content);
    for (std::uint32_t part = 0; part < own.size(); ++part) {
      const auto content = static_cast<std::size_t>(own[part]);
      if (content >= result.size()) result.resize(content + 1);
      result[content] = {rank, part, static_cast<std::uint32_t>(own.size())};
    }
  }
  return result;
}

Rings find_rings(std::span<const Arrow> arrows, Rank procs) {
  constexpr std::uint32_t none = 0xffffffffu;
  Rings rings;
  rings.ring_of.assign(arrows.size(), none);
  for (const std::vector<std::size_t>& layer : layers(arrows, procs)) {
    std::vector<std::size_t> arrow_of(procs, none);
    std::vector<std::uint32_t> received(procs, 0);
    for (std::size_t i : layer) {
      arrow_of[arrows[i].from] = i;
      ++received[arrows[i].to];
    }
    for (Rank rank = 0; rank < procs; ++rank)
      if (received[rank] != (arrow_of[rank] == none ? 0u : 1u)) return {};
    for (std::size_t first : layer) {
      if (rings.ring_of[first] != none) continue;
      const auto ring = static_cast<std::uint32_t>(rings.sizes.size());
      rings.sizes.push_back(0);
      for (std::size_t i = first; rings.ring_of[i] == none; i = arrow_of[arrows[i].to]) {
        rings.ring_of[i] = ring;
        ++rings.sizes[ring];
      }
    }
  }
  return rings;
}

}  // namespace convene::schedule
