// SPDX-License-Identifier: BSD-3-Clause
// JSON values with line numbers, for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::decide {

struct LinedJson {
  enum class Kind : std::uint8_t { null, boolean, whole, number, text, list, object };

  struct Key {
    std::string name;
    unsigned line;
  };

  Kind kind = Kind::null;
  unsigned line = 1;
  std::string text;              ///< a text's value; a number as written
  std::uint64_t whole = 0;       ///< a whole number without sign
  std::vector<LinedJson> items;  ///< a list's items; an object's values
  std::vector<Key> keys;         ///< an object's names, one for each item

  /// The value of this name, or null.
  const LinedJson* find(std::string_view name) const;
  /// For messages: "a list", "the text 'abc'", "2.5".
  std::string describe() const;
};

/// Throws Error as "FILE:LINE: …" if the text is not JSON, contains a name twice, or is nested more than 16
/// deep.
LinedJson parse_lined_json(std::string_view text, const std::string& file);

}  // namespace convene::decide
