// SPDX-License-Identifier: BSD-3-Clause
// Cost expressions of τ-Lop as values. cost_simplification, cost_comparison, cost_text and cost_evaluation
// work on them. Source: the τ-Lop thesis, chapters 3 to 5 and appendix A; equations are cited by its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/platform/rational.hpp"
#include "model/taulop/taulop_parameters.hpp"
#include "model/taulop/transport_model.hpp"

namespace convene::model {

/// A size in bytes as a multiple of a symbol: 2m, m/4, S; the empty symbol is the byte.
struct Size {
  Rational count = 1;
  std::string unit = "m";
  friend bool operator==(const Size&, const Size&) = default;
};

/// A factor that may contain k, the number of segments of m: fixed + per_k·k.
struct Factor {
  Rational fixed = 1, per_k = 0;
  constexpr Factor(Rational fixed_ = 1, Rational per_k_ = 0) : fixed(fixed_), per_k(per_k_) {}  // NOLINT
  constexpr Factor(std::int64_t whole) : fixed(whole) {}                                        // NOLINT
  constexpr Factor(int whole) : fixed(whole) {}                                                 // NOLINT
  bool is_zero() const { return fixed == 0 && per_k == 0; }
  bool is_one() const { return fixed == 1 && per_k == 0; }
  friend Factor operator+(Factor a, Factor b) { return {a.fixed + b.fixed, a.per_k + b.per_k}; }
  friend Factor operator*(Rational a, Factor b) { return {a * b.fixed, a * b.per_k}; }
  friend bool operator==(const Factor&, const Factor&) = default;
};

/// The kinds of atoms, the smallest expressions.
enum class AtomKind : std::uint8_t {
  overhead,      ///< o^c(m): from the call to the first byte in the channel
  transfer,      ///< L^c(m, τ): a transfer concurrent with τ − 1 others
  copy,          ///< c(m, τ): τ ranks copy within their own memory
  computation,   ///< γ(m, τ): τ ranks reduce two vectors
  packing,       ///< p(m): a rank packs or unpacks noncontiguous data
  transmission,  ///< T^c(m): a message from one rank to another, before expand()
  send_receive,  ///< T_sr^c(m): the same if each rank also receives (matters for segmented messages)
};

struct Atom {
  AtomKind kind = AtomKind::transfer;
  std::uint32_t channel = 0;
  Size size;
  std::uint32_t tau = 1;                          ///< of transmissions: their number at a time
  TransferKind transfer = TransferKind::message;  ///< of transfers, and of T_sr in a network
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// An immutable expression. Copies share their parts.
class Expression {
 public:
  enum class Form : std::uint8_t { atom, sum, times, concurrent, max };

  Expression();           ///< zero: the sum of nothing
  Expression(Atom atom);  // NOLINT: an atom is an expression

  static Expression sum(std::vector<Expression> terms);
  static Expression max(std::vector<Expression> terms);
  static Expression times(Factor factor, Expression term);
  /// A ∥ e
  static Expression concurrent(std::uint32_t number, Expression term);

  Form form() const { return node_->form; }
  const Atom& atom() const { return node_->atom; }
  Factor factor() const { return node_->factor; }
  std::uint32_t number() const { return node_->number; }
  const std::vector<Expression>& terms() const { return node_->terms; }
  bool is_zero() const { return form() == Form::sum && terms().empty(); }

  /// In the same form, with the same parts in the same order.
  friend bool operator==(const Expression& a, const Expression& b);

  friend Expression operator+(const Expression& a, const Expression& b) { return sum({a, b}); }
  friend Expression operator*(Factor factor, const Expression& e) { return times(factor, e); }

 private:
  struct Node {
    Form form = Form::sum;
    Atom atom;
    Factor factor;
    std::uint32_t number = 1;
    std::vector<Expression> terms;
  };
  explicit Expression(Node node);
  std::shared_ptr<const Node> node_;
};

// Atoms.
Expression o(std::uint32_t channel, Size size = {});
Expression L(std::uint32_t channel, Size size, std::uint32_t tau, TransferKind kind = TransferKind::message);
Expression T(std::uint32_t channel, Size size = {});
Expression T_sr(std::uint32_t channel, Size size = {}, TransferKind kind = TransferKind::message);
Expression c(Size size, std::uint32_t tau);
Expression gamma(Size size, std::uint32_t tau);
Expression p(Size size);

/// Transmissions replaced by overhead and transfers: (3.1) copy-in-copy-out, (3.2) segmented, (3.7) segmented
/// send-receive, one transfer for zero-copy, three for buffered; in the network (3.3), with RDMA one
/// transfer.
Expression expand(const Expression& expression, const TransportModel& transport = {});

/// Several transfers of given sizes that start together in one channel: by A2, n ∥ L(shortest) + (n − 1) ∥
/// L(next − shortest) + …
Expression concurrent_transfers(std::uint32_t channel, std::vector<Size> sizes,
                                TransferKind kind = TransferKind::message);

}  // namespace convene::model
