// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_expression.hpp"

#include <algorithm>
#include <utility>

#include "model/taulop/cost_bounds.hpp"

namespace convene::model {

Expression::Expression() : Expression(Node{}) {}
Expression::Expression(Atom atom) : Expression(Node{.form = Form::atom, .atom = std::move(atom)}) {}
Expression::Expression(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

Expression Expression::sum(std::vector<Expression> terms) {
  std::erase_if(terms, [](const Expression& term) { return term.is_zero(); });
  if (terms.size() == 1) return terms.front();
  return Expression(Node{.form = Form::sum, .terms = std::move(terms)});
}

Expression Expression::max(std::vector<Expression> terms) {
  if (terms.size() == 1) return terms.front();
  if (terms.empty()) return {};
  return Expression(Node{.form = Form::max, .terms = std::move(terms)});
}

Expression Expression::times(Factor factor, Expression term) {
  if (factor.is_zero() || term.is_zero()) return {};
  if (factor.is_one()) return term;
  return Expression(Node{.form = Form::times, .factor = factor, .terms = {std::move(term)}});
}

Expression Expression::concurrent(std::uint32_t number, Expression term) {
  if (number == 1 || term.is_zero()) return term;
  return Expression(Node{.form = Form::concurrent, .number = number, .terms = {std::move(term)}});
}

bool operator==(const Expression& a, const Expression& b) {
  if (a.node_ == b.node_) return true;
  const Expression::Node &x = *a.node_, &y = *b.node_;
  return x.form == y.form && x.atom == y.atom && x.factor == y.factor && x.number == y.number &&
         x.terms == y.terms;
}

Expression o(std::uint32_t channel, Size size) {
  return Atom{.kind = Kind::overhead, .channel = channel, .size = std::move(size)};
}
Expression L(std::uint32_t channel, Size size, std::uint32_t tau, Sort sort) {
  return Atom{.kind = Kind::transfer, .channel = channel, .size = std::move(size), .tau = tau, .sort = sort};
}
Expression T(std::uint32_t channel, Size size) {
  return Atom{.kind = Kind::transmission, .channel = channel, .size = std::move(size)};
}
Expression T_sr(std::uint32_t channel, Size size, Sort sort) {
  return Atom{.kind = Kind::send_receive, .channel = channel, .size = std::move(size), .sort = sort};
}
Expression c(Size size, std::uint32_t tau) {
  return Atom{.kind = Kind::copy, .channel = 0, .size = std::move(size), .tau = tau};
}
Expression gamma(Size size, std::uint32_t tau) {
  return Atom{.kind = Kind::computation, .channel = 0, .size = std::move(size), .tau = tau};
}
Expression p(Size size) { return Atom{.kind = Kind::packing, .channel = 0, .size = std::move(size)}; }

namespace {

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

  /// Copies first, then overheads, as the source writes them.
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
    if (is_done_by_a_rank(term.atom().kind)) return 0;
    return term.atom().kind == Kind::overhead ? 1 : 2;
  }

  static bool is_done_by_a_rank(Kind kind) { return kind == Kind::copy || kind == Kind::packing; }

  static Factor product(Factor a, Factor b) {
    if (a.per_k != 0 && b.per_k != 0)
      throw std::overflow_error("a cost expression with k² cannot be written");
    return a.per_k == 0 ? a.fixed * b : b.fixed * a;
  }

  void add_atom(Factor factor, std::uint32_t concurrency, Atom atom) {
    if (atom.kind == Kind::overhead) {
      if (how_.drop_overheads) return;
      if (how_.merge_overheads) atom.size.count = 1;
      return add_term(factor, atom);
    }
    if (is_done_by_a_rank(atom.kind) && how_.drop_copies) return;
    if (atom.kind == Kind::packing) return add_term(factor, atom);
    atom.tau *= concurrency;
    const bool is_linear =
        atom.kind == Kind::transfer || atom.kind == Kind::copy || atom.kind == Kind::computation;
    if (how_.linear && is_linear &&
        atom.size.count != 0) {  // L(0, τ) is what synchronisation costs, not nothing
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
    terms = without_bounded(std::move(terms), how_.farther_dominates);
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

/// 2L(S, 1) + (k·a − 1)L(S, 2) for a message of a·m bytes, or a·k·L(S, 2) for a long one.
Expression pipeline(const Atom& atom, Memory memory) {
  const Size segment{1, "S"};
  if (memory == Memory::long_segments) return Factor(0, atom.size.count) * L(atom.channel, segment, 2);
  return 2 * L(atom.channel, segment, 1) + Factor(-1, atom.size.count) * L(atom.channel, segment, 2);
}

Expression through_memory(const Atom& atom, Memory memory) {
  const Expression transfer = L(atom.channel, atom.size, 1);
  switch (memory) {
    case Memory::copy_in_copy_out:
      return 2 * transfer;
    case Memory::zero_copy:
      return transfer;
    case Memory::buffered:
      return 3 * transfer;
    case Memory::segments:
    case Memory::long_segments:
      if (atom.kind == Kind::send_receive)
        return Factor(0, 2 * atom.size.count) * L(atom.channel, {1, "S"}, 1);
      return pipeline(atom, memory);
  }
  return {};
}

Expression through_network(const Atom& atom, const Transport& transport) {
  const Expression transfer = L(atom.channel, atom.size, 1, atom.sort);
  if (transport.network == Network::rdma) return transfer;
  return 2 * L(transport.network_channel - 1, atom.size, 1) + transfer;
}

Expression expand_atom(const Atom& atom, const Transport& transport) {
  if (atom.kind != Kind::transmission && atom.kind != Kind::send_receive) return atom;
  const bool in_network = atom.channel >= transport.network_channel;
  const Expression transfers =
      in_network ? through_network(atom, transport) : through_memory(atom, transport.memory);
  return Expression::concurrent(atom.tau, o(atom.channel, atom.size) + transfers);
}

}  // namespace

Expression simplify(const Expression& expression, const Simplification& how) {
  Collector collector(how);
  collector.add(1, 1, expression);
  return collector.result();
}

Expression expand(const Expression& expression, const Transport& transport) {
  if (expression.form() == Expression::Form::atom) return expand_atom(expression.atom(), transport);
  std::vector<Expression> terms;
  for (const Expression& term : expression.terms()) terms.push_back(expand(term, transport));
  switch (expression.form()) {
    case Expression::Form::times:
      return Expression::times(expression.factor(), terms.front());
    case Expression::Form::concurrent:
      return Expression::concurrent(expression.number(), terms.front());
    case Expression::Form::max:
      return Expression::max(std::move(terms));
    default:
      return Expression::sum(std::move(terms));
  }
}

}  // namespace convene::model
