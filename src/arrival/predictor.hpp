// SPDX-License-Identifier: BSD-3-Clause
// Predictors: from the values of a call site so far (how late a rank was at each call, in any one unit) the next one.
//
// Source: Proficz 2021, section 3 (extrapolation, averages over iterations); Marendic et al. 2016,
// section 6: a moving average of 5), Durbin 1960 for the autoregressive one.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::arrival {

/// The last so many values, the newest last.
class History {
 public:
  explicit History(std::size_t most) : most_(most) {}
  void add(double value);
  std::size_t size() const { return values_.size(); }
  /// The value `ago` steps back; 0 is the newest.
  double back(std::size_t ago) const { return values_[values_.size() - 1 - ago]; }
  double mean() const;

 private:
  std::size_t most_;
  std::deque<double> values_;
};

/// One way to foretell the next value of a series.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::string_view name() const = 0;
  /// A value that has come. Throws std::invalid_argument where it is not a finite number, and then forgets it.
  void observe(double value);
  /// The next value; nothing while too little is known.
  virtual std::optional<double> predict() const = 0;
  /// The next values, after which they begin again: one where all to come are taken to be alike, none while too little is
  /// known.
  virtual std::vector<double> season() const;

 protected:
  virtual void add(double value) = 0;
};

using PredictorList = std::vector<std::unique_ptr<Predictor>>;

/// The value before.
std::unique_ptr<Predictor> make_last_value();
/// The mean of the last `window` values (at least 1), or of as many as there are.
std::unique_ptr<Predictor> make_moving_average(std::size_t window = 5);
/// s ← s + weight·(x − s), 0 < weight ≤ 1.
std::unique_ptr<Predictor> make_exponential_average(double weight = 0.25);
/// The value one period ago, of the period from 2 to `longest` under which the values so far repeat best. Needs two
/// periods.
std::unique_ptr<Predictor> make_seasonal(std::size_t longest = 32);
/// AR(order): mean and order coefficients fitted to the last `window` values by the Levinson-Durbin recursion.
std::unique_ptr<Predictor> make_autoregressive(std::size_t order = 3, std::size_t window = 64);

/// All of the above, with their defaults.
PredictorList all_predictors();

/// Coefficients c of x(t) = c[0]·x(t−1) + c[1]·x(t−2) + … that fit the autocovariances best, by the Levinson-Durbin
/// recursion. `covariance[k]` is that of lag k. Fewer than asked for where the series is already explained.
std::vector<double> levinson_durbin(const std::vector<double>& covariance);

/// Foretells the next value by whichever of the predictors had the smallest error lately, and keeps account of how well
/// that went.
class BestPredictor {
 public:
  explicit BestPredictor(PredictorList predictors = all_predictors());

  /// A value that has come. Throws as Predictor::observe.
  void observe(double value);
  std::optional<double> predict() const;
  /// The next values, after which they begin again. Values are taken for a season only where that was right to within
  /// less than half of the error of whoever takes them to be alike.
  std::vector<double> season() const;

  /// The predictor whose word counts now; empty while none can say anything.
  std::string_view chosen() const;
  /// The exponential average of the absolute errors of what predict() said; nothing before the first.
  std::optional<double> error() const { return error_; }
  std::size_t observations() const { return observations_; }

 private:
  struct Candidate {
    std::unique_ptr<Predictor> predictor;
    std::optional<double> error;

    /// Those that were never put to the test come after all others.
    double rank() const;
  };
  const Candidate* best() const;

  std::vector<Candidate> candidates_;
  std::optional<double> error_;
  std::size_t observations_ = 0;
};

/// What one rank expects of itself at one call site: how late it will be after the earliest. A site that cannot be
/// forecast is treated as balanced: then the answer is 0.
class SiteForecast {
 public:
  /// How late the rank was at a call, 0 for the earliest. Throws as Predictor::observe.
  void observe(double delay);

  /// Whether enough calls were seen, and the error of what was foretold is less than half of what foretelling 0 would
  /// have cost.
  bool is_forecastable() const;
  /// The next delay, not below 0; 0 where the site is not forecastable.
  double delay() const;
  const BestPredictor& predictor() const { return predictor_; }

  static constexpr std::size_t calls_needed = 4;

 private:
  BestPredictor predictor_;
  std::optional<double> lateness_;  // exponential average of the absolute delays
};

/// Extrapolation from declared progress: a phase that has done the part `fraction` of its work at `now` ends when it goes
/// on like that. Source: Proficz 2021, Listing 1.
class Progress {
 public:
  explicit Progress(double start) : start_(start) {}
  /// 0 < fraction ≤ 1, `now` not before the start; throws std::invalid_argument otherwise. The newest edge counts.
  void edge(double fraction, double now);
  /// When the phase ends; nothing before the first edge.
  std::optional<double> end() const { return end_; }

 private:
  double start_;
  std::optional<double> end_;
};

}  // namespace convene::arrival
