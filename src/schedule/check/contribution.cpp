// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/contribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "schedule/core/describe.hpp"

namespace convene::schedule {

Expressions::Expressions(Rank procs, const Reduction& reduction)
    : procs_(procs), reduction_(reduction), words_((procs + 63) / 64) {
  for (Rank rank = 0; rank < procs && reduction.segments > 0; ++rank)
    for (std::uint32_t segment = 0; segment < reduction.segments; ++segment) {
      const Content leaf = add({nothing, nothing, segment, rank, rank});
      sets_[static_cast<std::size_t>(leaf) * words_ + rank / 64] |= std::uint64_t{1} << rank % 64;
    }
}

Content Expressions::add(const Node& node) {
  nodes_.push_back(node);
  sets_.resize(sets_.size() + words_, 0);
  return static_cast<Content>(nodes_.size() - 1);
}

Content Expressions::combine(Content left, Content right, std::string& fault) {
  const auto key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const auto fail = [&](std::string why) {
    if (fault.empty()) fault = std::move(why);
    return nothing;
  };
  const auto is_content = [&](Content content) {
    return content >= 0 && static_cast<std::size_t>(content) < nodes_.size();
  };
  if (!is_content(left) || !is_content(right)) return fail("combines a place that holds no contribution");
  const Node &a = node(left), &b = node(right);
  if (a.segment != b.segment)
    return fail(fmt::format("combines {} with {}", in_words(left), in_words(right)));
  std::vector<std::uint32_t> twice;
  for (std::size_t word = 0; word < words_; ++word)
    for (std::uint64_t both = set(left)[word] & set(right)[word]; both != 0; both &= both - 1)
      twice.push_back(static_cast<std::uint32_t>(64 * word) +
                      static_cast<std::uint32_t>(std::countr_zero(both)));
  if (!twice.empty())
    return fail(fmt::format("combines {} with {}: the contribution of rank {} counts twice", in_words(left),
                            in_words(right), list(twice)));
  if (reduction_.in_order && a.last + 1 != b.first)
    return fail(
        fmt::format("combines {} with {}, which is not in rank order", in_words(left), in_words(right)));
  const Content sum = add({left, right, a.segment, std::min(a.first, b.first), std::max(a.last, b.last)});
  std::uint64_t* const ranks = sets_.data() + static_cast<std::size_t>(sum) * words_;
  for (std::size_t word = 0; word < words_; ++word) ranks[word] = set(left)[word] | set(right)[word];
  known_.emplace(key, sum);
  return sum;
}

bool Expressions::is_sum(Content content, Rank last, std::uint32_t segment) const {
  if (content < 0 || static_cast<std::size_t>(content) >= nodes_.size()) return false;
  if (node(content).segment != segment) return false;
  for (Rank rank = 0; rank < procs_; ++rank)
    if ((set(content)[rank / 64] >> rank % 64 & 1) != (rank <= last)) return false;
  return true;
}

std::uint32_t Expressions::segment(Content content) const { return node(content).segment; }

std::vector<std::uint32_t> Expressions::ranks(Content content) const {
  std::vector<std::uint32_t> result;
  for (Rank rank = node(content).first; rank <= node(content).last; ++rank)
    if (set(content)[rank / 64] >> rank % 64 & 1) result.push_back(rank);
  return result;
}

std::string Expressions::in_words(Content content) const {
  if (content < 0 || static_cast<std::size_t>(content) >= nodes_.size()) return "nothing";
  if (!is_combined(content))
    return fmt::format("rank {}'s segment {}", node(content).first, segment(content));
  return fmt::format("segment {} of ranks {}", segment(content), list(ranks(content)));
}

std::string Expressions::label(Content content) const {
  std::string text = list(ranks(content));
  if (is_combined(content)) text = "(" + text + ")";
  return reduction_.segments > 1 ? fmt::format("{}.{}", text, segment(content)) : text;
}

}  // namespace convene::schedule
