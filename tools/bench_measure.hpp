// SPDX-License-Identifier: BSD-3-Clause
// The measurement of one size: all contenders, interleaved.
//
// One observation of a contender is a batch of calls between two looks at the clock, after two barriers (after the second
// one ranks leave it closer together than after one); it lasts as long as on the slowest rank. Every repetition takes
// one observation of every contender, so that whatever else happens on the machine meets all of them: what is compared
// are observations of the same repetition.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench_contender.hpp"
#include "bench_data.hpp"
#include "bench_options.hpp"

namespace convene::bench {

/// Something ran and went wrong: exit status 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The observations of one size: seconds per call, by contender and repetition; at rank 0.
struct Observations {
  int calls = 0;
  std::vector<std::vector<double>> seconds;
};

class Measurement {
 public:
  Measurement(const Options& options, const std::vector<Contender>& contenders, Data& data)
      : options_(options), contenders_(contenders), data_(data), order_(contenders.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  Observations run() {
    for (const Contender& contender : contenders_) check(contender);
    const int calls = find_calls();
    const double start = MPI_Wtime();
    std::mt19937_64 random(options_.seed);  // the same on all ranks
    std::vector<double> mine;
    for (int done = 0; goes_on(done, start); ++done) {
      if (options_.shuffles()) shuffle(random);
      const std::size_t base = mine.size();
      mine.resize(base + contenders_.size());
      for (const unsigned which : order_) mine[base + which] = observe(contenders_[which], calls);
    }
    return collect(mine, calls);
  }

 private:
  /// A new order of the groups, and within each of them.
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

  /// Seconds for a batch of calls on this rank.
  double observe(const Contender& contender, int calls) {
    contender.prepare();
    if (options_.checks_always()) data_.spoil();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_SUCCESS;
    const double start = MPI_Wtime();
    for (int call = 0; call < calls && code == MPI_SUCCESS; ++call) code = contender.call(data_);
    const double took = MPI_Wtime() - start;
    if (code != MPI_SUCCESS) fail(contender, code);
    if (options_.checks_always()) look(contender);
    return took;
  }

  /// One call of which all ranks look at the result. It is also where schedules and connections are made.
  void check(const Contender& contender) {
    contender.prepare();
    data_.spoil();
    MPI_Barrier(MPI_COMM_WORLD);
    if (const int code = contender.call(data_); code != MPI_SUCCESS) fail(contender, code);
    look(contender);
  }

  void look(const Contender& contender) const {
    int right = data_.is_right(), all = 0;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
      throw Failure(contender.name() + " delivered wrong data for " + std::to_string(data_.count()) +
                    " bytes per block");
  }

  /// An error of the MPI need not have met all ranks: there is no going on together.
  [[noreturn]] void fail(const Contender& contender, int code) const {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::fprintf(stderr, "convene-bench: %s failed for %d bytes per block: %s\n", contender.name().c_str(),
                 data_.count(), text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  /// How many calls the fastest contender needs for the wanted time; the same number for all of them.
  int find_calls() {
    double fastest = INFINITY;
    for (const Contender& contender : contenders_) {
      observe(contender, options_.warm_up);
      double took = observe(contender, options_.warm_up), slowest = 0;
      MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      fastest = std::min(fastest, slowest / options_.warm_up);
    }
    return std::clamp(static_cast<int>(std::ceil(options_.batch / fastest)), 1, options_.most_calls);
  }

  bool goes_on(int done, double start) const {
    int on = done < options_.repetitions;
    if (options_.seconds > 0 && on && done >= options_.least) {
      on = MPI_Wtime() - start < options_.seconds;
      MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0's clock decides
    }
    return on != 0;
  }

  Observations collect(const std::vector<double>& mine, int calls) const {
    std::vector<double> slowest(mine.size());
    MPI_Reduce(mine.data(), slowest.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    Observations result{.calls = calls, .seconds = {}};
    result.seconds.resize(contenders_.size());
    for (std::size_t i = 0; i < slowest.size(); ++i)
      result.seconds[i % contenders_.size()].push_back(slowest[i] / calls);
    return result;
  }

  const Options& options_;
  const std::vector<Contender>& contenders_;
  Data& data_;
  std::vector<unsigned> order_;
  int rank_ = 0;
};

}  // namespace convene::bench
