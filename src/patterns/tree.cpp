// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tree.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace convene::patterns {
namespace {

/// Calls visit(part) for each part of a run and returns its beginning.
template <class Visit>
Run divide(const Split& split, const Run& run, std::vector<std::uint32_t>& parts, Visit&& visit) {
  parts.clear();
  split(run, parts);
  const std::uint32_t kept = run.size - std::accumulate(parts.begin(), parts.end(), 0u);
  std::uint32_t first = run.first + kept;
  for (std::size_t i = 0; i < parts.size(); first += parts[i++]) visit(Run{first, parts[i]});
  return {run.first, kept};
}

/// Appends `count` parts that add up to `size` and differ by at most one, the larger ones first.
void append_even(std::uint32_t size, std::uint32_t count, std::vector<std::uint32_t>& parts) {
  count = std::min(count, size);
  for (std::uint32_t i = 0; i < count; ++i) parts.push_back(size / count + (i < size % count));
}

/// The number of rounds of a tree. Iterative: a chain is as deep as it is long.
class Rounds {
 public:
  explicit Rounds(const Split& split) : split_(split) {}

  std::uint32_t of_whole(std::uint32_t size) {
    open_.push_back({0, size});
    while (true) {
      const Run run = open_.back();
      const bool is_root = run.first == 0;  // a split may treat the root's run differently
      const std::size_t opened = open_.size();
      const auto known = is_root ? known_.end() : known_.find(run.size);
      const std::uint32_t most = known == known_.end() ? of(run) : known->second;
      if (open_.size() > opened) continue;  // unknown parts are computed first
      if (is_root) return most;
      known_[run.size] = most;
      open_.pop_back();
    }
  }

 private:
  /// The rounds of a run, if all its parts are known; else opens the unknown ones.
  std::uint32_t of(Run run) {
    std::uint32_t most = 0;
    for (std::uint32_t round = 1; run.size > 1; ++round)
      run = divide(split_, run, parts_, [&](const Run& part) {
        if (const auto known = known_.find(part.size); known != known_.end())
          most = std::max(most, round + known->second);
        else
          open_.push_back(part);
      });
    return most;
  }

  const Split& split_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_{{1, 0}};  // by size
  std::vector<std::uint32_t> parts_;
  std::vector<Run> open_;
};

}  // namespace

TreeNode tree_node(const Split& split, std::uint32_t rank, std::uint32_t size) {
  TreeNode node;
  node.subtree = size;
  std::vector<std::uint32_t> parts;
  Run run{0, size};
  for (std::uint32_t round = 0; run.size > 1; ++round) {
    Run part_of_rank{};
    const Run kept = divide(split, run, parts, [&](const Run& part) {
      if (run.first == rank) node.children.push_back({part.first, part.size, round});
      if (part.first <= rank && rank < part.first + part.size) part_of_rank = part;
    });
    const bool is_sent = part_of_rank.first != 0;
    if (is_sent) {
      node.parent = run.first;
      node.subtree = part_of_rank.size;
      node.round = round;
    }
    run = is_sent ? part_of_rank : kept;
  }
  return node;
}

std::uint32_t tree_rounds(const Split& split, std::uint32_t size) { return Rounds(split).of_whole(size); }

Split knomial_split(std::uint32_t fanout) {
  return [fanout](const Run& run, std::vector<std::uint32_t>& parts) {
    std::uint64_t power = 1;
    while (power * (fanout + 1) < run.size) power *= fanout + 1;
    for (auto done = static_cast<std::uint32_t>(power); done < run.size; done += parts.back())
      parts.push_back(std::min(static_cast<std::uint32_t>(power), run.size - done));
  };
}

Split even_split(std::uint32_t fanout) {
  return [fanout](const Run& run, std::vector<std::uint32_t>& parts) {
    append_even(run.size, fanout + 1, parts);
    parts.erase(parts.begin());  // the beginning
  };
}

Split kary_split(std::uint32_t fanout) {
  return [fanout](const Run& run, std::vector<std::uint32_t>& parts) {
    append_even(run.size - 1, fanout, parts);
  };
}

Split chain_split(std::uint32_t chains) {
  return [chains](const Run& run, std::vector<std::uint32_t>& parts) {
    append_even(run.size - 1, run.first == 0 ? chains : 1, parts);
  };
}

TreeNode binomial_node(std::uint32_t rank, std::uint32_t size) {
  return tree_node(knomial_split(1), rank, size);
}

TreeNode flat_node(std::uint32_t rank, std::uint32_t size) {
  TreeNode node;
  if (rank > 0) return node;
  node.subtree = size;
  for (std::uint32_t child = 1; child < size; ++child) node.children.push_back({child, 1, 0});
  return node;
}

}  // namespace convene::patterns
