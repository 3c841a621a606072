// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace convene::arrival {
namespace {

void require_valid(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// The weight of the newest error in an average: it averages over about ten errors for the choice of a
// predictor, over twenty for forecastability.
constexpr double choice_weight = 0.2, judgement_weight = 0.1;

void average(std::optional<double>& mean, double value, double weight) {
  mean = mean ? *mean + weight * (value - *mean) : value;
}

class LastValue : public Predictor {
 public:
  std::string_view name() const override { return "last"; }
  std::optional<double> predict() const override { return last_; }

 private:
  void add(double value) override { last_ = value; }
  std::optional<double> last_;
};

class MovingAverage : public Predictor {
 public:
  explicit MovingAverage(std::size_t window) : history_(window) {
    require_valid(window > 0, "a moving average of nothing");
  }
  std::string_view name() const override { return "moving average"; }
  std::optional<double> predict() const override {
    return history_.size() > 0 ? std::optional(history_.mean()) : std::nullopt;
  }

 private:
  void add(double value) override { history_.add(value); }
  History history_;
};

class ExponentialAverage : public Predictor {
 public:
  explicit ExponentialAverage(double weight) : weight_(weight) {
    require_valid(weight > 0 && weight <= 1,
                  "an exponential average with a weight that is not above 0 and at most 1");
  }
  std::string_view name() const override { return "exponential average"; }
  std::optional<double> predict() const override { return mean_; }

 private:
  void add(double value) override { average(mean_, value, weight_); }
  double weight_;
  std::optional<double> mean_;
};

class Seasonal : public Predictor {
 public:
  explicit Seasonal(std::size_t longest) : longest_(longest), history_(2 * longest) {
    require_valid(longest >= 2, "a season of less than two calls");
  }
  std::string_view name() const override { return "seasonal"; }
  std::optional<double> predict() const override {
    return period_ ? std::optional(history_.back(period_ - 1)) : std::nullopt;
  }
  std::vector<double> season() const override {
    std::vector<double> result;
    for (std::size_t ago = period_; ago > 0; --ago) result.push_back(history_.back(ago - 1));
    return result;
  }

 private:
  void add(double value) override {
    history_.add(value);
    find_period();
  }

  /// The period with the least mean difference between a value and the one a period before; of its multiples,
  /// which fit equally well except for noise, the shortest.
  void find_period() {
    double least = std::numeric_limits<double>::infinity();
    period_ = 0;
    for (std::size_t period = 2; period <= longest_ && 2 * period <= history_.size(); ++period) {
      double difference = 0;
      const std::size_t pairs = history_.size() - period;
      for (std::size_t i = 0; i < pairs; ++i)
        difference += std::abs(history_.back(i) - history_.back(i + period));
      difference /= static_cast<double>(pairs);
      if (difference < better * least) {
        least = difference;
        period_ = period;
      }
    }
  }

  static constexpr double better = 0.5;  // a longer period is chosen only if its difference is below this
                                         // part of a shorter one's

  std::size_t longest_;
  std::size_t period_ = 0;  // 0: not found
  History history_;
};

class Autoregressive : public Predictor {
 public:
  Autoregressive(std::size_t order, std::size_t window) : order_(order), history_(window) {
    require_valid(order > 0 && window > 2 * order,
                  "an autoregressive model with no order, or a window of less than two orders");
  }
  std::string_view name() const override { return "autoregressive"; }

  std::optional<double> predict() const override {
    if (history_.size() <= 2 * order_) return std::nullopt;
    const double mean = history_.mean();
    double next = mean;
    const std::vector<double> coefficients = levinson_durbin(covariances(mean));
    for (std::size_t i = 0; i < coefficients.size(); ++i) next += coefficients[i] * (history_.back(i) - mean);
    return next;
  }

 private:
  void add(double value) override { history_.add(value); }

  /// The biased estimate: it keeps the recursion stable.
  std::vector<double> covariances(double mean) const {
    std::vector<double> result(order_ + 1, 0);
    for (std::size_t lag = 0; lag <= order_; ++lag)
      for (std::size_t i = 0; i + lag < history_.size(); ++i)
        result[lag] += (history_.back(i) - mean) * (history_.back(i + lag) - mean) /
                       static_cast<double>(history_.size());
    return result;
  }

  std::size_t order_;
  History history_;
};

}  // namespace

void History::add(double value) {
  values_.push_back(value);
  if (values_.size() > most_) values_.pop_front();
}

double History::mean() const {
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

void Predictor::observe(double value) {
  require_valid(std::isfinite(value), "a value that is not a finite number");
  add(value);
}

std::vector<double> Predictor::season() const {
  const auto next = predict();
  return next ? std::vector<double>{*next} : std::vector<double>();
}

std::unique_ptr<Predictor> make_last_value() { return std::make_unique<LastValue>(); }
std::unique_ptr<Predictor> make_moving_average(std::size_t window) {
  return std::make_unique<MovingAverage>(window);
}
std::unique_ptr<Predictor> make_exponential_average(double weight) {
  return std::make_unique<ExponentialAverage>(weight);
}
std::unique_ptr<Predictor> make_seasonal(std::size_t longest) { return std::make_unique<Seasonal>(longest); }
std::unique_ptr<Predictor> make_autoregressive(std::size_t order, std::size_t window) {
  return std::make_unique<Autoregressive>(order, window);
}

PredictorList all_predictors() {
  PredictorList result;
  result.push_back(make_last_value());
  result.push_back(make_moving_average());
  result.push_back(make_exponential_average());
  result.push_back(make_seasonal());
  result.push_back(make_autoregressive());
  return result;
}

std::vector<double> levinson_durbin(const std::vector<double>& covariance) {
  std::vector<double> coefficients;
  double error = covariance.empty() ? 0 : covariance[0];
  const double explained = 1e-12 * error;  // an error below this is rounding
  for (std::size_t order = 1; order < covariance.size() && error > explained; ++order) {
    double reflection = covariance[order];
    for (std::size_t i = 0; i + 1 < order; ++i) reflection -= coefficients[i] * covariance[order - 1 - i];
    reflection /= error;
    const std::vector<double> before = coefficients;
    for (std::size_t i = 0; i + 1 < order; ++i) coefficients[i] -= reflection * before[order - 2 - i];
    coefficients.push_back(reflection);
    error *= 1 - reflection * reflection;
  }
  return coefficients;
}

BestPredictor::BestPredictor(PredictorList predictors) {
  for (auto& predictor : predictors) candidates_.push_back({std::move(predictor), std::nullopt});
}

void BestPredictor::observe(double value) {
  require_valid(std::isfinite(value), "a value that is not a finite number");
  if (const auto said = predict()) average(error_, std::abs(*said - value), judgement_weight);
  for (Candidate& candidate : candidates_) {
    if (const auto said = candidate.predictor->predict())
      average(candidate.error, std::abs(*said - value), choice_weight);
    candidate.predictor->observe(value);
  }
  ++observations_;
}

double BestPredictor::Candidate::rank() const {
  return error.value_or(std::numeric_limits<double>::infinity());
}

/// Ties: the first predictor wins.
const BestPredictor::Candidate* BestPredictor::best() const {
  const Candidate* result = nullptr;
  for (const Candidate& candidate : candidates_)
    if (candidate.predictor->predict() && (result == nullptr || candidate.rank() < result->rank()))
      result = &candidate;
  return result;
}

std::vector<double> BestPredictor::season() const {
  const Candidate *steady = nullptr, *seasonal = nullptr;
  std::vector<double> values;
  for (const Candidate& candidate : candidates_) {
    const std::vector<double> next = candidate.predictor->season();
    if (next.empty()) continue;
    const Candidate*& best = next.size() == 1 ? steady : seasonal;
    if (best != nullptr && candidate.rank() >= best->rank()) continue;
    best = &candidate;
    if (next.size() > 1) values = next;
  }
  const bool has_season = seasonal && (!steady || seasonal->rank() < steady->rank() / 2);
  return has_season ? values : steady ? steady->predictor->season() : std::vector<double>();
}

std::optional<double> BestPredictor::predict() const {
  const Candidate* chosen = best();
  return chosen ? chosen->predictor->predict() : std::nullopt;
}

std::string_view BestPredictor::chosen() const {
  const Candidate* chosen = best();
  return chosen ? chosen->predictor->name() : "";
}

void SiteForecast::observe(double delay) {
  predictor_.observe(delay);
  average(lateness_, std::abs(delay), judgement_weight);
}

bool SiteForecast::is_forecastable() const {
  const auto error = predictor_.error();
  return predictor_.observations() >= calls_needed && error && *error < 0.5 * *lateness_;
}

double SiteForecast::delay() const {
  return is_forecastable() ? std::max(0.0, predictor_.predict().value_or(0)) : 0;
}

void Progress::edge(double fraction, double now) {
  require_valid(fraction > 0 && fraction <= 1, "progress that is not above 0 and at most 1");
  require_valid(std::isfinite(now) && now >= start_, "progress before its phase began");
  end_ = start_ + (now - start_) / fraction;
}

}  // namespace convene::arrival
