// SPDX-License-Identifier: BSD-3-Clause
// File fields: values of a schedule file that can say where they stand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace convene::schedule {

using base::JsonValue;

/// A value, its name, and the rank and step that it belongs to. Refers to the file's name and values, which
/// must outlive it. Each function throws Error if the value has another type or is out of range.
class FileField {
 public:
  FileField(const JsonValue& value, const std::string& file, std::string_view name)
      : value_(&value), file_(&file), name_(name) {}

  /// Throws Error: "FILE:LINE: rank 3, step 5: "peer" <why>".
  [[noreturn]] void refuse(std::string_view why) const;

  const JsonValue& value() const { return *value_; }
  /// The same as part of a rank, or of a step.
  FileField of_rank(std::uint32_t rank) const;
  FileField of_step(std::uint32_t step) const;

  std::optional<FileField> find(std::string_view key) const;
  FileField operator[](std::string_view key) const;

  const JsonValue& object() const;
  /// An object without other keys than these.
  const JsonValue& object(std::span<const std::string_view> known) const;
  /// A list with `least` to `most` entries.
  std::vector<FileField> entries(std::size_t least = 0, std::size_t most = SIZE_MAX) const;
  std::string text() const;
  bool boolean() const;
  std::uint32_t whole(std::uint32_t least, std::uint32_t most) const;

 private:
  FileField inside(const JsonValue& value, std::string_view name) const;

  const JsonValue* value_;
  const std::string* file_;
  std::string_view name_;  // empty: the whole rank, step or file
  std::optional<std::uint32_t> rank_, step_;
};

}  // namespace convene::schedule
