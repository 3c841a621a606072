// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_bounds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/taulop/linear_program.hpp"

namespace convene::model {

namespace {

constexpr std::size_t most_combinations = 256;

/// A sum without maxima: factors of atoms.
using Linear = std::vector<std::pair<Factor, Atom>>;

/// The sums of which a simplified expression is the maximum; nothing if there are too many.
std::optional<std::vector<Linear>> combinations(const Expression& e) {
  switch (e.form()) {
    case Expression::Form::atom:
      return {{{{Factor(1), e.atom()}}}};
    case Expression::Form::times: {
      auto parts = combinations(e.terms().front());
      if (!parts) return parts;
      for (Linear& part : *parts)
        for (auto& [factor, atom] : part)
          factor = factor.fixed * e.factor();  // simplified: the inner one is 1
      return parts;
    }
    case Expression::Form::max: {
      std::vector<Linear> all;
      for (const Expression& term : e.terms()) {
        auto parts = combinations(term);
        if (!parts || all.size() + parts->size() > most_combinations) return std::nullopt;
        all.insert(all.end(), parts->begin(), parts->end());
      }
      return all;
    }
    default:
      break;
  }
  std::vector<Linear> all{{}};
  for (const Expression& term : e.terms()) {
    auto parts = combinations(term);
    if (!parts || all.size() * parts->size() > most_combinations) return std::nullopt;
    std::vector<Linear> longer;
    for (const Linear& begin : all)
      for (const Linear& end : *parts) {
        longer.push_back(begin);
        longer.back().insert(longer.back().end(), end.begin(), end.end());
      }
    all = std::move(longer);
  }
  return all;
}

bool grows_by_tau(const Atom& atom) {
  return atom.kind != AtomKind::overhead && atom.kind != AtomKind::packing;
}

/// The atoms are of one parameter and bound each other.
bool are_related(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.channel == b.channel && a.transfer == b.transfer && a.size == b.size;
}

/// a ≤ b on every machine; both are atoms.
bool is_bounded(const Atom& a, const Atom& b, const CostBounds& bounds) {
  if (a.size.unit != b.size.unit || a.kind != b.kind || a.transfer != b.transfer) return false;
  const bool is_farther = bounds.farther_is_slower && a.kind == AtomKind::transfer && a.channel < b.channel;
  if (a.channel != b.channel && !is_farther) return false;
  return a.tau <= b.tau && a.size.count <= b.size.count;
}

/// The difference b − a as a linear program: can it be negative?
class Difference {
 public:
  Difference(const Linear& a, const Linear& b) {
    for (const auto& [factor, atom] : b) add(factor, atom);
    for (const auto& [factor, atom] : a) add(Rational(-1) * factor, atom);
  }

  bool is_never_negative(const CostBounds& bounds) const {
    if (atoms_.empty()) return true;
    std::vector<double> at_one, slope;
    for (const Factor& factor : factors_) {
      at_one.push_back((factor.fixed + factor.per_k).value());
      slope.push_back(factor.per_k.value());
    }
    const std::vector<HalfSpace> cone = constraints(bounds);
    return least_in_cone(at_one, cone) >= -tolerance && least_in_cone(slope, cone) >= -tolerance;
  }

 private:
  static constexpr double tolerance = 1e-9;

  void add(Factor factor, Atom atom) {
    if (grows_by_tau(atom) && atom.size.count != 0) {  // by linearity
      factor = atom.size.count * factor;
      atom.size.count = 1;
    }
    const auto same = std::find(atoms_.begin(), atoms_.end(), atom);
    if (same == atoms_.end()) {
      atoms_.push_back(std::move(atom));
      factors_.push_back(factor);
    } else {
      Factor& sum = factors_[static_cast<std::size_t>(same - atoms_.begin())];
      sum = sum + factor;
    }
  }

  std::vector<HalfSpace> constraints(const CostBounds& bounds) const {
    std::vector<HalfSpace> all;
    for (std::size_t i = 0; i < atoms_.size(); ++i)
      for (std::size_t j = 0; j < atoms_.size(); ++j) {
        if (i == j) continue;
        if (is_bounded(atoms_[i], atoms_[j], bounds)) all.push_back({i, 1, j, 1});
        if (are_related(atoms_[i], atoms_[j]) && grows_by_tau(atoms_[i]) && atoms_[i].tau < atoms_[j].tau) {
          const auto turns = (atoms_[j].tau + atoms_[i].tau - 1) / atoms_[i].tau;
          all.push_back({j, 1, i, static_cast<double>(turns)});
        }
      }
    return all;
  }

  std::vector<Atom> atoms_;
  std::vector<Factor> factors_;
};

/// For sums in m that are compared with sums in S: L(m, τ) = k·L(S, τ).
Linear in_segments(Linear terms) {
  for (auto& [factor, atom] : terms)
    if (grows_by_tau(atom) && atom.size.unit == "m" && atom.size.count != 0 && factor.per_k == 0) {
      factor = Factor(0, atom.size.count * factor.fixed);
      atom.size = {1, "S"};
    }
  return terms;
}

bool mentions(const Linear& terms, std::string_view unit) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return term.second.size.unit == unit; });
}

bool is_at_most(const Linear& a, const Linear& b, const CostBounds& bounds) {
  if (mentions(a, "S") || mentions(b, "S"))
    return Difference(in_segments(a), in_segments(b)).is_never_negative(bounds);
  return Difference(a, b).is_never_negative(bounds);
}

}  // namespace

bool is_at_most_simplified(const Expression& a, const Expression& b, const CostBounds& bounds) {
  const auto left = combinations(a), right = combinations(b);
  if (!left || !right || left->size() * right->size() > most_combinations) return false;
  return std::all_of(left->begin(), left->end(), [&](const Linear& x) {
    return std::any_of(right->begin(), right->end(),
                       [&](const Linear& y) { return is_at_most(x, y, bounds); });
  });
}

std::vector<Expression> without_bounded(std::vector<Expression> terms, std::vector<Expression> simplified) {
  for (std::size_t i = 0; i < terms.size();) {
    bool is_bounded_by_another = false;
    for (std::size_t j = 0; j < terms.size() && !is_bounded_by_another; ++j)
      is_bounded_by_another = j != i && is_at_most_simplified(simplified[i], simplified[j]);
    if (!is_bounded_by_another) {
      ++i;
      continue;
    }
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    simplified.erase(simplified.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return terms;
}

}  // namespace convene::model
