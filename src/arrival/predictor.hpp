// SPDX-License-Identifier: BSD-3-Clause
// Predictors: the next value of a series, such as the delays of a rank at a call site, in any one unit.
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

/// The recent values of a series, the newest last.
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

/// Base class of predictors of a series.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::string_view name() const = 0;
  /// Adds a value. Throws std::invalid_argument if it is not finite, and ignores it.
  void observe(double value);
  /// The next value; nothing if there are too few values.
  virtual std::optional<double> predict() const = 0;
  /// The next values, which then repeat: one if the predictor expects a constant, none if there are too few
  /// values.
  virtual std::vector<double> season() const;

 protected:
  virtual void add(double value) = 0;
};

using PredictorList = std::vector<std::unique_ptr<Predictor>>;

/// The previous value.
std::unique_ptr<Predictor> make_last_value();
/// The mean of the last `window` values (at least 1), or of all if there are fewer.
std::unique_ptr<Predictor> make_moving_average(std::size_t window = 5);
/// s ← s + weight·(x − s), 0 < weight ≤ 1.
std::unique_ptr<Predictor> make_exponential_average(double weight = 0.25);
/// The value one period ago. The period, from 2 to `longest` values, is the one with the least mean
/// difference between values one period apart. A longer period is chosen only if its difference is less than
/// half of a shorter one's. A period is considered once two full periods have been observed.
std::unique_ptr<Predictor> make_seasonal(std::size_t longest = 32);
/// AR(order): mean and order coefficients fitted to the last `window` values by the Levinson-Durbin
/// recursion.
std::unique_ptr<Predictor> make_autoregressive(std::size_t order = 3, std::size_t window = 64);

/// All of the above, with their defaults.
PredictorList all_predictors();

/// Coefficients c of x(t) = c[0]·x(t−1) + c[1]·x(t−2) + … that fit the autocovariances best, by the
/// Levinson-Durbin recursion. `covariance[k]` is that of lag k. Fewer coefficients if these explain the
/// series.
std::vector<double> levinson_durbin(const std::vector<double>& covariance);

/// Predicts the next value with the predictor that had the smallest recent error, and records the errors.
class BestPredictor {
 public:
  explicit BestPredictor(PredictorList predictors = all_predictors());

  /// Adds a value. Throws as Predictor::observe.
  void observe(double value);
  std::optional<double> predict() const;
  /// The next values, which then repeat. A period is used only if its error was less than half of that of the
  /// predictors of a constant.
  std::vector<double> season() const;

  /// The name of the current predictor; empty if none can predict.
  std::string_view chosen() const;
  /// The exponential average of the absolute errors of predict(); nothing before the first.
  std::optional<double> error() const { return error_; }
  std::size_t observations() const { return observations_; }

 private:
  struct Candidate {
    std::unique_ptr<Predictor> predictor;
    std::optional<double> error;

    /// Predictors without a tested forecast rank last.
    double rank() const;
  };
  const Candidate* best() const;

  std::vector<Candidate> candidates_;
  std::optional<double> error_;
  std::size_t observations_ = 0;
};

/// The forecast of a rank's delay after the earliest rank at one call site. A site that cannot be forecast is
/// treated as balanced: the forecast is 0.
class SiteForecast {
 public:
  /// Adds the rank's delay at a call, 0 for the earliest. Throws as Predictor::observe.
  void observe(double delay);

  /// There were enough calls, and the error of the forecasts is less than half of that of the forecast 0.
  bool is_forecastable() const;
  /// The next delay, at least 0; 0 if the site is not forecastable.
  double delay() const;
  const BestPredictor& predictor() const { return predictor_; }

  static constexpr std::size_t calls_needed = 4;

 private:
  BestPredictor predictor_;
  std::optional<double> lateness_;  // exponential average of the absolute delays
};

/// Linear extrapolation from declared progress: the phase has done the part `fraction` of its work at `now`.
/// Source: Proficz 2021, Listing 1.
class Progress {
 public:
  explicit Progress(double start) : start_(start) {}
  /// 0 < fraction ≤ 1, `now` not before the start; throws std::invalid_argument otherwise. The newest edge
  /// counts.
  void edge(double fraction, double now);
  /// The forecast end of the phase; nothing before the first edge.
  std::optional<double> end() const { return end_; }

 private:
  double start_;
  std::optional<double> end_;
};

}  // namespace convene::arrival
