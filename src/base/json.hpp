// SPDX-License-Identifier: BSD-3-Clause
// JSON reader of every file that Convene reads in C++. Each value knows its line, so that a message can name
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::base {

/// Limit on nesting, here and in python/convene/base/jsons.py.
inline constexpr std::size_t json_depth = 64;

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, whole, number, text, list, object };

  struct Key {
    std::string name;
    unsigned line;
  };

  Kind kind = Kind::null;
  unsigned line = 1;
  std::string text;              ///< a text's value; a number as it was written; true or false
  double number = 0;             ///< any number
  std::uint64_t whole = 0;       ///< a whole number without sign
  std::vector<JsonValue> items;  ///< a list's items; an object's values
  std::vector<Key> keys;         ///< an object's names, one for each item

  bool is_number() const { return kind == Kind::whole || kind == Kind::number; }
  bool is_text() const { return kind == Kind::text; }
  bool is_list() const { return kind == Kind::list; }
  bool is_object() const { return kind == Kind::object; }

  /// The value of this name, or null.
  const JsonValue* find(std::string_view name) const;
  /// For messages: "a list", "'abc'", "2.5".
  std::string describe() const;
};

/// Throws Error as "FILE:LINE: …" where the text is not JSON, gives a name twice, has a number beyond double
/// precision's range, or is nested deeper than json_depth.
JsonValue parse_json(std::string_view text, const std::string& file);

}  // namespace convene::base
