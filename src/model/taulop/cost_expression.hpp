// SPDX-License-Identifier: BSD-3-Clause
// τ-Lop's cost expressions as values: built, simplified, printed as the thesis writes them, evaluated with parameters.
// Source: the τ-Lop thesis, chapters 3 to 5 and appendix A; equations are cited by its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/platform/rational.hpp"

namespace convene::model {

struct Platform;

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

/// What cannot be taken apart further.
enum class Kind : std::uint8_t {
  overhead,      ///< o^c(m): from the call to the first byte in the channel
  transfer,      ///< L^c(m, τ): a transfer beside τ − 1 others
  copy,          ///< c(m, τ): τ ranks copy within their own memory
  computation,   ///< γ(m, τ): τ ranks reduce two vectors
  packing,       ///< p(m): a rank packs or unpacks what does not lie in one piece
  transmission,  ///< T^c(m): a message from one rank to another, not yet taken apart into o and L
  send_receive,  ///< T_sr^c(m): the same where each rank also receives (matters for segmented messages)
};

/// What moves in a transfer, where a platform tells that apart.
enum class Sort : std::uint8_t {
  message,   ///< a message, or a part of one
  exchange,  ///< one whose receiver sends to its sender at the same time
  shared,    ///< what a rank writes into memory that others read, or reads there
};

struct Atom {
  Kind kind = Kind::transfer;
  std::uint32_t channel = 0;
  Size size;
  std::uint32_t tau = 1;      ///< for transmissions: how many of them at the same time
  Sort sort = Sort::message;  ///< of transfers, and T_sr of a network
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// How a message travels. `long_segments` is (4.4): of a pipeline only its body is counted.
enum class Memory : std::uint8_t { copy_in_copy_out, zero_copy, buffered, segments, long_segments };
enum class Network : std::uint8_t { copies, rdma };
struct Transport {
  Memory memory = Memory::copy_in_copy_out;
  Network network = Network::copies;
  std::uint32_t network_channel = 1;  ///< this channel and those above are networks; at least 1
};

/// What simplify() does besides the rules that always hold.
struct Simplification {
  bool linear = true;            ///< (g) L(A·m, τ) = A·L(m, τ)
  bool merge_overheads = false;  ///< o(2m) is counted as o(m), as the source does "for clarity"
  bool drop_overheads = false;
  bool drop_copies = false;
  bool farther_dominates = false;  ///< max{L⁰(…), L¹(…)} = L¹(…), as in (5.11)
};

/// Immutable; copies share what they have in common.
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
Expression L(std::uint32_t channel, Size size, std::uint32_t tau, Sort sort = Sort::message);
Expression T(std::uint32_t channel, Size size = {});
Expression T_sr(std::uint32_t channel, Size size = {}, Sort sort = Sort::message);
Expression c(Size size, std::uint32_t tau);
Expression gamma(Size size, std::uint32_t tau);
Expression p(Size size);

/// A sum of factors times atoms and maxima, each once: copies and packing, overheads, the rest in the order of first appearance.
/// Rules: (a) ∥ multiplies τ,
/// never o, and is distributed over sums and maxima; equal terms are added; the arguments of a maximum that others
/// bound are left out; and what `how` asks for.
Expression simplify(const Expression& expression, const Simplification& how = {});

/// Transmissions taken apart into overhead and transfers: (3.1) copy-in-copy-out, (3.2) segmented, (3.7) segmented
/// send-receive, one transfer for zero-copy, three for buffered; in the network (3.3), with RDMA one transfer.
Expression expand(const Expression& expression, const Transport& transport = {});

struct TextOptions {
  bool latex = false;
  bool channels = true;  ///< superscripts; without them where there is one channel only
};
/// As the thesis writes it: "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)".
std::string to_text(const Expression& expression, const TextOptions& options = {});

/// Seconds. Symbols: m is `bytes`, S is the smaller of `segment` and m, and k = m / S. Transmissions are expanded as
/// `transport` says, segmented ones in ⌈size/S⌉ segments. Throws Error where the platform lacks τ-Lop's parameters.
double evaluate(const Expression& expression, const Platform& platform, double bytes,
                const Transport& transport = {}, double segment = 0);

}  // namespace convene::model
