// SPDX-License-Identifier: BSD-3-Clause
// Reader of the parameters of cost models in JSON. Errors name the file and the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "model/platform/by_tau.hpp"
#include "model/platform/piecewise.hpp"

namespace convene::model {

/// A value of a JSON file and its path in it.
class JsonField {
 public:
  JsonField(const JsonValue& value, std::string_view origin, std::string path);

  /// Throws Error: "ORIGIN: field PATH <why>".
  [[noreturn]] void refuse(std::string_view why) const;

  bool has(std::string_view key) const;
  const JsonValue& value() const { return value_; }
  JsonField operator[](const std::string& key) const;
  JsonField operator[](std::size_t index) const;

  // Typed values. Each throws Error if the value has another type.
  /// An object without other keys than these.
  const JsonField& object(std::span<const std::string_view> known) const;
  const JsonField& object(std::initializer_list<std::string_view> known) const {
    return object(std::span(known.begin(), known.size()));
  }
  /// The length of a list with at least `least` entries.
  std::size_t list(std::size_t least = 1) const;
  std::string text() const;
  double number() const;  ///< from 0 on
  double size() const;    ///< bytes; also "64KiB"
  std::uint32_t whole(double least) const;

 private:
  const JsonValue& value_;
  std::string_view origin_;
  std::string path_;
};

/// Reads times in the file's unit.
class ParameterReader {
 public:
  /// `unit`: seconds.
  explicit ParameterReader(double unit) : unit_(unit) {}

  double time(const JsonField& field) const;
  /// A number, a list of [size, value], or {"fixed": …, "per_byte": …}.
  Piecewise function(const JsonField& field) const;
  /// A function that does not decrease: the duration of an operation as a function of bytes.
  Piecewise non_decreasing(const JsonField& field) const;
  /// A non-decreasing function for each τ; τ = 1 among them, and larger values for larger τ.
  ByTau table_by_tau(const JsonField& table) const;
  /// One non-decreasing function for every τ, or one for each.
  ByTau by_tau(const JsonField& field) const;

 private:
  double unit_;
};

}  // namespace convene::model
