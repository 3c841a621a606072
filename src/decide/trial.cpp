// SPDX-License-Identifier: BSD-3-Clause
#include "decide/trial.hpp"

#include <algorithm>
#include <cmath>

namespace convene::decide {
namespace {

constexpr std::uint64_t warm_block = 4, full_block = 8;  // calls, of which the first does not count
constexpr std::int64_t hopeless = 3;                     // times as slow, in the first calls
constexpr std::uint32_t screening_pairs = 4;
constexpr double worst_screened = 1.2;  // of native's time: none beyond it is raced
constexpr double least_gain = 0.03;     // a change must gain more
constexpr double vain_gain = 0.02;      // a race ends if so much is excluded
constexpr std::size_t first_look = 16, last_look = 112, vain_look = 8;  // pairs
constexpr std::uint32_t most_unusable = 64;
constexpr std::uint64_t most_rest = 1u << 16;  // calls until the ranks agree again
constexpr std::uint64_t pause_calls = 1024;    // calls, while a rank wants a pause
constexpr std::uint64_t guard_spacing = 48;    // calls between the guard's pairs
constexpr std::uint64_t first_guard = 1024, first_retrial = 1u << 12, longest_again = 1u << 20;  // calls

/// The fields of TrialReport::greatest that precede those of the calls.
struct Field {
  enum : std::size_t { wish, identity, minus_identity, rest, cost, number };
};

/// SplitMix64.
std::uint64_t mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t middle_of(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Looks at 16, 32, 64 and 112 pairs: the more often, the likelier a wrong change.
bool is_look(std::size_t pairs) {
  return pairs == first_look || pairs == 2 * first_look || pairs == 4 * first_look || pairs == last_look;
}

}  // namespace

Trial::Trial(const Setup& setup)
    : setup_(setup),
      incumbent_(setup.incumbent),
      random_(setup.seed),
      again_(setup.incumbent == native ? first_retrial : first_guard),
      calls_(setup.calls),
      calls_reported_(0),
      elapsed_reported_(setup.elapsed) {
  for (std::uint32_t candidate = 1; candidate <= setup.candidates; ++candidate) alive_.push_back(candidate);
}

Trial::Role Trial::role_of(std::uint64_t call) const {
  const std::uint64_t in_blocks = call - rest_;
  return (in_blocks < block_) == challenger_first_ ? of_challenger : of_incumbent;
}

std::uint32_t Trial::next() const {
  if (position_ < rest_ || calls_left() == 0) return incumbent_;
  return role_of(position_) == of_challenger ? challenger_ : incumbent_;
}

void Trial::record(std::int64_t gap, std::int64_t in_call) {
  if (position_ >= rest_ && calls_left() > 0) {
    Block& block = blocks_[role_of(position_)];
    const std::uint64_t at = (position_ - rest_) % block_;
    block.gaps[at] = std::max<std::int64_t>(gap, 0);
    block.in_calls[at] = std::max<std::int64_t>(in_call, 0);
    block.total += block.in_calls[at];
  }
  pass();
}

void Trial::pass(std::uint64_t calls) {
  if (!has_ended_) position_ += calls;
  calls_ += calls;
}

std::int64_t Trial::cost() const {
  return std::max<std::int64_t>(0, blocks_[of_challenger].total - blocks_[of_incumbent].total);
}

/// Calls until the budget suffices for one more stretch, by this rank's recent time per call.
std::int64_t Trial::wanted_rest(const TrialBudget& budget) const {
  const double remaining =
      budget.share * static_cast<double>(budget.elapsed) - static_cast<double>(budget.spent);
  const double lacking = static_cast<double>(expected_cost_) - remaining;
  if (lacking <= 0) return 0;
  const auto calls = static_cast<double>(std::max<std::uint64_t>(1, calls_ - calls_reported_));
  const double income = budget.share * static_cast<double>(budget.elapsed - elapsed_reported_) / calls;
  const double wanted = income > 0 ? std::ceil(lacking / income) : static_cast<double>(most_rest);
  return static_cast<std::int64_t>(std::min(wanted, static_cast<double>(most_rest)));
}

TrialReport Trial::report(const TrialBudget& budget, TrialWish wanted, std::int64_t exchange) {
  TrialReport result;
  result.greatest.resize(Field::number);
  result.greatest[Field::wish] = static_cast<std::int64_t>(wanted);
  result.greatest[Field::identity] = setup_.identity;
  result.greatest[Field::minus_identity] = -setup_.identity;
  result.greatest[Field::rest] = wanted_rest(budget);
  result.greatest[Field::cost] = cost() + exchange;
  for (const Block& block : blocks_)
    for (std::uint64_t call = 1; call < block_; ++call) {
      result.greatest.push_back(block.gaps[call]);
      result.sums.push_back(block.gaps[call] + block.in_calls[call]);
    }
  for (const Block& block : blocks_)
    for (std::uint64_t call = 1; call < block_; ++call) result.greatest.push_back(-block.in_calls[call]);
  calls_reported_ = calls_;
  elapsed_reported_ = budget.elapsed;
  return result;
}

Trial::Figures Trial::figures(const TrialReport& reduced, Role role) const {
  const std::uint64_t counted = block_ - 1;
  std::vector<std::int64_t> periods, least;
  for (std::uint64_t call = role * counted; call < (role + 1) * counted; ++call) {
    periods.push_back(reduced.sums[call] / static_cast<std::int64_t>(setup_.procs) -
                      reduced.greatest[Field::number + call]);
    least.push_back(-reduced.greatest[Field::number + 2 * counted + call]);
  }
  return {middle_of(std::move(periods)), middle_of(std::move(least))};
}

void Trial::agree(const TrialReport& reduced) {
  if (has_ended_) return;
  const auto wanted = static_cast<TrialWish>(reduced.greatest[Field::wish]);
  if (wanted == TrialWish::leave ||
      reduced.greatest[Field::identity] != -reduced.greatest[Field::minus_identity])
    return end();
  // The most expensive of the recent stretches counts.
  expected_cost_ = std::max(reduced.greatest[Field::cost], expected_cost_ - expected_cost_ / 8);
  if (block_ > 0) evaluate(reduced);
  if (has_ended_) return;
  const bool has_just_settled = block_ > 0 && stage_ == Stage::settled;
  if (has_just_settled) return plan(again_, 0);
  if (wanted == TrialWish::pause) return plan(pause_calls, 0);
  if (stage_ == Stage::settled) {
    begin_round();
    if (has_ended_) return;
  }
  const auto wanted_rest =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, reduced.greatest[Field::rest]));
  if (wanted_rest >= most_rest) return plan(most_rest, 0);
  plan(std::max(wanted_rest, spacing()), stage_ == Stage::warming ? warm_block : full_block);
}

