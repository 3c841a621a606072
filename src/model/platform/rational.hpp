// SPDX-License-Identifier: BSD-3-Clause
// Exact fractions for the factors of cost expressions.
#pragma once

#include <compare>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "base/layers.hpp"

namespace convene::model {

/// A fraction in lowest terms, with a positive denominator. Throws std::overflow_error if it does not fit 64
/// bits.
class Rational {
 public:
  constexpr Rational(std::int64_t number = 0) : numerator_(number) {}  // NOLINT: a whole number is a fraction
  constexpr Rational(std::int64_t numerator, std::int64_t denominator) { set(numerator, denominator); }

  constexpr std::int64_t numerator() const { return numerator_; }
  constexpr std::int64_t denominator() const { return denominator_; }
  constexpr double value() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }

  friend constexpr Rational operator+(Rational a, Rational b) {
    return make(Wide{a.numerator_} * b.denominator_ + Wide{b.numerator_} * a.denominator_,
                Wide{a.denominator_} * b.denominator_);
  }
  friend constexpr Rational operator-(Rational a) { return {-a.numerator_, a.denominator_}; }
  friend constexpr Rational operator-(Rational a, Rational b) { return a + -b; }
  friend constexpr Rational operator*(Rational a, Rational b) {
    return make(Wide{a.numerator_} * b.numerator_, Wide{a.denominator_} * b.denominator_);
  }
  friend constexpr Rational operator/(Rational a, Rational b) {
    return make(Wide{a.numerator_} * b.denominator_, Wide{a.denominator_} * b.numerator_);
  }
  friend constexpr bool operator==(Rational, Rational) = default;
  friend constexpr std::strong_ordering operator<=>(Rational a, Rational b) {
    return Wide{a.numerator_} * b.denominator_ <=> Wide{b.numerator_} * a.denominator_;
  }

 private:
  __extension__ using Wide = __int128;

  static constexpr Rational make(Wide numerator, Wide denominator) {
    if (denominator == 0) throw std::overflow_error("division of a cost expression's factor by zero");
    Wide a = numerator < 0 ? -numerator : numerator, b = denominator < 0 ? -denominator : denominator;
    while (b != 0) {
      const Wide rest = a % b;
      a = b;
      b = rest;
    }
    if (denominator < 0) a = -a;
    numerator /= a;
    denominator /= a;
    constexpr Wide most = INT64_MAX;
    if (numerator > most || -numerator > most || denominator > most)
      throw std::overflow_error("a cost expression's factor does not fit 64 bits");
    Rational result;
    result.numerator_ = static_cast<std::int64_t>(numerator);
    result.denominator_ = static_cast<std::int64_t>(denominator);
    return result;
  }
  constexpr void set(std::int64_t numerator, std::int64_t denominator) {
    *this = make(numerator, denominator);
  }

  std::int64_t numerator_ = 0, denominator_ = 1;
};

}  // namespace convene::model
