// SPDX-License-Identifier: BSD-3-Clause
#include "decide/trial.hpp"

#include <algorithm>
#include <utility>

namespace convene::decide {
namespace {

constexpr std::uint64_t warm_block = 4, full_block = 8;  // calls, of which the first does not count
constexpr std::int64_t hopeless_ratio = 3;               // times as slow, in the first calls
constexpr std::uint32_t screening_pairs = 4;
constexpr double worst_screened = 1.2;  // of native's time: none beyond it is raced
constexpr double least_gain = 0.03;     // a change must gain more
constexpr double vain_gain = 0.02;      // a race ends if so much is excluded
constexpr std::size_t first_look = 16, last_look = 112, vain_look = 8;  // pairs
constexpr std::uint32_t most_unusable = 64;
constexpr std::uint64_t pause_calls = 1024;  // calls, while a rank wants a pause
constexpr std::uint64_t guard_spacing = 48;  // calls between the guard's pairs
constexpr std::uint64_t first_guard = 1024, first_retrial = 1u << 12, longest_again = 1u << 20;  // calls

/// The fields of TrialReport::greatest that precede those of the calls. A minus turns the least into the
/// greatest.
struct Field {
  enum : std::size_t {
    wish,
    identity,
    minus_identity,
    minus_remaining,
    minus_income,
    minus_share,
    exchange,
    number
  };
};

/// SplitMix64.
std::uint64_t mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Looks at 16, 32, 64 and 112 pairs: the more often, the likelier a wrong change.
bool is_look(std::size_t pairs) {
  return pairs == first_look || pairs == 2 * first_look || pairs == 4 * first_look || pairs == last_look;
}

}  // namespace

static_assert(Trial::header == Field::number);

Trial::Trial(const Setup& setup)
    : setup_(setup),
      stage_(setup.incumbent == native ? Stage::sighting : Stage::settled),
      incumbent_(setup.incumbent),
      preferred_(setup.incumbent),
      random_(setup.seed),
      again_(setup.incumbent == native ? first_retrial : first_guard),
      calls_(setup.calls),
      elapsed_reported_(setup.elapsed) {}

void Trial::set_candidates(const std::vector<std::int64_t>& set_ups, std::int64_t identity) {
  for (const std::int64_t set_up : set_ups) alternatives_.push_back({.set_up = set_up});
  identity_ = identity;
  wants_candidates_ = false;
  stage_ = Stage::settled;
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
  if (challenger_ == incumbent_) return 0;
  const std::int64_t beyond = blocks_[of_challenger].total - blocks_[of_incumbent].total;
  return std::max<std::int64_t>(spent_ + beyond, 0) - spent_;
}

TrialReport Trial::report(const TrialBudget& budget, TrialWish wanted, std::int64_t exchange) {
  const double elapsed = static_cast<double>(budget.elapsed);
  const auto per_call = [&](std::int64_t since, std::uint64_t calls) {
    return (elapsed - static_cast<double>(since)) /
           static_cast<double>(std::max<std::uint64_t>(1, calls_ - calls));
  };
  const double period = std::min(per_call(setup_.elapsed, 0), per_call(elapsed_reported_, calls_reported_));
  constexpr double thousand = 1e3, million = 1e6;
  TrialReport result;
  result.greatest.resize(Field::number);
  result.greatest[Field::wish] = static_cast<std::int64_t>(wanted);
  result.greatest[Field::identity] = identity_;
  result.greatest[Field::minus_identity] = -identity_;
  result.greatest[Field::minus_remaining] = budget.spent - static_cast<std::int64_t>(budget.share * elapsed);
  result.greatest[Field::minus_income] = -static_cast<std::int64_t>(budget.share * period * thousand);
  result.greatest[Field::minus_share] = -static_cast<std::int64_t>(budget.share * million);
  result.greatest[Field::exchange] = exchange;
  if (setup_.part == Part::peer)
    report_calls(result);
  else if (block_ > 0)
    report_ends(result);
  calls_reported_ = calls_;
  elapsed_reported_ = budget.elapsed;
  return result;
}

/// Of the next stretch, without set-up.
std::int64_t Trial::expected_cost() const {
  if (stage_ != Stage::warming && stage_ != Stage::screening && stage_ != Stage::racing) return 0;
  const std::uint64_t calls = stage_ == Stage::warming ? warm_block : full_block;
  return static_cast<std::int64_t>(calls) * alternatives_[challenger_].excess;
}

std::int64_t Trial::expected_set_up() const {
  if (stage_ == Stage::listing) return setup_.list_cost;
  return stage_ == Stage::warming ? alternatives_[challenger_].set_up : 0;
}

void Trial::agree(const TrialReport& reduced) {
  if (has_ended_) return;
  spent_ += cost();
  const auto wanted = static_cast<TrialWish>(reduced.greatest[Field::wish]);
  if (wanted == TrialWish::leave ||
      reduced.greatest[Field::identity] != -reduced.greatest[Field::minus_identity])
    return end();
  budget_.note(-reduced.greatest[Field::minus_remaining], -reduced.greatest[Field::minus_income],
               -reduced.greatest[Field::minus_share]);
  budget_.note_exchange(reduced.greatest[Field::exchange]);
  if (block_ > 0) evaluate(reduced);
  if (has_ended_) return;
  const bool has_just_settled = block_ > 0 && stage_ == Stage::settled;
  if (has_just_settled) return plan(again_, 0);
  if (wanted == TrialWish::pause) return plan(pause_calls, 0);
  if (stage_ == Stage::settled) begin_round();
  if (!has_ended_) plan_stage();
}

/// Plans the next stretch: as soon as it is affordable.
void Trial::plan_stage() {
  if (stage_ == Stage::settled) return plan(again_, 0);  // all candidates sit out
  const std::uint64_t wait = budget_.calls_until(expected_cost(), expected_set_up(), calls_);
  if (wait >= AgreedBudget::longest) return plan(AgreedBudget::longest, 0);
  if (stage_ != Stage::listing)
    return plan(std::max(wait, spacing()), stage_ == Stage::warming ? warm_block : full_block);
  wants_candidates_ = wait == 0 || is_list_due_;
  if (wants_candidates_) budget_.note_set_up(setup_.list_cost);
  is_list_due_ = true;
  plan(wants_candidates_ ? 0 : wait, 0);
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
  present_.clear();
  bool is_any_left = false;
  for (std::uint32_t candidate = 1; candidate < alternatives_.size(); ++candidate) {
    Alternative& each = alternatives_[candidate];
    if (each.cannot_run) continue;
    is_any_left = true;
    if (each.sits_out == 0)
      present_.push_back(candidate);
    else
      --each.sits_out;
  }
  if (!is_any_left) return end();
  if (present_.empty()) return settle();
  turn_ = pairs_ = 0;
  is_second_look_ = false;
  stage_ = Stage::warming;
  challenger_ = present_.front();
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
  if (challenger_ != incumbent_)
    alternatives_[challenger_].excess = std::max<std::int64_t>(0, challenger.least - incumbent.least);
  switch (stage_) {
    case Stage::settled:
    case Stage::listing:
      return;
    case Stage::sighting:
      budget_.note_call(std::max<std::int64_t>(1, std::min(incumbent.least, challenger.least)));
      stage_ = Stage::listing;
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
  if (turn_ >= present_.size()) {
    turn_ = 0;
    if (present_.empty()) return settle();
    if (stage_ == Stage::warming) {
      stage_ = Stage::screening;
      screened_.assign(present_.size(), {});
    } else if (++pairs_ == screening_pairs) {
      const auto best =
          std::min_element(screened_.begin(), screened_.end(),
                           [](const PairedRatio& a, const PairedRatio& b) { return a.ratio() < b.ratio(); });
      if (best->ratio() > worst_screened) return settle();
      return begin_race(present_[static_cast<std::size_t>(best - screened_.begin())]);
    }
  }
  challenger_ = present_[turn_];
}

/// A second pair decides whether a candidate is hopeless: time slices of other processes may have met the
/// first.
void Trial::warm(const Figures& incumbent, const Figures& challenger) {
  Alternative& candidate = alternatives_[challenger_];
  budget_.note_set_up(std::exchange(candidate.set_up, 0));
  const bool is_hopeless = challenger.least > hopeless_ratio * std::max<std::int64_t>(incumbent.least, 1) ||
                           (incumbent.period > 0 && challenger.period > hopeless_ratio * incumbent.period);
  if (is_hopeless && !std::exchange(is_second_look_, true)) return;
  is_second_look_ = false;
  if (is_hopeless) {
    candidate.sits_out = candidate.strikes++;
    present_.erase(present_.begin() + turn_);
  } else {
    ++turn_;
  }
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
  if (is_look(pairs) && is_won(period_) && is_won(least_)) return change();
  const bool is_vain = (is_look(pairs) || pairs == vain_look) &&
                       (period_.excludes_faster_by(vain_gain) || least_.excludes_faster_by(vain_gain));
  if (is_vain || pairs == last_look) settle();
}

bool Trial::is_won(const PairedRatio& ratio) const {
  return ratio.is_faster_by(least_gain) && (!setup_.is_mixed || ratio.is_mostly_faster());
}

void Trial::change() {
  has_decided_ = true;
  evidence_ = period_.pairs();
  preferred_ = challenger_;
  if (incumbent_ == native) {
    ratio_ = std::max(period_.ratio(), least_.ratio());
    upper_ = std::max(period_.upper(), least_.upper());
  } else {
    ratio_ = 1 / period_.ratio();
    upper_ = 1 / period_.lower();
  }
  if (setup_.only_observes) return settle();
  stage_ = Stage::settled;
  if (incumbent_ == native) {
    again_ = first_guard;
  } else {
    alternatives_[incumbent_].sits_out = ++alternatives_[incumbent_].strikes;
    again_ = first_retrial;
  }
  incumbent_ = challenger_;
}

void Trial::drop(std::uint32_t candidate) {
  if (candidate == native || candidate >= alternatives_.size() || alternatives_[candidate].cannot_run) return;
  alternatives_[candidate].cannot_run = true;
  if (preferred_ == candidate) {
    preferred_ = native;
    has_decided_ = false;
  }
  if (incumbent_ == candidate) incumbent_ = native;
  if (std::ranges::all_of(alternatives_.begin() + 1, alternatives_.end(), &Alternative::cannot_run))
    return end();
  // The ranks agree again after one call, before the next candidate.
  challenger_ = native;
  stage_ = Stage::settled;
  plan(1, 0);
}

}  // namespace convene::decide
