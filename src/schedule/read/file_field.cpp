// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/read/file_field.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::schedule {

void FileField::refuse(std::string_view why) const {
  std::string where;
  if (rank_) where += fmt::format("rank {}", *rank_);
  if (step_) where += fmt::format(", step {}", *step_);
  if (!where.empty()) where += ": ";
  if (!name_.empty()) where += fmt::format("\"{}\" ", name_);
  throw Error(fmt::format("{}:{}: {}{}", *file_, value_->line, where, why));
}

FileField FileField::of_rank(std::uint32_t rank) const {
  FileField field = *this;
  field.name_ = {};
  field.rank_ = rank;
  return field;
}

FileField FileField::of_step(std::uint32_t step) const {
  FileField field = *this;
  field.name_ = {};
  field.step_ = step;
  return field;
}

FileField FileField::inside(const JsonValue& value, std::string_view name) const {
  FileField field = *this;
  field.value_ = &value;
  field.name_ = name;
  return field;
}

std::optional<FileField> FileField::find(std::string_view key) const {
  for (std::size_t i = 0; i < value_->keys.size(); ++i)
    if (value_->keys[i].name == key) return inside(value_->items[i], value_->keys[i].name);
  return std::nullopt;
}

FileField FileField::operator[](std::string_view key) const {
  const std::optional<FileField> found = find(key);
  if (!found) refuse(fmt::format("lacks \"{}\"; add it", key));
  return *found;
}

const JsonValue& FileField::object() const {
  if (!value_->is_object()) refuse(fmt::format("must be an object, not {}", value_->describe()));
  return *value_;
}

const JsonValue& FileField::object(std::span<const std::string_view> known) const {
  for (const JsonValue::Key& key : object().keys)
    if (std::find(known.begin(), known.end(), key.name) == known.end())
      inside(*value_, {}).refuse(base::no_such("field", key.name, known));
  return *value_;
}

std::vector<FileField> FileField::entries(std::size_t least, std::size_t most) const {
  if (!value_->is_list()) refuse(fmt::format("must be a list, not {}", value_->describe()));
  const std::size_t size = value_->items.size();
  if (size < least || size > most)
    refuse(least == most ? fmt::format("must have {} entries, not {}", least, size)
                         : fmt::format("must have {} to {} entries, not {}", least, most, size));
  std::vector<FileField> result;
  result.reserve(size);
  for (const JsonValue& item : value_->items) result.push_back(inside(item, name_));
  return result;
}

std::string FileField::text() const {
  if (!value_->is_text()) refuse(fmt::format("must be a text, not {}", value_->describe()));
  return value_->text;
}

bool FileField::boolean() const {
  if (value_->kind != JsonValue::Kind::boolean)
    refuse(fmt::format("must be true or false, not {}", value_->describe()));
  return value_->text == "true";
}

std::uint32_t FileField::whole(std::uint32_t least, std::uint32_t most) const {
  if (value_->kind != JsonValue::Kind::whole || value_->whole < least || value_->whole > most)
    refuse(fmt::format("must be a whole number from {} to {}, not {}", least, most, value_->describe()));
  return static_cast<std::uint32_t>(value_->whole);
}

}  // namespace convene::schedule
