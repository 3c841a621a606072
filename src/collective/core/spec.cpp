// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/spec.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::collective {

namespace {

/// A name as written in descriptors.
std::string canonical(std::string_view text) {
  std::string result(trimmed(text));
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// Splits `text` at each separator outside brackets.
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
    throw Error(std::string(algorithm.name) + " has no parameters: " + in_quotes(given) + " has no effect");
  throw Error(
      no_such(std::string(algorithm.name) + " parameter", given,
              names_of(algorithm.parameters, [](const Parameter& parameter) { return parameter.name; })));
}

Value parse_word(const Algorithm& algorithm, const Parameter& parameter, std::string_view text) {
  const std::string wanted = canonical(text);
  for (std::size_t i = 0; i < parameter.words.size(); ++i)
    if (canonical(parameter.words[i]) == wanted) return static_cast<std::int64_t>(i);
  const std::string_view given = trimmed(text);
  throw Error(std::string(parameter.name) + " of " + std::string(algorithm.name) + " cannot be " +
              in_quotes(given) + suggestion(given, parameter.words));
}

std::string bounds_text(const Parameter& parameter) {
  return "a whole number from " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most) +
         (parameter.is_list ? ", or up to " + std::to_string(Value::most) + " of them, as in 4x4x8" : "");
}

/// "4x4x8" or "4,4,8".
Value parse_list(const Algorithm& algorithm, const Parameter& parameter, std::string_view text) {
  const auto parts = split(text, "x,");
  if (parts.size() > Value::most)
    throw Error(std::string(parameter.name) + " of " + std::string(algorithm.name) + " must be " +
                bounds_text(parameter) + ", not " + in_quotes(trimmed(text)));
  Parameter each = parameter;
  each.is_list = false;
  Value value = parse_parameter(algorithm, each, parts.front());
  for (const std::string_view part : std::span(parts).subspan(1))
    value.push_back(static_cast<std::int64_t>(parse_parameter(algorithm, each, part)));
  return value;
}

/// Name and value of "name=value", split at the first '='; nullopt if there is none.
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
                " is not a parameter; give NAME=VALUE, as in sparbit;send=packed");
  const std::size_t i = find_parameter(algorithm, named->first);
  if (given[i])
    throw Error("the parameter " + std::string(algorithm.parameters[i].name) + " of " +
                std::string(algorithm.name) + " is given twice; leave one out");
  given[i] = true;
  spec.parameters[i] = parse_parameter(algorithm, algorithm.parameters[i], named->second);
}

void check_brackets(std::string_view text) {
  constexpr int most_depth = 8;  // of compositions of compositions
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) break;
    if (depth > most_depth)
      throw Error("brackets are nested more than " + std::to_string(most_depth) + " deep");
  }
  if (depth != 0)
    throw Error("the brackets in " + in_quotes(trimmed(text)) +
                " do not match; give them as in hier(sparbit,linear;leaders=2)");
}

/// "hier" and "sparbit,linear;leaders=2" of "hier(sparbit,linear;leaders=2)"; no inner text if there are no
/// brackets.
std::pair<std::string_view, std::optional<std::string_view>> cut_brackets(std::string_view text) {
  text = trimmed(text);
  const auto open = text.find('(');
  if (open == std::string_view::npos) return {text, std::nullopt};
  const auto close = text.rfind(')');
  if (close + 1 != text.size())
    throw Error(in_quotes(text.substr(close + 1)) + " follows the brackets of " +
                in_quotes(text.substr(0, close + 1)) + "; separate them by ';' or ','");
  return {text.substr(0, open), text.substr(open + 1, close - open - 1)};
}

std::string slot_names(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (const PartSlot& slot : algorithm.composition->parts) names.push_back(slot.name);
  return joined(names);
}

Spec parse_part(Collective collective, const PartSlot& slot, std::string_view text) {
  Spec part = parse_spec(slot.among == Among::all ? collective : slot.collective, text);
  if (part.algorithm->is_native())
    throw Error("native cannot be a part of another algorithm: it has no schedule");
  if (part.algorithm->is_online())
    throw Error(std::string(part.algorithm->name) +
                " cannot be a part of another algorithm: it is an online algorithm");
  return part;
}

