// SPDX-License-Identifier: BSD-3-Clause
#include "decide/field_reader.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::decide {

namespace {

using Kind = JsonValue::Kind;

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

}  // namespace

void FieldReader::fail(unsigned line, const std::string& what) const {
  throw Error(file_ + ":" + std::to_string(line) + ": " + what);
}

std::string FieldReader::field(std::string_view name) const {
  return quoted(name) + " of " + std::string(kind_.item) + " " + std::to_string(number_);
}

void FieldReader::check_names(const JsonValue& object, const std::string& of,
                              std::span<const std::string_view> known) const {
  for (const JsonValue::Key& key : object.keys) {
    bool found = false;
    for (std::string_view name : known) found = found || name == key.name;
    if (!found) fail(key.line, of + no_such("field", key.name, known));
  }
}

const JsonValue& FieldReader::items(const JsonValue& root) const {
  const std::string wanted = quoted(kind_.version_field) + ": " + std::to_string(kind_.version);
  const std::string shape = "{" + wanted + ", " + quoted(kind_.list) + ": [...]}";
  const std::string file(kind_.file), list(kind_.list);
  if (root.kind != Kind::object)
    fail(root.line, "a " + file + " must be an object, as in " + shape + ", not " + root.describe());
  const std::string_view known[] = {kind_.version_field, kind_.list, "comment"};
  check_names(root, "", known);
  const JsonValue* found = root.find(kind_.version_field);
  if (!found) fail(root.line, "this is not a " + file + ": it lacks " + wanted);
  if (found->kind != Kind::whole || found->whole != kind_.version)
    fail(found->line,
         "this version of Convene reads " + list + " with " + wanted + ", not " + found->describe());
  const JsonValue* values = root.find(kind_.list);
  if (!values) fail(root.line, quoted(list) + " is missing; add " + shape);
  if (values->kind != Kind::list)
    fail(values->line, quoted(list) + " must be a list of " + list + ", not " + values->describe());
  return *values;
}

void FieldReader::begin_item(const JsonValue& value, std::span<const std::string_view> known) {
  ++number_;
  const std::string item(kind_.item);
  const std::string of = item + " " + std::to_string(number_) + ": ";
  if (value.kind != Kind::object)
    fail(value.line, of + "a " + item + " must be an object, not " + value.describe());
  check_names(value, of, known);
}

const JsonValue& FieldReader::required(const JsonValue& item, std::string_view name,
                                       std::string_view example) const {
  const JsonValue* value = item.find(name);
  if (value) return *value;
  fail(item.line, std::string(kind_.item) + " " + std::to_string(number_) + " has no " + quoted(name) +
                      "; write " + quoted(name) + ": " + std::string(example));
}

const std::string& FieldReader::read_text(const JsonValue& item, std::string_view name,
                                          std::string_view example) const {
  const std::string shown = quoted(example);
  const JsonValue& value = required(item, name, shown);
  if (value.kind != Kind::text)
    fail(value.line,
         field(name) + " must be a text, not " + value.describe() + "; write " + quoted(name) + ": " + shown);
  return value.text;
}

double FieldReader::read_positive(const JsonValue& item, std::string_view name,
                                  std::string_view example) const {
  const JsonValue& value = required(item, name, example);
  if (!value.is_number() || !(value.number > 0))
    fail(value.line, field(name) + " must be a number above 0, not " + value.describe());
  return value.number;
}

std::uint64_t FieldReader::read_count(const JsonValue& item, std::string_view name,
                                      std::string_view example) const {
  return read_number(required(item, name, example), name, Unit::count);
}

bool FieldReader::read_flag(const JsonValue& item, std::string_view name) const {
  const JsonValue* value = item.find(name);
  if (!value) return false;
  if (value->kind != Kind::boolean)
    fail(value->line, field(name) + " must be true or false, not " + value->describe());
  return value->text == "true";
}

const JsonValue& FieldReader::read_object(const JsonValue& item, std::string_view name,
                                          std::span<const std::string_view> known) const {
  const JsonValue& value = required(item, name, "{...}");
  if (value.kind != Kind::object)
    fail(value.line, field(name) + " must be an object, not " + value.describe());
  check_names(value, field(name) + ": ", known);
  return value;
}

Collective FieldReader::read_collective(const JsonValue& item) const {
  const std::string& text = read_text(item, "collective", "allgather");
  try {
    return parse_collective(text);
  } catch (const Error& error) {
    fail(item.find("collective")->line, field("collective") + ": " + error.what());
  }
}

Spec FieldReader::read_use(const JsonValue& item, Collective collective) const {
  const std::string& text = read_text(item, "use", "sparbit");
  try {
    return parse_spec(collective, text);
  } catch (const Error& error) {
    fail(item.find("use")->line, field("use") + ": " + error.what());
  }
}

std::uint64_t FieldReader::read_number(const JsonValue& value, std::string_view name, Unit unit) const {
  std::uint64_t number = 0;
  if (value.kind == Kind::whole) {
    number = value.whole;
  } else if (unit == Unit::bytes && value.kind == Kind::text) {
    try {
      number = parse_size(value.text);
    } catch (const Error& error) {
      fail(value.line, field(name) + ": " + error.what());
    }
  } else {
    const std::string_view wanted = unit == Unit::bytes ? "a size such as 8 or \"4KiB\"" : "a whole number";
    fail(value.line, field(name) + " must be " + std::string(wanted) + ", not " + value.describe());
  }
  if (unit == Unit::count && number == 0) fail(value.line, field(name) + " must be at least 1, not 0");
  return number;
}

Bounds FieldReader::read_bounds(const JsonValue& item, std::string_view name, Unit unit) const {
  const JsonValue* value = item.find(name);
  if (!value) return {};
  Bounds bounds;
  if (value->kind == Kind::list) {
    if (value->items.size() != 2)
      fail(value->line, field(name) + " must be a list of two numbers, minimum and maximum, not " +
                            std::to_string(value->items.size()));
    bounds = {read_number(value->items[0], name, unit), read_number(value->items[1], name, unit)};
  } else if (value->kind == Kind::object) {
    bounds = read_min_max(*value, name, unit);
  } else {
    bounds.least = bounds.most = read_number(*value, name, unit);
  }
  if (bounds.least > bounds.most)
    fail(value->line, field(name) + " matches nothing: its minimum, " + std::to_string(bounds.least) +
                          ", exceeds its maximum, " + std::to_string(bounds.most));
  return bounds;
}

Bounds FieldReader::read_min_max(const JsonValue& value, std::string_view name, Unit unit) const {
  constexpr std::string_view known[] = {"min", "max"};
  check_names(value, field(name) + ": ", known);
  if (value.items.empty()) fail(value.line, field(name) + " is empty; give it a \"min\", a \"max\" or both");
  Bounds bounds;
  if (unit == Unit::count)
    bounds.least = 1;  // an unknown count is 0, and matches no rule that has bounds
                       // for it
  if (const JsonValue* least = value.find("min")) bounds.least = read_number(*least, name, unit);
  if (const JsonValue* most = value.find("max")) bounds.most = read_number(*most, name, unit);
  return bounds;
}

std::string read_whole_file(const std::string& path, std::string_view kind) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text;
  if (file) {
    char part[4096];
    std::size_t got = 0;
    while ((got = std::fread(part, 1, sizeof part, file.get())) > 0) text.append(part, got);
  }
  if (!file || std::ferror(file.get()))
    throw Error("the " + std::string(kind) + " " + path + " cannot be read: " + std::strerror(errno));
  return text;
}

}  // namespace convene::decide
