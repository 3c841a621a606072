// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "arrival/random.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sizes.hpp"

namespace convene::arrival {

const std::vector<PatternKind>& pattern_kinds() {
  // In the order of Pattern::Kind.
  static const std::vector<PatternKind> kinds = {
      {"none", "", "balanced: no rank is late"},
      {"late", "RANK:DELAY", "one rank is late; RANK may be any: another one in each call"},
      {"alternating", "DELAY", "odd ranks are late"},
      {"half", "DELAY", "the upper half of the ranks is late"},
      {"linear", "MAXIMUM", "delays grow evenly from rank 0 to the last rank"},
      {"permutation", "MAXIMUM", "the delays of linear, in a random order in each call"},
      {"uniform", "MAXIMUM", "uniform between 0 and the maximum"},
      {"normal", "MEAN:DEVIATION", "normal; negative delays become 0"},
      {"gamma", "SHAPE:SCALE", "gamma, of mean SHAPE times SCALE"},
      {"exponential", "MEAN", "exponential"},
      {"bernoulli", "PROBABILITY:DELAY", "each rank is late with this probability"},
      {"trace", "FILE", "one line of the file for each call; restarts after the last line"},
  };
  return kinds;
}

/// Parser of the text of a pattern.
class PatternParser {
 public:
  PatternParser(std::string_view text, const TraceReader& read) : text_(trimmed(text)), read_(read) {}

  Pattern parse() {
    const auto colon = std::min(text_.find(':'), text_.size());
    find_kind(text_.substr(0, colon));
    rest_ = text_.substr(std::min(colon + 1, text_.size()));
    has_rest_ = colon < text_.size();
    read_parameters();
    if (has_rest_) fail("has more than its " + count_of_parameters());
    return std::move(result_);
  }

 private:
  using Kind = Pattern::Kind;

