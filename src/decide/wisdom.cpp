// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/error.hpp"

namespace convene::decide {

namespace {

using Unit = FieldReader::Unit;

constexpr FieldReader::FileKind wisdom_file{.file = "wisdom file",
                                            .version_field = "convene_wisdom",
                                            .version = 1,
                                            .list = "entries",
                                            .item = "entry"};

bool is_date(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t at : {0u, 1u, 2u, 3u, 5u, 6u, 8u, 9u})
    if (text[at] < '0' || text[at] > '9') return false;
  return text.find_first_of("\t\n") == std::string_view::npos;
}

Rank read_rank(const FieldReader& reader, const JsonValue& item, std::string_view name) {
  const std::uint64_t value = reader.read_count(item, name, "4");
  if (value > INT32_MAX) reader.fail(item.line, reader.field(name) + " is too large");
  return static_cast<Rank>(value);
}

WisdomEntry read_entry(FieldReader& reader, const JsonValue& item) {
  constexpr std::string_view known[] = {
      "mpi",          "cpu",   "cores", "network", "collective", "procs",    "nodes",    "ranks_per_node",
      "shares_cores", "bytes", "use",   "ratio",   "upper",      "measured", "evidence", "native_algorithm"};
  reader.begin_item(item, known);
  WisdomEntry entry;
  entry.number = reader.number();
  entry.line = item.line;
  entry.place = {.mpi = reader.read_text(item, "mpi", "Open MPI 4.1.4"),
                 .cpu = reader.read_text(item, "cpu", "AMD EPYC 7B13"),
                 .cores = reader.read_count(item, "cores", "2")};
  if (item.find("network")) entry.place.network = reader.read_text(item, "network", "");
  entry.collective = reader.read_collective(item);
  entry.procs = read_rank(reader, item, "procs");
  entry.nodes = read_rank(reader, item, "nodes");
  entry.ranks_per_node = read_rank(reader, item, "ranks_per_node");
  entry.shares_cores = reader.read_flag(item, "shares_cores");
  entry.bytes = reader.read_bounds(item, "bytes", Unit::bytes);
  entry.use = reader.read_use(item, entry.collective);
  if (const JsonValue* native = item.find("native_algorithm")) {
    entry.native_algorithm = reader.read_text(item, "native_algorithm", "ring");
    if (entry.native_algorithm.empty() || !entry.use.algorithm->is_native())
      reader.fail(native->line, reader.field("native_algorithm") + " needs a name, and \"use\": \"native\"");
  }
  entry.ratio = reader.read_positive(item, "ratio", "0.42");
  entry.upper = reader.read_positive(item, "upper", "0.45");
  entry.measured = reader.read_text(item, "measured", "2026-11-26");
  if (!is_date(entry.measured))
    reader.fail(item.find("measured")->line,
                reader.field("measured") + " must begin with a date, as in 2026-11-26");
  if (entry.upper < entry.ratio)
    reader.fail(item.find("upper")->line,
                reader.field("upper") + " must not be below \"ratio\": it is the upper end of its interval");
  return entry;
}

/// The upper end is above a limit, as a clause.
std::string limit_text(const WisdomEntry& entry, double most) {
  char text[96];
  std::snprintf(text, sizeof text, "upper end of its ratio, %.3g, is above %.2f", entry.upper, most);
  return text;
}

/// Words of a line, separated by tabs.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t tab = std::min(rest_.find('\t'), rest_.size());
    const std::string_view word = rest_.substr(0, tab);
    rest_.remove_prefix(std::min(tab + 1, rest_.size()));
    return word;
  }

  std::uint64_t whole() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size()) refuse(word);
    return value;
  }

  double real() {
    const std::string word(next());
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0') refuse(word);
    return value;
  }

 private:
  [[noreturn]] static void refuse(std::string_view word) {
    throw Error("a line of wisdom has '" + std::string(word) + "' instead of a number");
  }

  std::string_view rest_;
};

/// The word after `mark` in a text; nothing where the mark does not occur.
std::optional<std::string> word_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + mark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text.substr(0, text.find_first_of(" ,\t\n")));
}

}  // namespace

Mismatch WisdomEntry::mismatch(const CallContext& context) const {
  if (collective != context.collective) return {.collective = true};
  return {.procs = procs != context.procs,
          .bytes = !bytes.hold(context.block_bytes()),
          .nodes = nodes != context.nodes,
          .ranks_per_node = ranks_per_node != context.ranks_per_node,
          .shares_cores = shares_cores != context.shares_cores};
}

