// SPDX-License-Identifier: BSD-3-Clause
#include "collective/parts/slicing.hpp"

#include <algorithm>

namespace convene::collective {

std::vector<Rank> radices(Rank procs, std::span<const Rank> wanted) {
  std::vector<Rank> result;
  while (procs > 1) {
    const Rank radix = wanted[std::min(result.size(), wanted.size() - 1)];
    Rank factor = std::min(radix, procs);
    while (factor > 1 && procs % factor != 0) --factor;
    if (factor == 1)  // all prime factors are larger than the radix
      for (factor = radix + 1; procs % factor != 0;) ++factor;
    result.push_back(factor);
    procs /= factor;
  }
  return result;
}

Slicing::Slicing(const Call& call, Builder& builder, const Folding& folding, const std::vector<Rank>& radices)
    : call_(call), builder_(builder), folding_(folding), own_(folding.core(call.rank)) {
  Rank stride = 1;
  Place first = 0;
  rounds_ = folding.pairs() > 0 ? 1 : 0;
  for (const Rank radix : radices) {
    const Rank digit = own_ / stride % radix;
    const std::uint32_t piece = folding.cores / stride / radix;
    levels_.push_back({radix, stride, digit, first, piece, rounds_});
    first += digit * piece;
    stride *= radix;
    rounds_ += radix - 1;
  }
}

std::uint32_t Slicing::above() const {
  std::uint32_t count =
      folding_.has_partner(call_.rank) && folding_.side_of_partner(call_.rank) == OperandOrder::above;
  for (const Round& round : levels_) count += round.radix - 1 - round.digit;
  return count;
}

Rank Slicing::member(const Round& round, Rank digit) const {
  return folding_.rank(own_ + (digit - round.digit) * round.stride);
}

std::vector<Place> Slicing::piece(const Round& round, Rank digit) const {
  return run_of_places(round.first + digit * round.piece, round.piece);
}

void Slicing::reduce_scatter(Partial& partial) {
  for (const Round& round : levels_) {
    // The label of a message is the distance from its source up to its target, modulo the radix. (A radix is
    // at least 2.)
    const auto label = [&](Rank from, Rank to) {
      // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
      builder_.round(round.first_round + (to + round.radix - from - 1) % round.radix);
    };
    for (Rank step = 1; step < round.radix; ++step) {
      const Rank to = (round.digit + step) % round.radix;
      label(round.digit, to);
      partial.send(member(round, to), piece(round, to));
    }
    const std::vector<Place> kept = piece(round, round.digit);
    for (Rank from = round.digit + 1; from < round.radix; ++from) {  // upwards and downwards from the own
                                                                     // digit, so that runs of ranks grow
      label(from, round.digit);
      partial.take(member(round, from), kept, OperandOrder::above);
    }
    for (Rank from = round.digit; from-- > 0;) {
      label(from, round.digit);
      partial.take(member(round, from), kept, OperandOrder::below);
    }
  }
}

void Slicing::gather(Partial& partial, Rank root) {
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const Round& round = levels_[level];
    const Rank wanted = root / round.stride % round.radix;
    builder_.round(rounds_ + static_cast<std::uint32_t>(levels_.size() - 1 - level));
    if (round.digit != wanted) return partial.send(member(round, wanted), piece(round, round.digit));
    for (Rank from = 0; from < round.radix; ++from)
      if (from != round.digit) partial.replace(member(round, from), piece(round, from));
  }
}

void Slicing::allgather(Partial& partial) {
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const Round& round = levels_[level];
    builder_.round(rounds_ + static_cast<std::uint32_t>(levels_.size() - 1 - level));
    for (Rank to = 0; to < round.radix; ++to)
      if (to != round.digit) partial.send(member(round, to), piece(round, round.digit));
    for (Rank from = 0; from < round.radix; ++from)
      if (from != round.digit) partial.replace(member(round, from), piece(round, from));
  }
}

}  // namespace convene::collective