  void find_kind(std::string_view name) {
    const auto& kinds = pattern_kinds();
    std::vector<std::string_view> names;
    for (const PatternKind& kind : kinds) names.push_back(kind.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw Error(no_such("arrival pattern", name, names));
    result_.kind_ = static_cast<Kind>(found - names.begin());
  }

  const PatternKind& kind() const { return pattern_kinds()[static_cast<std::size_t>(result_.kind_)]; }

  std::string count_of_parameters() const {
    if (kind().parameters.empty()) return "name";
    return kind().parameters.find(':') == std::string_view::npos ? "one parameter" : "two parameters";
  }

  [[noreturn]] void fail(const std::string& why) const {
    std::string form(kind().name);
    if (!kind().parameters.empty()) form += ":" + std::string(kind().parameters);
    throw Error(fmt::format("the arrival pattern {} {}; give it as {}", in_quotes(text_), why, form));
  }

  void read_parameters() {
    switch (result_.kind_) {
      case Kind::none:
        return;
      case Kind::late:
        result_.rank_ = read_rank();
        break;
      case Kind::gamma:
        result_.number_ = read_number("shape", 1e-3, 1e6);
        break;
      case Kind::bernoulli:
        result_.number_ = read_number("probability", 0, 1);
        break;
      case Kind::trace:
        return read_trace();
      default:
        break;
    }
    result_.first_ = read_duration();
    if (result_.kind_ == Kind::normal) result_.deviation_ = read_duration();
  }

  /// The text up to the next colon.
  std::string_view next() {
    if (!has_rest_) fail("lacks a parameter");
    const auto colon = std::min(rest_.find(':'), rest_.size());
    const std::string_view result = trimmed(rest_.substr(0, colon));
    has_rest_ = colon < rest_.size();
    rest_ = rest_.substr(std::min(colon + 1, rest_.size()));
    return result;
  }

  std::uint32_t read_rank() {
    const std::string_view given = next();
    if (given == "any") return Pattern::any_rank;
    const auto rank = parse_whole(given);
    if (!rank || *rank >= Pattern::any_rank) fail("has an invalid rank " + in_quotes(given));
    return static_cast<std::uint32_t>(*rank);
  }

  double read_number(const char* what, double least, double most) {
    const std::string_view given = next();
    double number = 0;
    const auto [stop, error] = std::from_chars(given.data(), given.data() + given.size(), number);
    if (given.empty() || error != std::errc() || stop != given.data() + given.size() ||
        !(number >= least && number <= most))
      fail(fmt::format("needs a {} from {} to {}, not {}", what, least, most, in_quotes(given)));
    return number;
  }

  Nanoseconds read_duration() {
    const std::string_view given = next();
    try {
      return parse_duration(given);
    } catch (const Error& error) {
      fail(std::string("has an invalid delay: ") + error.what());
    }
  }

  void read_trace() {
    if (!has_rest_ || rest_.empty()) fail("names no file");
    result_.path_ = rest_;
    result_.trace_ = std::make_shared<const Trace>(read_(result_.path_));
    has_rest_ = false;
  }

  std::string_view text_, rest_;
  const TraceReader& read_;
  bool has_rest_ = false;
  Pattern result_;
};

Pattern Pattern::parse(std::string_view text, const TraceReader& read) {
  return PatternParser(text, read).parse();
}

namespace {

/// A whole number of nanoseconds: the last bits of a logarithm differ between machines.
Nanoseconds to_duration(double nanoseconds) {
  if (!(nanoseconds > 0)) return 0;
  return std::llround(std::min(nanoseconds, static_cast<double>(longest_duration)));
}

/// Rank i of n has i/(n − 1) of the maximum.
std::vector<Nanoseconds> linear_delays(std::uint32_t procs, Nanoseconds most) {
  std::vector<Nanoseconds> result(procs, 0);
  for (std::uint32_t i = 1; i < procs; ++i)
    result[i] = to_duration(static_cast<double>(most) * i / (procs - 1));
  return result;
}

void shuffle(std::vector<Nanoseconds>& delays, Random& random) {
  for (auto left = static_cast<std::uint32_t>(delays.size()); left > 1; --left)
    std::swap(delays[left - 1], delays[random.below(left)]);
}

template <class Draw>
std::vector<Nanoseconds> drawn(std::uint32_t procs, Draw&& draw) {
  std::vector<Nanoseconds> result(procs);
  for (Nanoseconds& each : result) each = to_duration(draw());
  return result;
}

template <class Predicate>
std::vector<Nanoseconds> late_where(std::uint32_t procs, Nanoseconds delay, Predicate&& is_late) {
  std::vector<Nanoseconds> result(procs, 0);
  for (std::uint32_t rank = 0; rank < procs; ++rank)
    if (is_late(rank)) result[rank] = delay;
  return result;
}

}  // namespace

std::vector<Nanoseconds> Pattern::delays(std::uint32_t procs, std::uint64_t seed, std::uint64_t call) const {
  Random random(seed, call);
  const auto first = static_cast<double>(first_);
  switch (kind_) {
    case Kind::none:
      break;
    case Kind::late: {
      if (rank_ != any_rank && rank_ >= procs)
        throw Error(
            fmt::format("the arrival pattern {} names rank {}, which is out of range ({} processes); name a "
                        "smaller rank, or any",
                        in_quotes(text()), rank_, procs));
      const std::uint32_t rank = rank_ == any_rank && procs > 0 ? random.below(procs) : rank_;
      return late_where(procs, first_, [&](std::uint32_t each) { return each == rank; });
    }
    case Kind::alternating:
      return late_where(procs, first_, [](std::uint32_t rank) { return rank % 2 == 1; });
    case Kind::half:
      return late_where(procs, first_, [&](std::uint32_t rank) { return rank >= procs - procs / 2; });
    case Kind::linear:
      return linear_delays(procs, first_);
    case Kind::permutation: {
      auto result = linear_delays(procs, first_);
      shuffle(result, random);
      return result;
    }
    case Kind::uniform:
      return drawn(procs, [&] { return first * random.uniform(); });
    case Kind::normal:
      return drawn(procs, [&] { return first + static_cast<double>(deviation_) * random.normal(); });
    case Kind::gamma:
      return drawn(procs, [&] { return first * random.gamma(number_); });
    case Kind::exponential:
      return drawn(procs, [&] { return first * random.exponential(); });
    case Kind::bernoulli:
      return late_where(procs, first_, [&](std::uint32_t) { return random.uniform() < number_; });
    case Kind::trace:
      if (trace_->procs() != procs)
        throw Error(fmt::format("the trace {} has {} processes, not {}; use that number, or another trace",
                                in_quotes(path_), trace_->procs(), procs));
      return trace_->calls()[call % trace_->calls().size()];
  }
  return std::vector<Nanoseconds>(procs, 0);
}

std::uint64_t Pattern::period() const {
  switch (kind_) {
    case Kind::none:
    case Kind::alternating:
    case Kind::half:
    case Kind::linear:
      return 1;
    case Kind::late:
      return rank_ == any_rank ? 0 : 1;
    case Kind::trace:
      return trace_->calls().size();
    default:
      return 0;
  }
}

std::string Pattern::text() const {
  std::string name(pattern_kinds()[static_cast<std::size_t>(kind_)].name);
  switch (kind_) {
    case Kind::none:
      return name;
    case Kind::trace:
      return name + ":" + path_;
    case Kind::late:
      return name + ":" + (rank_ == any_rank ? "any" : std::to_string(rank_)) + ":" + format_duration(first_);
    case Kind::normal:
      return name + ":" + format_duration(first_) + ":" + format_duration(deviation_);
    case Kind::gamma:
    case Kind::bernoulli:
      return fmt::format("{}:{}:{}", name, number_, format_duration(first_));
    default:
      return name + ":" + format_duration(first_);
  }
}

}  // namespace convene::arrival
