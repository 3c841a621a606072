// SPDX-License-Identifier: BSD-3-Clause
// Reader of the fields of JSON objects: the common part of the readers of rules and wisdom. Errors name file,
// line, item and field, and what to write.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "collective/core/spec.hpp"

namespace convene::decide {

/// Minimum and maximum, both included.
struct Bounds {
  std::uint64_t least = 0, most = UINT64_MAX;
  bool hold(std::uint64_t value) const { return value >= least && value <= most; }
  bool is_anything() const { return least == 0 && most == UINT64_MAX; }
};

/// A file is an object with a version and a list of items: {"convene_rules": 1, "rules": [...]}. It may have
/// a "comment", which is for people.
class FieldReader {
 public:
  /// Kind of a file: "rules file", its version field, its list and the word for one item of it.
  struct FileKind {
    std::string_view file, version_field;
    std::uint64_t version;
    std::string_view list, item;
  };

  FieldReader(const FileKind& kind, const std::string& file) : kind_(kind), file_(file) {}

  /// The list of items. Throws Error where the file is of another kind or version.
  const JsonValue& items(const JsonValue& root) const;
  /// The next item begins: an object with no other fields than these.
  void begin_item(const JsonValue& value, std::span<const std::string_view> known);

  /// Numbers of bytes may have a unit, and may be 0.
  enum class Unit : std::uint8_t { count, bytes };

  Collective read_collective(const JsonValue& item) const;
  Spec read_use(const JsonValue& item, Collective collective) const;
  /// A text that must be there.
  const std::string& read_text(const JsonValue& item, std::string_view name, std::string_view example) const;
  /// A number above 0 that must be there.
  double read_positive(const JsonValue& item, std::string_view name, std::string_view example) const;
  /// A whole number from 1 on that must be there.
  std::uint64_t read_count(const JsonValue& item, std::string_view name, std::string_view example) const;
  /// True or false; false where it is not there.
  bool read_flag(const JsonValue& item, std::string_view name) const;
  /// A value, a list of the least and the most, or an object with "min" and/or "max"; anything where it is
  /// not there.
  Bounds read_bounds(const JsonValue& item, std::string_view name, Unit unit) const;
  /// The object of that name, which must be there and have no other fields than these.
  const JsonValue& read_object(const JsonValue& item, std::string_view name,
                               std::span<const std::string_view> known) const;

  unsigned number() const { return number_; }
  [[noreturn]] void fail(unsigned line, const std::string& what) const;
  /// A field of the item that is being read, for messages.
  std::string field(std::string_view name) const;

 private:
  void check_names(const JsonValue& object, const std::string& of,
                   std::span<const std::string_view> known) const;
  const JsonValue& required(const JsonValue& item, std::string_view name, std::string_view example) const;
  std::uint64_t read_number(const JsonValue& value, std::string_view name, Unit unit) const;
  Bounds read_min_max(const JsonValue& value, std::string_view name, Unit unit) const;

  const FileKind& kind_;
  const std::string& file_;
  unsigned number_ = 0;  // of the item
};

/// The whole of a file. `kind` names it in the error: "rules file". Throws Error where it cannot be read.
std::string read_whole_file(const std::string& path, std::string_view kind);

}  // namespace convene::decide
