// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_simplification.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/taulop/cost_bounds.hpp"

namespace convene::model {

namespace {

/// The farthest channel of an expression.
std::uint32_t farthest(const Expression& e) {
  if (e.form() == Expression::Form::atom) return e.atom().channel;
  std::uint32_t channel = 0;
  for (const Expression& term : e.terms()) channel = std::max(channel, farthest(term));
  return channel;
}

/// Removes the terms that use nearer channels only, if others use a farther one.
void keep_farthest(std::vector<Expression>& terms) {
  std::uint32_t far = 0;
  for (const Expression& term : terms) far = std::max(far, farthest(term));
  std::erase_if(terms, [&](const Expression& term) { return farthest(term) < far; });
}

/// Collects factors of equal terms, in the order of their first appearance.
class Collector {
 public:
  explicit Collector(const Simplification& how) : how_(how) {}

  void add(Factor factor, std::uint32_t concurrency, const Expression& e) {
    switch (e.form()) {
      case Expression::Form::atom:
        return add_atom(factor, concurrency, e.atom());
      case Expression::Form::sum:
        for (const Expression& term : e.terms()) add(factor, concurrency, term);
        return;
      case Expression::Form::times:
        return add(product(factor, e.factor()), concurrency, e.terms().front());
      case Expression::Form::concurrent:
        return add(factor, concurrency * e.number(), e.terms().front());
      case Expression::Form::max:
        return add_max(factor, concurrency, e);
    }
  }

  /// Copies first, then overheads, as in the source.
  Expression result() const {
    auto sorted = terms_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return place(a.second) < place(b.second); });
    std::vector<Expression> terms;
    for (const auto& [factor, term] : sorted) terms.push_back(Expression::times(factor, term));
    return Expression::sum(std::move(terms));
  }

 private:
  static int place(const Expression& term) {
    if (term.form() != Expression::Form::atom) return 2;
    if (is_local(term.atom().kind)) return 0;
    return term.atom().kind == AtomKind::overhead ? 1 : 2;
  }

  static bool is_local(AtomKind kind) { return kind == AtomKind::copy || kind == AtomKind::packing; }

  static Factor product(Factor a, Factor b) {
    if (a.per_k != 0 && b.per_k != 0)
      throw std::overflow_error("a cost expression with k² cannot be written");
    return a.per_k == 0 ? a.fixed * b : b.fixed * a;
  }

  void add_atom(Factor factor, std::uint32_t concurrency, Atom atom) {
    if (atom.kind == AtomKind::overhead) {
      if (how_.drop_overheads) return;
      if (how_.merge_overheads) atom.size.count = 1;
      return add_term(factor, atom);
    }
    if (is_local(atom.kind) && how_.drop_copies) return;
    if (atom.kind == AtomKind::packing) return add_term(factor, atom);
    atom.tau *= concurrency;
    const bool is_linear =
        atom.kind == AtomKind::transfer || atom.kind == AtomKind::copy || atom.kind == AtomKind::computation;
    if (how_.linear && is_linear &&
        atom.size.count != 0) {  // L(0, τ) is the cost of synchronisation, not zero
      factor = atom.size.count * factor;
      atom.size.count = 1;
    }
    add_term(factor, atom);
  }

  void add_max(Factor factor, std::uint32_t concurrency, const Expression& e) {
    std::vector<Expression> terms;
    for (const Expression& term : e.terms()) {
      Collector part(how_);
      part.add(1, concurrency, term);
      const Expression simple = part.result();
      if (std::find(terms.begin(), terms.end(), simple) == terms.end()) terms.push_back(simple);
    }
    if (how_.farther_dominates) keep_farthest(terms);
    terms = without_bounded(terms, terms);
    if (terms.size() == 1) return add(factor, 1, terms.front());
    if (terms.empty()) return;
    const Rational common = take_common_factor(terms);
    add_term(common * factor, Expression::max(std::move(terms)));
  }

  /// max{2a, 2b} = 2max{a, b}
  static Rational take_common_factor(std::vector<Expression>& terms) {
    const Factor first = terms.front().factor();
    const bool all_have_it = std::all_of(terms.begin(), terms.end(), [&](const Expression& term) {
      return term.form() == Expression::Form::times && term.factor() == first;
    });
    if (!all_have_it || first.per_k != 0 || first.fixed <= 0) return 1;
    for (Expression& term : terms) term = Expression(term.terms().front());
    return first.fixed;
  }

  void add_term(Factor factor, const Expression& term) {
    const auto same =
        std::find_if(terms_.begin(), terms_.end(), [&](const auto& old) { return old.second == term; });
    if (same == terms_.end())
      terms_.emplace_back(factor, term);
    else
      same->first = same->first + factor;
  }

  const Simplification how_;
  std::vector<std::pair<Factor, Expression>> terms_;
};

}  // namespace

Expression simplify(const Expression& expression, const Simplification& how) {
  Collector collector(how);
  collector.add(1, 1, expression);
  return collector.result();
}

}  // namespace convene::model