bool WisdomEntry::is_of(const MachineKey& here) const {
  return place.mpi == here.mpi && place.cpu == here.cpu && place.cores == here.cores &&
         (nodes == 1 || place.network == here.network);
}

Wisdom::Wisdom(std::vector<WisdomEntry> entries) : entries_(std::move(entries)) {
  std::ranges::stable_sort(entries_, [](const WisdomEntry& left, const WisdomEntry& right) {
    const std::string_view older(right.measured), newer(left.measured);
    return older.substr(0, 10) != newer.substr(0, 10) ? newer > older : left.upper < right.upper;
  });
}

Wisdom Wisdom::up_to(Rank procs) const {
  std::vector<WisdomEntry> entries = entries_;
  std::erase_if(entries, [&](const WisdomEntry& each) { return each.procs > procs; });
  return Wisdom(std::move(entries));
}

bool Wisdom::knows(Collective collective) const {
  return std::ranges::any_of(entries_,
                             [&](const WisdomEntry& each) { return each.collective == collective; });
}

bool Wisdom::may_share_memory(Collective collective) const {
  return std::ranges::any_of(entries_, [&](const WisdomEntry& each) {
    return each.collective == collective && shares_memory(each.use);
  });
}

const WisdomEntry* Wisdom::find(const CallContext& context, Trace* trace) const {
  const bool holds = context.is_blocking && !(context.order_matters && context.reproducible);
  if (!holds && !trace) return nullptr;
  const double most = context.order_matters ? most_where_order_matters : most_of_native;
  for (const WisdomEntry& entry : entries_) {
    const bool covers = entry.covers(context), is_enough = entry.upper <= most;
    if (trace)
      trace->wisdom.push_back({.index = static_cast<std::size_t>(&entry - entries_.data()),
                               .matches = covers,
                               .obstacle = !covers                ? ""
                                           : !context.is_blocking ? "holds for blocking calls only"
                                           : !holds ? "changes the rounding, which --reproducible excludes"
                                           : !is_enough ? limit_text(entry, most)
                                                        : ""});
    if (covers && holds) return is_enough ? &entry : nullptr;
  }
  return nullptr;
}

std::string Wisdom::lines() const {
  std::string text;
  for (const WisdomEntry& each : entries_) {
    text.append(name(each.collective));
    for (const std::uint64_t number :
         {std::uint64_t{each.procs}, std::uint64_t{each.nodes}, std::uint64_t{each.ranks_per_node},
          std::uint64_t{each.shares_cores}, each.bytes.least, each.bytes.most})
      text.append("\t").append(std::to_string(number));
    for (const double number : {each.ratio, each.upper}) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.17g", number);  // std::to_chars would need libm
      text.append("\t").append(digits);
    }
    text.append("\t").append(each.measured).append("\t").append(spec_text(each.use)).append("\n");
  }
  return text;
}

Wisdom Wisdom::from_lines(std::string_view lines) {
  std::vector<WisdomEntry> entries;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    Words words(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    WisdomEntry& entry = entries.emplace_back();
    entry.collective = parse_collective(words.next());
    entry.procs = static_cast<Rank>(words.whole());
    entry.nodes = static_cast<Rank>(words.whole());
    entry.ranks_per_node = static_cast<Rank>(words.whole());
    entry.shares_cores = words.whole() != 0;
    entry.bytes = {words.whole(), words.whole()};
    entry.ratio = words.real();
    entry.upper = words.real();
    entry.measured = words.next();
    entry.use = parse_spec(entry.collective, words.next());
  }
  return Wisdom(std::move(entries));
}

std::vector<WisdomEntry> parse_wisdom(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  FieldReader reader(wisdom_file, file);
  std::vector<WisdomEntry> entries;
  for (const JsonValue& item : reader.items(root).items) entries.push_back(read_entry(reader, item));
  return entries;
}

std::string mpi_name(std::string_view library_version) {
  struct Known {
    std::string_view name, mark;
  };
  constexpr Known known[] = {
      {"Open MPI", "Open MPI v"}, {"Intel MPI", "Intel(R) MPI Library"}, {"MPICH", "MPICH Version:"}};
  for (const Known& each : known)
    if (const auto version = word_after(library_version, each.mark))
      return std::string(each.name) + " " + *version;
  std::string line(library_version.substr(0, library_version.find('\n')));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

}  // namespace convene::decide
