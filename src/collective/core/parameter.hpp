// SPDX-License-Identifier: BSD-3-Clause
// Parameters of algorithms, as descriptors state them: constant data without start-up cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string_view>

#include "collective/core/spec_tree.hpp"

namespace convene::collective {

/// A short constant list with inline storage for `most` items.
template <class T, std::size_t most>
class ShortList {
 public:
  constexpr ShortList() = default;
  constexpr ShortList(std::initializer_list<T> items) {
    if (items.size() > most) throw std::logic_error("a descriptor's list is too long");
    for (const T& item : items) items_[size_++] = item;
  }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, most> items_{};
  std::size_t size_ = 0;
};

/// A parameter of an algorithm: a whole number, one of a list of words (its value is the word's index), or a
/// list of numbers.
struct Parameter {
  std::string_view name;
  std::string_view summary;
  std::int64_t fallback;  ///< default value
  std::int64_t least = 0, most = 0;
  ShortList<std::string_view, 6> words = {};
  ShortList<Value, 8> samples = {};  ///< values that the checker's grid tries
  bool is_list = false;              ///< up to Value::most numbers, each from `least` to `most`
};

/// The parameters of a descriptor with the single parameter `parameter`, which several algorithms may share.
/// It must not be a temporary.
constexpr std::span<const Parameter> only(const Parameter& parameter) { return {&parameter, 1}; }
void only(Parameter&&) = delete;

}  // namespace convene::collective
