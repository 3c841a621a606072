// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/linear_program.hpp"

#include <algorithm>
#include <cmath>

namespace convene::model {

namespace {

constexpr double tiny = 1e-11;

/// Rows of constraints Σ a·x + slack = b with b ≥ 0, and last the row of the reduced costs, whose right side
/// is minus the sum so far.
class Tableau {
 public:
  Tableau(std::span<const double> weights, std::span<const HalfSpace> cone)
      : variables_(weights.size()), columns_(weights.size() + cone.size() + weights.size()) {
    for (const HalfSpace& space : cone) {
      std::vector<double>& row = add_row(0);
      row[space.left] += space.factor;
      row[space.right] -= space.bound;
    }
    for (std::size_t i = 0; i < variables_; ++i) add_row(1)[i] = 1;
    costs_.assign(columns_ + 1, 0);
    std::copy(weights.begin(), weights.end(), costs_.begin());
  }

  double minimize() {
    for (std::size_t column = entering(); column < columns_; column = entering()) {
      const std::size_t row = leaving(column);
      if (row == rows_.size()) break;  // impossible, since x ≤ 1
      pivot(row, column);
    }
    return -costs_.back();
  }

 private:
  std::vector<double>& add_row(double right_side) {
    const std::size_t slack = variables_ + rows_.size();
    rows_.emplace_back(columns_ + 1, 0.0);
    rows_.back()[slack] = 1;
    rows_.back().back() = right_side;
    basis_.push_back(slack);
    return rows_.back();
  }

  std::size_t entering() const {
    for (std::size_t column = 0; column < columns_; ++column)
      if (costs_[column] < -tiny) return column;
    return columns_;
  }

  std::size_t leaving(std::size_t column) const {
    std::size_t best = rows_.size();
    double least = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row][column] <= tiny) continue;
      const double ratio = rows_[row].back() / rows_[row][column];
      const bool is_better = best == rows_.size() || ratio < least - tiny ||
                             (ratio <= least + tiny && basis_[row] < basis_[best]);
      if (is_better) {
        best = row;
        least = ratio;
      }
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    std::vector<double>& chosen = rows_[row];
    const double divisor = chosen[column];
    for (double& value : chosen) value /= divisor;
    for (std::size_t other = 0; other < rows_.size(); ++other)
      if (other != row) subtract(rows_[other], chosen, column);
    subtract(costs_, chosen, column);
    basis_[row] = column;
  }

  static void subtract(std::vector<double>& row, const std::vector<double>& chosen, std::size_t column) {
    const double factor = row[column];
    if (factor == 0) return;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * chosen[i];
  }

  std::size_t variables_, columns_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> costs_;
  std::vector<std::size_t> basis_;  // by row: its basic variable
};

}  // namespace

double least_in_cone(std::span<const double> weights, std::span<const HalfSpace> cone) {
  double largest = 0;
  for (double weight : weights) largest = std::max(largest, std::abs(weight));
  if (largest == 0) return 0;
  std::vector<double> scaled(weights.begin(), weights.end());
  for (double& weight : scaled) weight /= largest;
  return Tableau(scaled, cone).minimize();
}

}  // namespace convene::model
