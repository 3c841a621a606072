// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace convene::model {

namespace {

std::string superscript(std::uint32_t number) {
  static constexpr std::array<std::string_view, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (char digit : std::to_string(number)) result += digits[static_cast<std::size_t>(digit - '0')];
  return result;
}

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  std::string write(const Expression& e) const {
    switch (e.form()) {
      case Expression::Form::atom:
        return atom(e.atom());
      case Expression::Form::sum:
        return sum(e);
      case Expression::Form::times:
        return factor(e.factor()) + operand(e.terms().front());
      case Expression::Form::concurrent:
        return concurrent(e.number(), operand(e.terms().front()));
      case Expression::Form::max:
        return max(e);
    }
    return "";
  }

 private:
  /// numerator·symbol/denominator, the symbol perhaps empty: "2m", "m/4", "3k/2", "1/2".
  std::string fraction(Rational count, std::string_view symbol) const {
    const std::int64_t above = count.numerator(), below = count.denominator();
    std::string text = symbol.empty() || above != 1 ? std::to_string(above) : "";
    text += symbol;
    if (below == 1) return text;
    return options_.latex ? fmt::format("\\frac{{{}}}{{{}}}", text, below)
                          : fmt::format("{}/{}", text, below);
  }

  std::string size(const Size& size) const { return size.count == 0 ? "0" : fraction(size.count, size.unit); }

  /// A factor before an operand, without its sign if that stands alone.
  std::string factor(const Factor& f) const {
    if (f.per_k == 0) return spaced(fraction(f.fixed, ""), f.fixed);
    if (f.fixed == 0) return spaced(fraction(f.per_k, "k"), f.per_k);
    const std::string rest = fraction(f.fixed < 0 ? -f.fixed : f.fixed, "");
    return fmt::format("({} {} {})", fraction(f.per_k, "k"), f.fixed < 0 ? minus() : "+", rest);
  }
  std::string spaced(const std::string& text, Rational count) const {
    if (count.denominator() != 1) return options_.latex ? text + "\\," : text + " ";
    return options_.latex ? text + "\\," : text;
  }
  std::string_view minus() const { return options_.latex ? "-" : "−"; }

  static bool is_negative(const Expression& e) {
    if (e.form() != Expression::Form::times) return false;
    const Factor f = e.factor();
    return f.per_k < 0 || (f.per_k == 0 && f.fixed < 0);
  }

  std::string sum(const Expression& e) const {
    if (e.is_zero()) return "0";
    std::string text;
    for (const Expression& term : e.terms()) {
      const bool negative = is_negative(term);
      if (!text.empty()) text += fmt::format(" {} ", negative ? minus() : "+");
      if (text.empty() && negative) text += minus();
      text += negative ? write(Expression::times(Rational(-1) * term.factor(), term.terms().front()))
                       : write(term);
    }
    return text;
  }

  std::string max(const Expression& e) const {
    std::string text;
    for (const Expression& term : e.terms()) text += (text.empty() ? "" : ", ") + write(term);
    return options_.latex ? fmt::format("\\max\\{{{}\\}}", text) : fmt::format("max{{{}}}", text);
  }

  /// In brackets unless it is one symbol.
  std::string operand(const Expression& e) const {
    const bool is_plain = e.form() == Expression::Form::max ||
                          (e.form() == Expression::Form::atom && !is_concurrent_transmission(e.atom()));
    if (is_plain) return write(e);
    return options_.latex ? fmt::format("\\left[{}\\right]", write(e)) : fmt::format("[{}]", write(e));
  }

  std::string concurrent(std::uint32_t number, const std::string& what) const {
    return fmt::format("{} {} {}", number, options_.latex ? "\\parallel" : "∥", what);
  }

  static bool is_transmission(AtomKind kind) {
    return kind == AtomKind::transmission || kind == AtomKind::send_receive;
  }
  static bool is_concurrent_transmission(const Atom& atom) {
    return is_transmission(atom.kind) && atom.tau > 1;
  }

  std::string channel(std::uint32_t number) const {
    if (!options_.channels) return "";
    return options_.latex ? fmt::format("^{{{}}}", number) : superscript(number);
  }

  std::string_view letter(AtomKind kind) const {
    switch (kind) {
      case AtomKind::overhead:
        return "o";
      case AtomKind::transfer:
        return "L";
      case AtomKind::copy:
        return "c";
      case AtomKind::computation:
        return options_.latex ? "\\gamma_{op}" : "γ";
      case AtomKind::packing:
        return "p";
      case AtomKind::transmission:
        return "T";
      case AtomKind::send_receive:
        return options_.latex ? "T_{sr}" : "T_sr";
    }
    return "";
  }

  std::string transfer(TransferKind kind) const {
    if (kind == TransferKind::message) return "L";
    const std::string_view index = kind == TransferKind::exchange ? "sr" : "c";
    return options_.latex ? fmt::format("L_{{{}}}", index) : fmt::format("L_{}", index);
  }

  std::string atom(const Atom& atom) const {
    const bool has_channel =
        atom.kind != AtomKind::copy && atom.kind != AtomKind::computation && atom.kind != AtomKind::packing;
    const std::string symbol =
        atom.kind == AtomKind::transfer ? transfer(atom.transfer) : std::string(letter(atom.kind));
    const std::string name = symbol + (has_channel ? channel(atom.channel) : "");
    if (is_transmission(atom.kind)) {
      const std::string one = fmt::format("{}({})", name, size(atom.size));
      return atom.tau > 1 ? concurrent(atom.tau, one) : one;
    }
    if (atom.kind == AtomKind::overhead || atom.kind == AtomKind::packing)
      return fmt::format("{}({})", name, size(atom.size));
    return fmt::format("{}({}, {})", name, size(atom.size), atom.tau);
  }

  const TextOptions& options_;
};

}  // namespace

std::string to_text(const Expression& expression, const TextOptions& options) {
  return Writer(options).write(expression);
}

}  // namespace convene::model
