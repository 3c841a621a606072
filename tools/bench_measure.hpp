// SPDX-License-Identifier: BSD-3-Clause
// Measurement of one size: all contenders under all arrival patterns, interleaved.
//
// One observation is a batch of calls between two readings of the clock, or a single call if ranks are to
// arrive at chosen times. Ranks start from two barriers (after the second one they leave closer together than
// after one), or from a deadline that rank 0 announces; each then waits for the delay of the pattern. Every
// repetition takes one observation of every contender under every pattern, so that disturbances of the
// machine affect all of them: comparisons are between observations of the same repetition, which have the
// same delays.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "arrival/pattern.hpp"
#include "bench_clock.hpp"
#include "bench_contender.hpp"
#include "bench_data.hpp"
#include "bench_options.hpp"
#include "bench_usage.hpp"

namespace convene::bench {

/// A failure at run time: exit status 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Measurement {
 public:
  /// `progress` receives, on rank 0, the completed fraction of the repetitions.
  Measurement(const Options& options, const std::vector<Contender>& contenders,
              const std::vector<Pattern>& patterns, Clock& clock, Data& data,
              std::function<void(double)> progress)
      : options_(options),
        contenders_(contenders),
        patterns_(patterns),
        clock_(clock),
        data_(data),
        progress_(std::move(progress)),
        series_(contenders.size() * patterns.size()),
        order_(series_.size()),
        window_(static_cast<Time>(options.window * 1e9)) {
    std::iota(order_.begin(), order_.end(), 0u);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &procs_);
    if (options.is_cold()) evicting_.resize(bytes_of_caches());
  }

  /// One object for each pattern, at rank 0. Collective.
  std::vector<nlohmann::json> run() {
    for (const Contender& contender : contenders_) check(contender);
    calls_ = find_calls();
    const Time start = now();
    std::mt19937_64 random(options_.seed);  // the same on all ranks
    for (done_ = 0; goes_on(start); ++done_) {
      if (options_.shuffles()) shuffle(random);
      for (const unsigned which : order_) repeat(which);
    }
    return collect();
  }

 private:
  /// The numbers of a pattern and a contender: contenders of one pattern are adjacent.
  std::size_t pattern_of(std::size_t which) const { return which / contenders_.size(); }
  const Contender& contender_of(std::size_t which) const { return contenders_[which % contenders_.size()]; }

  /// Observations of one contender under one pattern on this rank.
  struct Series {
    std::vector<Time> begin, end, wanted;  // common time; wanted: planned start
    std::vector<int> valid;
    Usage usage;
  };

  /// A new random order of the groups, and within each of them.
  void shuffle(std::mt19937_64& random) {
    const auto group = static_cast<std::size_t>(options_.group);
    std::vector<std::size_t> starts;
    for (std::size_t start = 0; start < order_.size(); start += group) starts.push_back(start);
    std::shuffle(starts.begin(), starts.end(), random);
    auto next = order_.begin();
    for (const std::size_t start : starts) {
      const auto begin = next;
      for (std::size_t i = start; i < std::min(start + group, order_.size()); ++i)
        *next++ = static_cast<unsigned>(i);
      std::shuffle(begin, next, random);
    }
  }

  std::vector<Time> delays(std::size_t pattern, int repetition) const {
    return patterns_[pattern].delays(static_cast<std::uint32_t>(procs_), options_.seed,
                                     static_cast<std::uint64_t>(repetition));
  }

  /// Forecast for a contender before a repetition, in seconds; empty: none. The same on all ranks.
  std::vector<double> foresee(Forecast forecast, std::size_t pattern, int repetition) const {
    constexpr int window = 5;  // as in the source, Marendic et al. 2016, section 6
    const int first = forecast == Forecast::average ? std::max(0, repetition - window) : repetition;
    const int last = forecast == Forecast::average ? repetition : repetition + 1;
    std::vector<double> seconds(first < last ? static_cast<std::size_t>(procs_) : 0);
    for (int each = first; each < last; ++each) {
      const std::vector<Time> late = delays(pattern, each);
      for (std::size_t i = 0; i < late.size(); ++i)
        seconds[i] += static_cast<double>(late[i]) * 1e-9 / (last - first);
    }
    if (forecast == Forecast::mirrored) std::reverse(seconds.begin(), seconds.end());
    return seconds;
  }

  void tell(const Contender& contender, std::size_t pattern, int repetition) const {
    if (contender.has_forecast())
      contender.expect(pattern, foresee(contender.forecast(), pattern, repetition));
  }

  /// One observation. If it started too late on some rank, it is repeated, a few times.
  void repeat(std::size_t which) {
    const std::size_t pattern = pattern_of(which);
    const Time delay = delays(pattern, done_)[static_cast<std::size_t>(rank_)];
    tell(contender_of(which), pattern, done_);
    constexpr int most_attempts = 4;
    Series& series = series_[which];
    for (int attempt = 1;; ++attempt) {
      const Usage before = series.usage;
      observe(contender_of(which), pattern, calls_, delay, series);
      if (!options_.has_windows()) return;
      int is_valid = series.valid.back();
      MPI_Allreduce(MPI_IN_PLACE, &is_valid, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      series.valid.back() = is_valid;
      if (is_valid) return;
      constexpr Time longest_window = 1'000'000'000;
      window_ = std::min(2 * window_, longest_window);
      if (attempt == most_attempts) return;
      ++missed_;
      series.usage = before;
      series.begin.pop_back();
      series.end.pop_back();
      series.wanted.pop_back();
      series.valid.pop_back();
    }
  }

  /// This rank's planned start by its own clock, and whether it is early enough. CPU usage is read before the
  /// last barrier: between that and the call nothing may delay the ranks differently.
  std::pair<Time, int> agree(Time delay, Usage& before) {
    if (!options_.has_windows()) {
      MPI_Barrier(MPI_COMM_WORLD);
      before = Usage::now();
      MPI_Barrier(MPI_COMM_WORLD);
      return {now() + delay, 1};
    }
    Time deadline = clock_.to_common(now()) + window_;  // rank 0's time is used
    MPI_Bcast(&deadline, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    const Time own = clock_.to_local(deadline) + delay;
    return {own, now() < own};
  }

  void observe(const Contender& contender, std::size_t pattern, int calls, Time delay, Series& series) {
    contender.prepare();
    if (options_.checks_always()) data_.spoil();
    evict();
    Usage before;
    const auto [moment, is_valid] = agree(delay, before);
    if (delay > 0 || options_.has_windows()) {
      wait_until(moment, clock_.is_crowded());
      before = Usage::now();  // waiting is not work for the collective
    }
    int code = MPI_SUCCESS;
    const Time begin = now();
    for (int call = 0; call < calls && code == MPI_SUCCESS; ++call) code = contender.call(data_, pattern);
    const Time end = now();
    if (code != MPI_SUCCESS) fail(contender, code);
    series.usage.add(before, Usage::now());
    series.begin.push_back(clock_.to_common(begin));
    series.end.push_back(clock_.to_common(end));
    series.wanted.push_back(clock_.to_common(moment));
    series.valid.push_back(is_valid);
    if (options_.checks_always()) look(contender);
  }

  /// One call whose result all ranks check. Schedules and connections are created in it and, with a forecast,
  /// the duration of a round is measured.
  void check(const Contender& contender) {
    contender.prepare();
    for (std::size_t pattern = 0; pattern < (contender.has_forecast() ? patterns_.size() : 1); ++pattern) {
      tell(contender, pattern, 1);
      data_.spoil();
      MPI_Barrier(MPI_COMM_WORLD);
      if (const int code = contender.call(data_, pattern); code != MPI_SUCCESS) fail(contender, code);
      if (options_.checks()) look(contender);
    }
  }

  void look(const Contender& contender) const {
    int right = data_.is_right(), all = 0;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) throw Failure(contender.name() + " delivered wrong data for " + size_text());
  }

  std::string size_text() const {
    return std::to_string(data_.size()) +
           (is_of_vectors(data_.layout().collective) ? " bytes" : " bytes per block");
  }

  /// An MPI error may not occur on all ranks: continuing together is impossible.
  [[noreturn]] void fail(const Contender& contender, int code) const {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::fprintf(stderr, "convene-bench: %s failed for %s: %s\n", contender.name().c_str(),
                 size_text().c_str(), text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  static std::size_t bytes_of_caches() {
    const long last_level = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
    constexpr long least = 1 << 20, most = 64 << 20;
    return static_cast<std::size_t>(std::clamp(2 * last_level, least, most));
  }

  /// Evicts the data from the caches.
  void evict() {
    for (std::size_t i = 0; i < evicting_.size(); i += 64) evicting_[i] = static_cast<char>(evicting_[i] + 1);
  }

  /// Number of calls that the fastest contender needs for the wanted time; the same for all of them.
  int find_calls() {
    double fastest = INFINITY;
    for (const Contender& contender : contenders_) {
      Series trial;
      observe(contender, 0, options_.warm_up, 0, trial);
      observe(contender, 0, options_.warm_up, 0, trial);
      double took = static_cast<double>(trial.end[1] - trial.begin[1]) * 1e-9, slowest = 0;
      MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      fastest = std::min(fastest, slowest / options_.warm_up);
    }
    if (options_.is_single()) return 1;
    return std::clamp(static_cast<int>(std::ceil(options_.batch / fastest)), 1, options_.most_calls);
  }

  bool goes_on(Time start) {
    if (rank_ == 0) progress_(static_cast<double>(done_) / options_.repetitions);
    int on = done_ < options_.repetitions;
    if (!on || done_ < options_.least) return on != 0;
    if (options_.seconds > 0) on = static_cast<double>(now() - start) * 1e-9 < options_.seconds;
    constexpr int between_looks = 10;
    if (options_.precision > 0 && done_ % between_looks == 0) on = !is_precise() && on;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0 decides
    return on != 0;
  }

  /// True if every median's 95 % interval, from order statistics, is narrow enough; at rank 0. Collective.
  bool is_precise() const {
    bool all = true;
    for (const Series& series : series_) {
      std::vector<Time> took(series.begin.size());
      std::transform(series.end.begin(), series.end.end(), series.begin.begin(), took.begin(),
                     std::minus<>());
      MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : took.data(), took.data(), static_cast<int>(took.size()),
                 MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
      std::sort(took.begin(), took.end());
      const auto number = static_cast<double>(took.size());
      const auto below =
          static_cast<std::size_t>(std::max(0.0, std::floor((number - 1.96 * std::sqrt(number)) / 2)));
      const auto half_width = static_cast<double>(took[took.size() - 1 - below] - took[below]) / 2;
      all = all && half_width <= options_.precision * static_cast<double>(took[took.size() / 2]);
    }
    return all;
  }

  /// All ranks' values of one kind, at rank 0: by repetition, then by rank.
  std::vector<Time> gather(const std::vector<Time>& mine) const {
    std::vector<Time> by_rank(rank_ == 0 ? mine.size() * static_cast<std::size_t>(procs_) : 0);
    const int number = static_cast<int>(mine.size());
    MPI_Gather(mine.data(), number, MPI_INT64_T, by_rank.data(), number, MPI_INT64_T, 0, MPI_COMM_WORLD);
    std::vector<Time> result(by_rank.size());
    const auto procs = static_cast<std::size_t>(procs_);
    for (std::size_t i = 0; i < by_rank.size(); ++i)
      result[i % mine.size() * procs + i / mine.size()] = by_rank[i];
    return result;
  }

  nlohmann::json gather(const Usage& usage) const {
    constexpr std::size_t kinds = std::tuple_size_v<decltype(usage.values)>;
    std::vector<double> all(kinds * static_cast<std::size_t>(procs_));
    MPI_Gather(usage.values.data(), kinds, MPI_DOUBLE, all.data(), kinds, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    nlohmann::json found = {{"processor_seconds", nlohmann::json::array()},
                            {"voluntary_switches", nlohmann::json::array()},
                            {"involuntary_switches", nlohmann::json::array()}};
    const double total = static_cast<double>(done_) * calls_;
    for (std::size_t at = 0; at < all.size(); at += kinds) {
      found["processor_seconds"].push_back(all[at] / total);
      found["voluntary_switches"].push_back(all[at + 1] / total);
      found["involuntary_switches"].push_back(all[at + 2] / total);
    }
    return found;
  }

  /// Rows of P values, in nanoseconds after the earliest planned start of their repetition.
  nlohmann::json rows(const std::vector<Time>& values, const std::vector<Time>& wanted) const {
    nlohmann::json result = nlohmann::json::array();
    const auto procs = static_cast<std::ptrdiff_t>(procs_);
    for (std::ptrdiff_t at = 0; at < std::ssize(values); at += procs) {
      const Time zero = *std::min_element(wanted.begin() + at, wanted.begin() + at + procs);
      nlohmann::json row = nlohmann::json::array();
      for (std::ptrdiff_t i = at; i < at + procs; ++i)
        row.push_back(values[static_cast<std::size_t>(i)] - zero);
      result.push_back(row);
    }
    return result;
  }

  /// Seconds per call on the slowest rank, by repetition.
  std::vector<double> slowest(const std::vector<Time>& begin, const std::vector<Time>& end) const {
    std::vector<double> result;
    for (std::size_t at = 0; at < begin.size(); at += static_cast<std::size_t>(procs_)) {
      Time most = 0;
      for (std::size_t i = at; i < at + static_cast<std::size_t>(procs_); ++i)
        most = std::max(most, end[i] - begin[i]);
      result.push_back(static_cast<double>(most) * 1e-9 / calls_);
    }
    return result;
  }

  nlohmann::json describe(std::size_t which, bool has_delays) const {
    const Series& series = series_[which];
    const std::vector<Time> begin = gather(series.begin), end = gather(series.end),
                            wanted = gather(series.wanted);
    nlohmann::json row = gather(series.usage);
    row["name"] = contender_of(which).name();
    row["seconds"] = slowest(begin, end);
    row["arrival"] = rows(begin, wanted);
    row["exit"] = rows(end, wanted);
    if (has_delays || options_.has_windows()) row["wanted"] = rows(wanted, wanted);
    if (options_.has_windows()) row["valid"] = series.valid;
    return row;
  }

  std::vector<nlohmann::json> collect() const {
    std::vector<nlohmann::json> found;
    for (std::size_t pattern = 0; pattern < patterns_.size(); ++pattern) {
      const std::string text = patterns_[pattern].text();
      nlohmann::json cell = {{"bytes", data_.size()}, {"arrivals", text}, {"calls", calls_}};
      if (options_.has_windows())
        cell["window"] = {{"seconds", static_cast<double>(window_) * 1e-9}, {"missed", missed_}};
      cell["contenders"] = nlohmann::json::array();
      for (std::size_t i = 0; i < contenders_.size(); ++i)
        cell["contenders"].push_back(describe(pattern * contenders_.size() + i, text != "none"));
      found.push_back(std::move(cell));
    }
    return found;
  }

  const Options& options_;
  const std::vector<Contender>& contenders_;
  const std::vector<Pattern>& patterns_;
  Clock& clock_;
  Data& data_;
  std::function<void(double)> progress_;
  std::vector<Series> series_;
  std::vector<unsigned> order_;
  std::vector<char> evicting_;
  Time window_;
  int rank_ = 0, procs_ = 1, calls_ = 1, done_ = 0, missed_ = 0;
};

}  // namespace convene::bench
