// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#define JSON_NO_IO  // no streams: this is part of a library that is loaded into any program
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::base {

namespace {

using Kind = JsonValue::Kind;

/// Position of the parser: it reads through Cursor and so moves `at`.
class Position {
 public:
  explicit Position(const char* begin) : at(begin), counted_(begin) {}

  /// The line of the last character that was read, from 1. (After a number the parser has read one character
  /// more, possibly a line end; a line end belongs to the line that it ends.)
  unsigned line() {
    while (counted_ + 1 < at) line_ += *counted_++ == '\n' ? 1 : 0;
    return line_;
  }

  const char* at;

 private:
  const char* counted_;
  unsigned line_ = 1;
};

struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* place = nullptr;
  Position* position = nullptr;

  reference operator*() const { return *place; }
  Cursor& operator++() {
    position->at = ++place;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return place == other.place; }
};

/// The part of the library's message that describes the input, on one line of plain ASCII.
std::string syntax_error(std::string_view message) {
  constexpr std::string_view mark = "syntax error while parsing ";
  if (const auto at = message.find(mark); at != std::string_view::npos) {
    message.remove_prefix(at + mark.size());
    if (const auto dash = message.find(" - "); dash != std::string_view::npos)
      message.remove_prefix(dash + 3);
  } else if (const auto bracket = message.find("] "); bracket != std::string_view::npos) {
    message.remove_prefix(bracket + 2);
  }
  constexpr std::size_t longest = 160;
  std::string result;
  for (char c : message.substr(0, longest)) result += c >= 0x20 && c < 0x7f ? c : '?';
  return message.size() > longest ? result + "..." : result;
}

/// Receives the parser's events and builds values. Methods return true to continue, as the parser requires.
class Reader {
 public:
  Reader(const std::string& file, Position& position) : file_(file), position_(position) {}

  bool null() { return add(Kind::null), true; }
  bool boolean(bool value) { return add(Kind::boolean).text = value ? "true" : "false", true; }
  bool number_integer(std::int64_t value) {
    return add_number(Kind::number, static_cast<double>(value), std::to_string(value)), true;
  }
  bool number_unsigned(std::uint64_t value) {
    add_number(Kind::whole, static_cast<double>(value), std::to_string(value)).whole = value;
    return true;
  }
  bool number_float(double value, const std::string& written) {
    return add_number(Kind::number, value, written), true;
  }
  bool string(std::string& value) { return add(Kind::text).text = std::move(value), true; }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // does not occur in text
  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::list); }
  bool end_object() { return open_.pop_back(), true; }
  bool end_array() { return open_.pop_back(), true; }

  bool key(std::string& name) {
    JsonValue& object = *open_.back();
    if (object.find(name)) fail("the name " + in_quotes(name) + " is given twice; leave one out");
    object.keys.push_back({std::move(name), position_.line()});
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    constexpr int out_of_range = 406;
    if (error.id == out_of_range) fail("this number is out of range");
    fail("this is not JSON: " + syntax_error(error.what()));
  }

  JsonValue take() { return std::move(root_); }

  [[noreturn]] void fail(const std::string& what) {
    throw Error(file_ + ":" + std::to_string(position_.line()) + ": " + what);
  }

 private:
  JsonValue& add(Kind kind) {
    JsonValue& value = open_.empty() ? root_ : open_.back()->items.emplace_back();
    value.kind = kind;
    value.line = position_.line();
    return value;
  }

  JsonValue& add_number(Kind kind, double number, std::string written) {
    JsonValue& value = add(kind);
    value.number = number;
    value.text = std::move(written);
    return value;
  }

  bool open(Kind kind) {
    if (open_.size() == json_depth)
      fail("this is nested too deeply; at most " + std::to_string(json_depth) + " levels are read");
    // A pointer into a growing vector, and yet it stays: while this value is open, none is added beside it.
    open_.push_back(&add(kind));
    return true;
  }

  const std::string& file_;
  Position& position_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i)
    if (keys[i].name == name) return &items[i];
  return nullptr;
}

std::string JsonValue::describe() const {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return text;
    case Kind::whole:
    case Kind::number:
      return text.size() > 40 ? text.substr(0, 40) + "..." : text;
    case Kind::text:
      return in_quotes(text);
    case Kind::list:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "";
}

JsonValue parse_json(std::string_view text, const std::string& file) {
  Position position(text.data());
  Reader reader(file, position);
  // The library takes a NUL for the text's end.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    position.at += nul;
    reader.fail("this is not JSON: a NUL byte");
  }
  const Cursor begin{text.data(), &position}, end{text.data() + text.size(), &position};
  nlohmann::json::sax_parse(begin, end, &reader);
  return reader.take();
}

}  // namespace convene::base
