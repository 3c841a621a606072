// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_expression.hpp"

#include <algorithm>
#include <utility>

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
  return Atom{.kind = AtomKind::overhead, .channel = channel, .size = std::move(size)};
}
Expression L(std::uint32_t channel, Size size, std::uint32_t tau, TransferKind kind) {
  return Atom{
      .kind = AtomKind::transfer, .channel = channel, .size = std::move(size), .tau = tau, .transfer = kind};
}
Expression T(std::uint32_t channel, Size size) {
  return Atom{.kind = AtomKind::transmission, .channel = channel, .size = std::move(size)};
}
Expression T_sr(std::uint32_t channel, Size size, TransferKind kind) {
  return Atom{.kind = AtomKind::send_receive, .channel = channel, .size = std::move(size), .transfer = kind};
}
Expression c(Size size, std::uint32_t tau) {
  return Atom{.kind = AtomKind::copy, .channel = 0, .size = std::move(size), .tau = tau};
}
Expression gamma(Size size, std::uint32_t tau) {
  return Atom{.kind = AtomKind::computation, .channel = 0, .size = std::move(size), .tau = tau};
}
Expression p(Size size) { return Atom{.kind = AtomKind::packing, .channel = 0, .size = std::move(size)}; }

namespace {

/// 2L(S, 1) + (k·a − 1)L(S, 2) for a message of a·m bytes, or a·k·L(S, 2) for a long one.
Expression pipeline(const Atom& atom, MemoryTransport memory) {
  const Size segment{1, "S"};
  if (memory == MemoryTransport::long_segments)
    return Factor(0, atom.size.count) * L(atom.channel, segment, 2);
  return 2 * L(atom.channel, segment, 1) + Factor(-1, atom.size.count) * L(atom.channel, segment, 2);
}

Expression through_memory(const Atom& atom, MemoryTransport memory) {
  Expression transfer = L(atom.channel, atom.size, 1);
  switch (memory) {
    case MemoryTransport::copy_in_copy_out:
      return 2 * transfer;
    case MemoryTransport::zero_copy:
      return transfer;
    case MemoryTransport::buffered:
      return 3 * transfer;
    case MemoryTransport::segments:
    case MemoryTransport::long_segments:
      if (atom.kind == AtomKind::send_receive)
        return Factor(0, 2 * atom.size.count) * L(atom.channel, {1, "S"}, 1);
      return pipeline(atom, memory);
  }
  return {};
}

Expression through_network(const Atom& atom, const TransportModel& transport) {
  Expression transfer = L(atom.channel, atom.size, 1, atom.transfer);
  if (transport.network == NetworkTransport::rdma) return transfer;
  return 2 * L(transport.network_channel - 1, atom.size, 1) + transfer;
}

Expression expand_atom(const Atom& atom, const TransportModel& transport) {
  if (atom.kind != AtomKind::transmission && atom.kind != AtomKind::send_receive) return atom;
  const bool in_network = atom.channel >= transport.network_channel;
  const Expression transfers =
      in_network ? through_network(atom, transport) : through_memory(atom, transport.memory);
  return Expression::concurrent(atom.tau, o(atom.channel, atom.size) + transfers);
}

}  // namespace

Expression expand(const Expression& expression, const TransportModel& transport) {
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

Expression concurrent_transfers(std::uint32_t channel, std::vector<Size> sizes, TransferKind kind) {
  std::sort(sizes.begin(), sizes.end(), [](const Size& a, const Size& b) { return a.count < b.count; });
  std::vector<Expression> parts;
  Rational before = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].count == before && i > 0) continue;
    parts.push_back(L(channel, {sizes[i].count - before, sizes[i].unit},
                      static_cast<std::uint32_t>(sizes.size() - i), kind));
    before = sizes[i].count;
  }
  return Expression::sum(std::move(parts));
}

}  // namespace convene::model
