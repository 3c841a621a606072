// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <algorithm>

namespace convene::base {

namespace {

constexpr std::size_t longest_quote = 60;
constexpr std::size_t longest_name =
    64;  // longer texts are not misspelt names; the limit keeps distances cheap

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

void append_escaped(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) {
    out += c;
  } else {
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

/// The largest edit distance at which a name is suggested.
std::size_t tolerance(std::string_view wanted) { return std::max<std::size_t>(1, wanted.size() / 3); }

bool is_beginning(std::string_view wanted, std::string_view name) {
  return wanted.size() >= 2 && name.substr(0, wanted.size()) == wanted;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (char c : text.substr(0, longest_quote)) append_escaped(result, c);
  if (text.size() > longest_quote) result += "...";
  return result += "'";
}

std::string joined(std::span<const std::string_view> names, std::string_view separator) {
  std::string result;
  for (std::string_view name : names) {
    if (!result.empty()) result += separator;
    result += name;
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the dynamic-programming table, for prefixes of a: the one before last (for swaps), the last, and
  // the new one.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> nearest(std::string_view wanted, std::span<const std::string_view> known) {
  if (wanted.empty() || wanted.size() > longest_name) return {};
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (std::string_view name : known) {
    const std::size_t distance = is_beginning(wanted, name) ? 1 : edit_distance(wanted, name);
    if (distance <= tolerance(wanted)) near.emplace_back(distance, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> result;
  for (const auto& [distance, name] : near)
    if (result.size() < 3) result.push_back(name);
  return result;
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> known) {
  const auto near = nearest(wanted, known);
  if (near.empty()) return "; known: " + joined(known);
  return "; did you mean " + joined(near, " or ") + "? Known: " + joined(known);
}

std::string no_such(std::string_view kind, std::string_view wanted, std::span<const std::string_view> known) {
  return "there is no " + std::string(kind) + " " + in_quotes(wanted) + suggestion(wanted, known);
}

}  // namespace convene::base
