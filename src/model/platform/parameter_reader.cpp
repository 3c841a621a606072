// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::model {

namespace {

/// Throws Error if an operation is faster for a larger τ.
void require_growth(const JsonField& table, const ByTau& transfer) {
  for (auto right = std::next(transfer.begin()); right != transfer.end(); ++right) {
    const auto left = std::prev(right);
    for (const Piecewise* side : {&left->second, &right->second})
      for (const Piecewise::Point& point : side->points())
        if (left->second(point.at) > right->second(point.at) * (1 + 1e-12))
          table.refuse(fmt::format("is larger for τ = {} than for τ = {} at {} bytes", left->first,
                                   right->first, point.at));
  }
}

}  // namespace

JsonField::JsonField(const JsonValue& value, std::string_view origin, std::string path)
    : value_(value), origin_(origin), path_(std::move(path)) {}

void JsonField::refuse(std::string_view why) const {
  const std::string where = path_.empty() ? "" : fmt::format("field {} ", path_);
  throw Error(fmt::format("{}: {}{}", origin_, where, why));
}

bool JsonField::has(std::string_view key) const { return value_.find(key) != nullptr; }

JsonField JsonField::operator[](const std::string& key) const {
  const JsonValue* found = value_.find(key);
  if (!found) refuse(fmt::format("lacks '{}'", key));
  return JsonField(*found, origin_, path_.empty() ? key : path_ + "." + key);
}

JsonField JsonField::operator[](std::size_t index) const {
  return JsonField(value_.items[index], origin_, fmt::format("{}[{}]", path_, index));
}

const JsonField& JsonField::object(std::span<const std::string_view> known) const {
  if (!value_.is_object()) refuse("is not an object");
  for (const auto& [key, unused] : value_.keys)
    if (std::find(known.begin(), known.end(), key) == known.end()) refuse(no_such("parameter", key, known));
  return *this;
}

std::size_t JsonField::list(std::size_t least) const {
  if (!value_.is_list() || value_.items.size() < least)
    refuse(least == 0 ? "is not a list" : "is not a list with at least one entry");
  return value_.items.size();
}

std::string JsonField::text() const {
  if (!value_.is_text()) refuse("is not a text");
  return value_.text;
}

double JsonField::number() const {
  if (!value_.is_number()) refuse(fmt::format("is not a number: {}", value_.describe()));
  if (value_.number < 0) refuse(fmt::format("is {}; it must be 0 or larger", value_.number));
  return value_.number;
}

double JsonField::size() const {
  if (!value_.is_text()) return number();
  try {
    return static_cast<double>(parse_size(value_.text));
  } catch (const Error& error) {
    refuse(std::string("is not a size: ") + error.what());
  }
}

std::uint32_t JsonField::whole(double least) const {
  const double value = size();
  if (value != std::floor(value) || value < least || value > 1e9)
    refuse(fmt::format("is {}; it must be a whole number from {}", value, least));
  return static_cast<std::uint32_t>(value);
}

double ParameterReader::time(const JsonField& field) const { return field.number() * unit_; }

Piecewise ParameterReader::function(const JsonField& field) const {
  if (field.value().is_number()) return Piecewise(time(field));
  if (field.value().is_object()) {
    field.object({"fixed", "per_byte"});
    return Piecewise::line(time(field["fixed"]), time(field["per_byte"]));
  }
  std::vector<Piecewise::Point> points;
  for (std::size_t i = 0; i < field.list(); ++i) {
    if (!field[i].value().is_list() || field[i].list() != 2) field[i].refuse("is not a pair [size, value]");
    points.push_back({field[i][0].size(), time(field[i][1])});
  }
  try {
    return Piecewise(std::move(points));
  } catch (const Error& error) {
    field.refuse(error.what());
  }
}

Piecewise ParameterReader::non_decreasing(const JsonField& field) const {
  Piecewise result = function(field);
  if (!result.never_falls()) field.refuse("decreases; a larger message cannot take less time");
  return result;
}

ByTau ParameterReader::table_by_tau(const JsonField& table) const {
  if (!table.value().is_object()) table.refuse("is not an object with a function for each τ");
  ByTau result;
  for (const auto& [key, unused] : table.value().keys) {
    const auto tau = parse_whole(key);
    if (!tau || *tau == 0 || *tau > 1'000'000)
      table.refuse(fmt::format("has the key {}, which is not a number of ranks τ", in_quotes(key)));
    if (!result.emplace(static_cast<std::uint32_t>(*tau), non_decreasing(table[key])).second)
      table.refuse(fmt::format("has τ = {} a second time", *tau));
  }
  if (!result.contains(1)) table.refuse("lacks τ = 1");
  require_growth(table, result);
  return result;
}

ByTau ParameterReader::by_tau(const JsonField& field) const {
  const bool is_table = field.value().is_object() && !field.has("fixed") && !field.has("per_byte");
  return is_table ? table_by_tau(field) : ByTau{{1, non_decreasing(field)}};
}

}  // namespace convene::model