void Trial::plan(std::uint64_t rest, std::uint64_t block) {
  rest_ = rest;
  block_ = block;
  position_ = 0;
  blocks_ = {};
  challenger_first_ = mix(random_) % 2 == 1;
}

std::uint64_t Trial::spacing() const { return incumbent_ == native ? 0 : guard_spacing; }

void Trial::end() {
  has_ended_ = true;
  plan(0, 0);
}

/// Starts a round of trials: of the candidates, or the guard's.
void Trial::begin_round() {
  if (incumbent_ != native) return begin_race(native);
  if (alive_.empty()) return end();
  turn_ = pairs_ = 0;
  screened_.assign(alive_.size(), {});
  stage_ = is_warm_ ? Stage::screening : Stage::warming;
  challenger_ = alive_.front();
}

void Trial::begin_race(std::uint32_t challenger) {
  stage_ = Stage::racing;
  challenger_ = challenger;
  unusable_ = 0;
  period_ = least_ = {};
}

/// No change: the next round follows later than the last one did.
void Trial::settle() {
  stage_ = Stage::settled;
  again_ = std::min(4 * again_, longest_again);
}

void Trial::evaluate(const TrialReport& reduced) {
  const Figures incumbent = figures(reduced, of_incumbent), challenger = figures(reduced, of_challenger);
  switch (stage_) {
    case Stage::settled:
      return;
    case Stage::warming:
      return warm(incumbent, challenger);
    case Stage::screening:
      return screen(incumbent, challenger);
    case Stage::racing:
      return race(incumbent, challenger);
  }
}

/// The next candidate of warming or screening; the best is raced when all have had their pairs.
void Trial::next_candidate() {
  if (turn_ >= alive_.size()) {
    turn_ = 0;
    if (stage_ == Stage::warming) {
      is_warm_ = true;
      if (alive_.empty()) return end();
      stage_ = Stage::screening;
      screened_.assign(alive_.size(), {});
    } else if (++pairs_ == screening_pairs) {
      const auto best =
          std::min_element(screened_.begin(), screened_.end(),
                           [](const PairedRatio& a, const PairedRatio& b) { return a.ratio() < b.ratio(); });
      if (best->ratio() > worst_screened) return settle();
      return begin_race(alive_[static_cast<std::size_t>(best - screened_.begin())]);
    }
  }
  challenger_ = alive_[turn_];
}

void Trial::warm(const Figures& incumbent, const Figures& challenger) {
  const bool is_hopeless = challenger.least > hopeless * std::max<std::int64_t>(incumbent.least, 1) ||
                           (incumbent.period > 0 && challenger.period > hopeless * incumbent.period);
  if (is_hopeless)
    alive_.erase(alive_.begin() + turn_);
  else
    ++turn_;
  next_candidate();
}

void Trial::screen(const Figures& incumbent, const Figures& challenger) {
  if (incumbent.least > 0 && challenger.least > 0) screened_[turn_].add(challenger.least, incumbent.least);
  if (incumbent.period > 0 && challenger.period > 0)
    screened_[turn_].add(challenger.period, incumbent.period);
  ++turn_;
  next_candidate();
}

void Trial::race(const Figures& incumbent, const Figures& challenger) {
  if (std::min({incumbent.period, incumbent.least, challenger.period, challenger.least}) <= 0) {
    if (++unusable_ == most_unusable) settle();
    return;
  }
  period_.add(challenger.period, incumbent.period);
  least_.add(challenger.least, incumbent.least);
  const std::size_t pairs = period_.pairs();
  if (is_look(pairs) && period_.is_faster_by(least_gain) && least_.is_faster_by(least_gain)) return change();
  const bool is_vain = (is_look(pairs) || pairs == vain_look) &&
                       (period_.excludes_faster_by(vain_gain) || least_.excludes_faster_by(vain_gain));
  if (is_vain || pairs == last_look) settle();
}

void Trial::change() {
  if (incumbent_ == native) {
    ratio_ = period_.ratio();
    again_ = first_guard;
  } else {
    ratio_ = 1 / period_.ratio();
    std::erase(alive_, incumbent_);
    again_ = first_retrial;
  }
  incumbent_ = challenger_;
  has_decided_ = true;
  stage_ = Stage::settled;
}

void Trial::drop(std::uint32_t candidate) {
  const auto at = std::find(alive_.begin(), alive_.end(), candidate);
  if (at == alive_.end() || candidate == native) return;
  alive_.erase(at);
  if (incumbent_ == candidate) {
    incumbent_ = native;
    has_decided_ = false;
  }
  if (alive_.empty()) return end();
  // The ranks agree again after one call, before the next candidate.
  is_warm_ = false;
  stage_ = Stage::settled;
  plan(1, 0);
}

}  // namespace convene::decide
