// SPDX-License-Identifier: BSD-3-Clause
// Figures of a trial's blocks: what a rank reports of its calls, and what follows from the reduced reports.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "decide/trial.hpp"

namespace convene::decide {
namespace {

std::int64_t middle_of(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

void Trial::report_calls(TrialReport& report) const {
  for (const Block& block : blocks_)
    for (std::uint64_t call = 1; call < block_; ++call) {
      report.greatest.push_back(block.gaps[call]);
      report.sums.push_back(block.gaps[call] + block.in_calls[call]);
    }
  for (const Block& block : blocks_)
    for (std::uint64_t call = 1; call < block_; ++call) report.greatest.push_back(-block.in_calls[call]);
}

std::vector<std::int64_t> Trial::entries(const Block& block) const {
  return ideal_entries(std::span(block.gaps).subspan(1, block_ - 1));
}

std::vector<std::int64_t> Trial::entries_of_sources() const {
  std::vector<std::int64_t> all;
  if (setup_.part == Part::peer || block_ == 0) return all;
  for (const Block& block : blocks_)
    for (const std::int64_t entry : entries(block)) all.push_back(setup_.part == Part::source ? entry : 0);
  return all;
}

/// By role: when this rank has left the last call, and its ideal end; the difference is summed.
void Trial::report_ends(TrialReport& report) const {
  std::span<const std::int64_t> sources = sources_;
  for (const Block& block : blocks_) {
    const std::vector<std::int64_t> own = entries(block);
    const std::int64_t ideal = ideal_end(setup_.part, own, sources.first(own.size()));
    const std::int64_t end =
        std::accumulate(block.in_calls.begin() + 1, block.in_calls.begin() + block_, own.back());
    report.greatest.insert(report.greatest.end(), {end, ideal});
    report.sums.push_back(end - ideal);
    sources = sources.subspan(own.size());
  }
}

Trial::Figures Trial::rooted_figures(const TrialReport& reduced, Role role) const {
  const auto counted = static_cast<std::int64_t>(block_ - 1);
  const std::size_t at = header + std::size_t{2} * role;
  return {reduced.sums[role] / (counted * static_cast<std::int64_t>(setup_.procs)),
          (reduced.greatest[at] - reduced.greatest[at + 1]) / counted};
}

Trial::Figures Trial::figures(const TrialReport& reduced, Role role) const {
  if (setup_.part != Part::peer) return rooted_figures(reduced, role);
  const std::uint64_t counted = block_ - 1;
  std::vector<std::int64_t> periods, least;
  for (std::uint64_t call = role * counted; call < (role + 1) * counted; ++call) {
    periods.push_back(reduced.sums[call] / static_cast<std::int64_t>(setup_.procs) -
                      reduced.greatest[header + call]);
    least.push_back(-reduced.greatest[header + 2 * counted + call]);
  }
  return {middle_of(std::move(periods)), middle_of(std::move(least))};
}

}  // namespace convene::decide