/// Parses the contents of the brackets of a composed algorithm: its parts and, after the last one, its own
/// parameters. The last part given stands for all that are omitted.
std::vector<Spec> parse_parts(Collective collective, Spec& spec, std::vector<bool>& given,
                              std::string_view inside) {
  const Algorithm& algorithm = *spec.algorithm;
  const auto slots = algorithm.composition->parts;
  std::vector<std::string> texts;
  for (const std::string_view text : split(inside, ",")) texts.emplace_back(text);
  if (texts.size() > slots.size())
    throw Error(std::string(algorithm.name) + " of " + std::string(name(collective)) + " has " +
                std::to_string(slots.size()) + " part" + (slots.size() > 1 ? "s" : "") + ", " +
                slot_names(algorithm) + "; " + in_quotes(inside) + " names " + std::to_string(texts.size()));
  const std::string last = texts.back();
  const auto pieces = split(last, ";");
  texts.back() = pieces[0];
  for (const std::string_view piece : std::span(pieces).subspan(1)) {
    const auto named = cut(piece);
    if (named && algorithm.find_parameter(canonical(named->first)) >= 0)
      set_parameter(spec, given, piece);
    else
      texts.back() += ";" + std::string(piece);
  }
  std::vector<Spec> parts;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool is_shared = i >= texts.size() || (i + 1 == texts.size() && texts.size() < slots.size());
    try {
      parts.push_back(parse_part(collective, slots[i], texts[std::min(i, texts.size() - 1)]));
    } catch (const Error& error) {
      if (!is_shared) throw;
      throw Error(std::string(error.what()) + " (name the parts of " + std::string(algorithm.name) +
                  " one by one: " + slot_names(algorithm) + ")");
    }
  }
  return parts;
}

[[noreturn]] void fail_without_collective(std::string_view text) {
  if (find_collective(canonical(text)))
    throw Error("the algorithm is missing for " + std::string(text) + "; give it as in " + std::string(text) +
                "=sparbit");
  throw Error("the collective is missing before " + in_quotes(text) + "; give the collective first, as in " +
              "allgather=sparbit");
}

}  // namespace

Value parse_parameter(const Algorithm& algorithm, const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) return parse_word(algorithm, parameter, text);
  if (parameter.is_list) return parse_list(algorithm, parameter, text);
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
  check_brackets(text);
  const auto parts = split(text, ";");
  const auto [algorithm_name, inside] = cut_brackets(parts[0]);
  const Algorithm& algorithm = find_algorithm(collective, algorithm_name);
  Spec spec = default_spec(algorithm);
  std::vector<bool> given(spec.parameters.size());
  if (inside && algorithm.is_composed())
    spec.parts = parse_parts(collective, spec, given, *inside);
  else if (inside)
    throw Error(std::string(algorithm.name) + " is not composed of other algorithms: " +
                in_quotes("(" + std::string(*inside) + ")") + " has no effect");
  for (std::size_t i = 1; i < parts.size(); ++i) set_parameter(spec, given, parts[i]);
  return spec;
}

std::string parameter_text(const Parameter& parameter, const Value& value) {
  const auto word = static_cast<std::size_t>(value);
  return word < parameter.words.size() ? std::string(parameter.words[word]) : value_text(value);
}

std::string spec_text(const Spec& spec) {
  const Algorithm& algorithm = *spec.algorithm;
  std::string own;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    if (spec.parameters[i] == parameter.fallback) continue;
    own += ";" + std::string(parameter.name) + "=" + parameter_text(parameter, spec.parameters[i]);
  }
  if (!algorithm.is_composed()) return std::string(algorithm.name) + own;
  std::vector<std::string> texts;
  for (const Spec& part : spec.parts) texts.push_back(spec_text(part));
  while (texts.size() > 2 && texts.back() == texts[texts.size() - 2]) texts.pop_back();
  std::string text = std::string(algorithm.name) + "(" + texts.front();
  for (std::size_t i = 1; i < texts.size(); ++i) text += "," + texts[i];
  return text + own + ")";
}

std::vector<std::pair<std::string_view, std::string>> part_texts(const Spec& spec) {
  std::vector<std::pair<std::string_view, std::string>> result;
  for (std::size_t i = 0; i < spec.parts.size(); ++i)
    result.emplace_back(spec.algorithm->composition->parts[i].name, spec_text(spec.parts[i]));
  return result;
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
    // "sparbit;send=packed" contains an '=' too, but that of a parameter
    if (!named || named->first.find(';') != std::string_view::npos) fail_without_collective(part);
    const Collective collective = parse_collective(named->first);
    for (const Use& use : uses)
      if (use.collective == collective)
        throw Error(std::string(name(collective)) + " is given two algorithms; leave one out");
    uses.push_back({collective, parse_spec(collective, named->second)});
  }
  return uses;
}

}  // namespace convene::collective
