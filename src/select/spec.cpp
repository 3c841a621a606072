// SPDX-License-Identifier: BSD-3-Clause
#include "select/spec.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene {

namespace {

/// A name as descriptors write it.
std::string canonical(std::string_view text) {
  std::string result(trimmed(text));
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// Cuts `text` at each separator that stands outside brackets.
std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth > 0 || separators.find(text[i]) == std::string_view::npos) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

template <class List, class NameOf>
std::vector<std::string_view> names_of(const List& list, NameOf&& name_of) {
  std::vector<std::string_view> names(list.size());
  std::transform(list.begin(), list.end(), names.begin(), name_of);
  return names;
}

const Algorithm& find_algorithm(Collective collective, std::string_view text) {
  const std::string wanted = canonical(text);
  const auto known = catalogue(collective);
  for (const Algorithm* algorithm : known)
    if (algorithm->name == wanted) return *algorithm;
  throw Error(no_such(std::string(name(collective)) + " algorithm", trimmed(text),
                      names_of(known, [](const Algorithm* algorithm) { return algorithm->name; })));
}

std::size_t find_parameter(const Algorithm& algorithm, std::string_view text) {
  const int found = algorithm.find_parameter(canonical(text));
  if (found >= 0) return static_cast<std::size_t>(found);
  const std::string_view given = trimmed(text);
  if (algorithm.parameters.empty())
    throw Error(std::string(algorithm.name) + " has no parameters, so " + in_quotes(given) +
                " says nothing to it");
  throw Error(
      no_such(std::string(algorithm.name) + " parameter", given,
              names_of(algorithm.parameters, [](const Parameter& parameter) { return parameter.name; })));
}

std::int64_t parse_word(const Algorithm& algorithm, const Parameter& parameter, std::string_view text) {
  const std::string wanted = canonical(text);
  for (std::size_t i = 0; i < parameter.words.size(); ++i)
    if (canonical(parameter.words[i]) == wanted) return static_cast<std::int64_t>(i);
  const std::string_view given = trimmed(text);
  throw Error(std::string(parameter.name) + " of " + std::string(algorithm.name) + " cannot be " +
              in_quotes(given) + suggestion(given, parameter.words));
}

std::string bounds_text(const Parameter& parameter) {
  return "a whole number from " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
}

/// Name and value of "name=value", cut at the first '='; nothing where there is none.
std::optional<std::pair<std::string_view, std::string_view>> cut(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return std::pair{trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

void set_parameter(Spec& spec, std::vector<bool>& given, std::string_view text) {
  const Algorithm& algorithm = *spec.algorithm;
  const auto named = cut(text);
  if (!named)
    throw Error(in_quotes(trimmed(text)) + " behind " + std::string(algorithm.name) +
                " is not a parameter; write name=value, as in sparbit;send=packed");
  const std::size_t i = find_parameter(algorithm, named->first);
  if (given[i])
    throw Error("the parameter " + std::string(algorithm.parameters[i].name) + " of " +
                std::string(algorithm.name) + " is given twice; leave one out");
  given[i] = true;
  spec.parameters[i] = parse_parameter(algorithm, algorithm.parameters[i], named->second);
}

[[noreturn]] void fail_without_collective(std::string_view text) {
  if (find_collective(canonical(text)))
    throw Error("it is not said which algorithm " + std::string(text) + " is to use; write " +
                std::string(text) + "=sparbit");
  throw Error("it is not said which collective is to use " + in_quotes(text) +
              "; write the collective first, as in " + "allgather=sparbit");
}

}  // namespace

std::int64_t parse_parameter(const Algorithm& algorithm, const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) return parse_word(algorithm, parameter, text);
  const std::string what = std::string(parameter.name) + " of " + std::string(algorithm.name);
  std::uint64_t value = 0;
  try {
    value = parse_size(text);
  } catch (const Error&) {
    throw Error(what + " must be " + bounds_text(parameter) + ", not " + in_quotes(trimmed(text)));
  }
  const auto number = static_cast<std::int64_t>(value);
  if (number < parameter.least || number > parameter.most)
    throw Error(what + " must be " + bounds_text(parameter) + ", not " + std::to_string(number));
  return number;
}

Spec parse_spec(Collective collective, std::string_view text) {
  const auto parts = split(text, ";");
  const Algorithm& algorithm = find_algorithm(collective, parts[0]);
  Spec spec{&algorithm, algorithm.default_parameters()};
  std::vector<bool> given(spec.parameters.size());
  for (std::size_t i = 1; i < parts.size(); ++i) set_parameter(spec, given, parts[i]);
  return spec;
}

std::string parameter_text(const Parameter& parameter, std::int64_t value) {
  const auto word = static_cast<std::size_t>(value);
  return word < parameter.words.size() ? std::string(parameter.words[word]) : std::to_string(value);
}

std::string spec_text(const Algorithm& algorithm, std::span<const std::int64_t> parameters) {
  std::string text(algorithm.name);
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    if (parameters[i] == parameter.fallback) continue;
    text += ";" + std::string(parameter.name) + "=" + parameter_text(parameter, parameters[i]);
  }
  return text;
}

Collective parse_collective(std::string_view text) {
  if (const auto found = find_collective(canonical(text))) return *found;
  std::vector<std::string_view> known;
  for (Collective collective : all_collectives) known.push_back(name(collective));
  throw Error(no_such("collective", trimmed(text), known));
}

std::vector<Use> parse_uses(std::string_view text) {
  std::vector<Use> uses;
  for (std::string_view part : split(text, ",\n")) {
    part = trimmed(part);
    if (part.empty()) continue;
    const auto named = cut(part);
    // "sparbit;send=packed" has an '=' too, but a parameter's.
    if (!named || named->first.find(';') != std::string_view::npos) fail_without_collective(part);
    const Collective collective = parse_collective(named->first);
    for (const Use& use : uses)
      if (use.collective == collective)
        throw Error(std::string(name(collective)) + " is given two algorithms; leave one out");
    uses.push_back({collective, parse_spec(collective, named->second)});
  }
  return uses;
}

}  // namespace convene
