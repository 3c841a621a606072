// SPDX-License-Identifier: BSD-3-Clause
// Spec: an algorithm with a value for each parameter and, of a composed one, its parts: a tree.
// collective/core/spec.hpp reads and writes specs as text.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace convene::collective {

struct Algorithm;

/// Value of a parameter: a whole number, the index of a word, or a list of up to `most` numbers. A list of
/// one number equals that number.
class Value {
 public:
  static constexpr std::size_t most = 5;

  constexpr Value() = default;
  constexpr Value(std::int64_t number) : first_(number) {}  // NOLINT(google-explicit-constructor)
  /// Each number after the first is at most 2^31 − 1.
  template <std::convertible_to<std::int32_t>... Numbers>
  requires(sizeof...(Numbers) >= 1 && sizeof...(Numbers) < most) constexpr Value(std::int64_t number,
                                                                                 Numbers... behind)
      : first_(number), rest_{static_cast<std::int32_t>(behind)...}, size_(1 + sizeof...(Numbers)) {}

  constexpr std::size_t size() const { return size_; }
  constexpr std::int64_t operator[](std::size_t i) const { return i == 0 ? first_ : rest_[i - 1]; }
  /// The only number, or a list's first.
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  constexpr explicit operator T() const { return static_cast<T>(first_); }

  /// Appends to a list. Throws std::logic_error if it is full or the number too large.
  constexpr void push_back(std::int64_t number) {
    if (size_ == most || number != static_cast<std::int32_t>(number))
      throw std::logic_error("a parameter's list has no room for a number");
    rest_[size_++ - 1] = static_cast<std::int32_t>(number);
  }

  friend constexpr bool operator==(const Value&, const Value&) = default;
  friend constexpr std::strong_ordering operator<=>(const Value&, const Value&) = default;

 private:
  std::int64_t first_ = 0;
  std::array<std::int32_t, most - 1> rest_{};
  std::uint32_t size_ = 1;
};

/// "4", "4x4x8".
std::string value_text(const Value& value);

struct Spec {
  const Algorithm* algorithm = nullptr;
  std::vector<Value> parameters = {};  ///< in the order of the descriptor's parameters
  std::vector<Spec> parts = {};  ///< in the order of the composition's slots; empty if it is not composed
};

// For caches: an order and a hash that are valid within one process.
bool operator==(const Spec& a, const Spec& b);
std::strong_ordering operator<=>(const Spec& a, const Spec& b);
std::size_t hash(const Spec& spec);

/// Nesting depth of compositions, the outermost included; 0 if it is not composed.
std::size_t depth(const Spec& spec);

}  // namespace convene::collective

template <>
struct std::hash<convene::collective::Spec> {
  std::size_t operator()(const convene::collective::Spec& spec) const {
    return convene::collective::hash(spec);
  }
};
